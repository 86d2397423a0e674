"""Reads all lines of a text file, with the same line numbers as the line extractor uses."""

from __future__ import annotations

from pathlib import Path

from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.adapters.system.files import open_for_reading, unreadable
from citekit.domain.errors import SourceUnsupported
from citekit.domain.progress import Progress, silent

SIZE_LIMIT = 256 * 1024 * 1024
"""The maximum size in bytes of a text that is read as a whole."""


def read_lines(path: Path, progress: Progress = silent) -> list[str]:
    """Return all lines without their line endings.

    Invalid bytes become U+FFFD. Raise `SourceUnsupported` if the file is larger than `SIZE_LIMIT`, or the errors of
    `open_text`.
    """
    text = open_text(path, progress)
    if text.index.size > SIZE_LIMIT:
        raise SourceUnsupported(
            f"{path.name} has more than {SIZE_LIMIT >> 20} MB of text; split it into smaller files."
        )
    lines = _decoded(text).split("\n")
    if len(lines) == text.line_count + 1 and not lines[-1]:
        lines.pop()
    if len(lines) != text.line_count:
        return list(text.lines(progress, SIZE_LIMIT))
    return lines


def head_lines(path: Path, count: int, progress: Progress = silent) -> list[str]:
    """Return at most the first `count` lines of a file, each truncated to `LINE_LIMIT` bytes.

    Raise the errors of `open_text`.
    """
    text = open_text(path, progress)
    return next(text.passages([(1, min(count, text.line_count))]), [])


def _decoded(text: TextFile) -> str:
    """Return the whole text, with line feeds as line endings."""
    try:
        with open_for_reading(text.path) as stream:
            stream.seek(text.mark)
            data = stream.read(text.index.size)
    except OSError as error:
        raise unreadable(error, text.path) from error
    whole = data.decode(text.encoding, "replace")
    return whole.replace("\r\n", "\n").replace("\r", "\n") if "\r" in whole else whole
