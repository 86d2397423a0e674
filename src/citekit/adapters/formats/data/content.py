"""Reads a data file into memory as UTF-8, and maps byte offsets to lines."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from attrs import evolve, field, frozen

from citekit.adapters.formats.shared.outline import Outline, Outliner
from citekit.adapters.formats.shared.text_file import TextFile, open_text
from citekit.adapters.system.files import open_for_reading, unreadable
from citekit.domain.line_index import index_lines
from citekit.domain.locations import Lines
from citekit.domain.progress import Progress
from citekit.domain.source import Source

SIZE_LIMIT = 128 * 1024 * 1024
"""The largest file, in bytes, that is parsed. A larger file is outlined as plain text."""


@frozen
class Content:
    """A data file in memory as UTF-8.

    `data` has no byte-order mark. `starts[i]` is the offset where line i + 1 begins.
    """

    text: TextFile
    data: bytes = field(repr=False)
    starts: array[int] = field(repr=False)

    def line(self, offset: int) -> int:
        """Return the 1-based number of the line that contains the byte at `offset`."""
        return max(1, bisect_right(self.starts, offset))

    def lines(self, start: int, end: int) -> Lines:
        """Return the lines that contain the bytes [`start`, `end`). An empty range gives the line of byte `start`."""
        return Lines(self.line(start), self.line(max(start, end - 1)))

    def start(self, line: int) -> int:
        """Return the byte offset where the 1-based `line` begins. After the last line, return the length of `data`."""
        return self.starts[line - 1] if line <= len(self.starts) else len(self.data)


def read_content(text: TextFile) -> Content | None:
    """Return a text file in memory, or None if it has more than `SIZE_LIMIT` bytes or no lines.

    Raise `SourceUnreadable` if it cannot be read.
    """
    if not text.line_count or text.index.size > SIZE_LIMIT:
        return None
    try:
        with open_for_reading(text.path) as stream:
            raw = stream.read(text.index.size)
    except OSError as error:
        raise unreadable(error, text.path) from error
    if text.encoding == "utf-8" and not text.mark and len(raw) == text.index.size:
        return Content(text, raw, text.index.starts)
    data = raw[text.mark :] if text.encoding == "utf-8" else _encoded(raw[text.mark :].decode(text.encoding, "replace"))
    starts = index_lines([data]).starts
    if len(starts) != text.line_count:
        data = b"\n".join(map(_encoded, text.lines(limit=SIZE_LIMIT)))
        starts = index_lines([data]).starts
    return Content(text, data, starts)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


@frozen
class DataFile:
    """An opened data file. `content` is None if the file is empty or too large to be parsed."""

    text: TextFile
    content: Content | None

    def by_lines(self, fallback: Outliner, source: Source, progress: Progress) -> Outline:
        """Outline the file with `fallback`. If it is too large to be parsed, add a note that says so."""
        outline = fallback.outline(source, progress)
        note = f"The file is larger than {SIZE_LIMIT >> 20} MB, so it is outlined as plain text."
        if self.content is not None or not self.text.line_count or note in outline.notes:
            return outline
        return evolve(outline, notes=(*outline.notes, note))


def open_data_file(source: Source, progress: Progress) -> DataFile:
    """Open the file of `source`, and read it into memory unless it is too large. Raise the errors of `open_text`."""
    text = open_text(source.path, progress)
    return DataFile(text, read_content(text))
