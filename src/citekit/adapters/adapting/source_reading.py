"""Reads the text of a source in units: lines, pages or chapters."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from citekit.adapters.adapting.foreign_files import ForeignFiles, check_size
from citekit.adapters.adapting.source_text import ChapterText, LineText, PageText, SourceText
from citekit.domain.errors import RequestRefused, SourceUnreadable
from citekit.domain.formats import BOOKS
from citekit.domain.modality import Modality
from citekit.domain.ports.reader import Reader
from citekit.domain.source import Source

_LINE_END = re.compile(r"\r\n|\n|\r")


def read_source(source: Source, reader: Reader, files: ForeignFiles) -> SourceText:
    """The text of `source`; `reader` reads books, `files` PDFs.

    Raises `RequestRefused` for one that has none or too much, and what reading it raises.
    """
    if source.format.modality is Modality.TEXT:
        return _text_file(source)
    if source.format.name == "pdf":
        return _pdf(files.pages(source.path))
    if source.format.name in BOOKS:
        chapters = [chapter.text for chapter in reader.read(source.path).chapters]
        check_size(source.path, sum(map(len, chapters)))
        text, starts = _squeezed("".join(each.split()) for each in chapters)
        return ChapterText(text, starts, chapters)
    raise RequestRefused(
        f"{source.path} is {source.format.name}: passages are found only in texts, PDF and EPUB. Leave --source out."
    )


def told_of(source: Source | None, text: SourceText | None) -> dict[str, Any]:
    """What the metadata of a map say of a source whose text was read."""
    if source is None or text is None:
        return {}
    return {
        "source_hash": source.digest.hex,
        "source_size": source.size,
        "format": source.format.name,
        **text.facts,
    }


def _text_file(source: Source) -> LineText:
    from citekit.adapters.drivers.text_file import open_text

    check_size(source.path, source.size)
    opened = open_text(source.path)
    try:
        raw = source.path.read_bytes().decode(opened.encoding, "replace")
    except OSError as error:
        raise SourceUnreadable(f"{source.path} cannot be read: {error.strerror or error}.") from error
    raw_starts = array("q", [0, *(found.end() for found in _LINE_END.finditer(raw))])
    if len(raw_starts) > 1 and raw_starts[-1] == len(raw):
        raw_starts.pop()
    ends = [*raw_starts[1:], len(raw)]
    lines = (raw[start:end] for start, end in zip(raw_starts, ends, strict=True))
    text, starts = _squeezed("".join(line.removeprefix("\ufeff").split()) for line in lines)
    return LineText(text, starts, raw, raw_starts)


def _pdf(pages: Sequence[tuple[str, str]]) -> PageText:
    labels: dict[str, list[int]] = {}
    for number, (label, _) in enumerate(pages, 1):
        labels.setdefault(label, []).append(number)
    text, starts = _squeezed(text for _, text in pages)
    return PageText(text, starts, labels)


def _squeezed(units: Iterable[str]) -> tuple[str, array[int]]:
    """All units joined, and where each begins."""
    starts, size, parts = array("q"), 0, []
    for unit in units:
        starts.append(size)
        parts.append(unit)
        size += len(unit)
    return "".join(parts), starts
