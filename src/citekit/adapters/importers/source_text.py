"""Finds text units in the text of a source, which is divided into lines, pages, or chapters.

The comparison ignores whitespace, because programs that split texts into chunks rarely preserve it. Everything else
must match exactly.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from citekit.adapters.importers.foreign_files import ForeignFiles, check_size
from citekit.domain.errors import RequestRefused, SourceUnreadable
from citekit.domain.formats import BOOKS
from citekit.domain.locations import Chapter, Lines, Location, Pages
from citekit.domain.modality import Modality
from citekit.domain.ports.reader import Reader
from citekit.domain.source import Source


@frozen
class PassageMatch:
    """The location of a match, and its offset in the text without whitespace."""

    location: Location
    offset: int


@frozen
class SourceText:
    """The text of a source without whitespace; `starts[i]` is the offset of unit i + 1 (a line, a page, a chapter)."""

    text: str = field(repr=False)
    starts: Sequence[int] = field(repr=False)

    def find(self, passage: str, after: int = 0) -> PassageMatch | None:
        """The first match of `passage` at or after the offset `after`, else the first match at all, else None."""
        wanted = self.compact(passage)
        if not wanted:
            return None
        offset = self.text.find(wanted, after)
        if offset < 0 and after:
            offset = self.text.find(wanted)
        return None if offset < 0 else PassageMatch(self.locate(offset, offset + len(wanted)), offset)

    def compact(self, text: str) -> str:
        """`text` in the form in which it is compared."""
        return "".join(text.split())

    def locate(self, start: int, end: int) -> Location:
        """The location of the characters `start` to `end` (excluded) of the text without whitespace."""
        raise NotImplementedError

    @property
    def whole_location(self) -> Location:
        """The location of the whole source."""
        raise NotImplementedError

    @property
    def extent_metadata(self) -> dict[str, Any]:
        """The extent of the source, under its names in the metadata of maps."""
        raise NotImplementedError

    def at_characters(self, start: int, end: int, passage: str) -> Location | None:  # noqa: ARG002
        """The location of the characters `start` to `end` of the unchanged source, if they are `passage`."""
        return None

    def on_page(self, label: str, passage: str) -> tuple[Location, bool] | None:  # noqa: ARG002
        """The page with that label, and whether `passage` is on it; None if no page, or several, have the label."""
        return None

    def blank(self, first: int, last: int) -> bool:
        """Whether the units `first` to `last` hold only whitespace."""
        end = self.starts[last] if last < len(self.starts) else len(self.text)
        return self.starts[first - 1] == end

    def _unit(self, offset: int) -> int:
        return bisect_right(self.starts, offset)


@frozen
class LineText(SourceText):
    """A text file; `raw` is its unchanged text, `raw_starts` the offsets of its lines in it."""

    raw: str = field(repr=False)
    raw_starts: Sequence[int] = field(repr=False)

    def locate(self, start: int, end: int) -> Lines:
        """Whole lines."""
        return Lines(self._unit(start), self._unit(end - 1))

    @property
    def whole_location(self) -> Lines:
        """All lines."""
        return Lines(1, len(self.starts))

    @property
    def extent_metadata(self) -> dict[str, Any]:
        """`line_count`."""
        return {"line_count": len(self.starts)}

    def at_characters(self, start: int, end: int, passage: str) -> Lines | None:
        """The lines of those characters, without whitespace at both ends."""
        there = self.raw[max(start, 0) : max(end, 0)]
        if not there.strip() or self.compact(there) != self.compact(passage or there):
            return None
        first = start + len(there) - len(there.lstrip())
        last = start + len(there.rstrip()) - 1
        return Lines(bisect_right(self.raw_starts, first), bisect_right(self.raw_starts, last))


@frozen
class PageText(SourceText):
    """A PDF; `labels` maps printed page numbers to pages."""

    labels: Mapping[str, Sequence[int]] = field(repr=False)

    def compact(self, text: str) -> str:
        """The text without whitespace, in the Unicode form NFKC, which splits ligatures."""
        return "".join(unicodedata.normalize("NFKC", text).split())

    def locate(self, start: int, end: int) -> Pages:
        """All pages from the first to the last."""
        return Pages.span(self._unit(start), self._unit(end - 1))

    @property
    def whole_location(self) -> Pages:
        """All pages."""
        return Pages.span(1, len(self.starts))

    @property
    def extent_metadata(self) -> dict[str, Any]:
        """`page_count`."""
        return {"page_count": len(self.starts)}

    def on_page(self, label: str, passage: str) -> tuple[Location, bool] | None:
        """The only page with that label."""
        pages = self.labels.get(label, ())
        if len(pages) != 1:
            return None
        page = pages[0]
        end = self.starts[page] if page < len(self.starts) else len(self.text)
        wanted = self.compact(passage)
        return Pages((page,)), bool(wanted) and self.text.find(wanted, self.starts[page - 1], end) >= 0


@frozen
class ChapterText(SourceText):
    """A book; `chapters` are the unchanged texts of its chapters."""

    chapters: Sequence[str] = field(repr=False)

    def locate(self, start: int, end: int) -> Chapter:
        """Characters of one chapter, or whole chapters."""
        first, last = self._unit(start), self._unit(end - 1)
        if first != last:
            return Chapter(first, last=last)
        begin = self.starts[first - 1]
        return Chapter(first, _offsets_with_whitespace(self.chapters[first - 1], start - begin, end - begin))

    @property
    def whole_location(self) -> Chapter:
        """All chapters."""
        return Chapter(1, last=len(self.starts))

    @property
    def extent_metadata(self) -> dict[str, Any]:
        """`chapter_lengths`, in characters."""
        return {"chapter_lengths": [len(chapter) for chapter in self.chapters]}


def _offsets_with_whitespace(text: str, start: int, end: int) -> tuple[int, int]:
    """The offsets in `text` of the characters `start` to `end`, which are counted without whitespace."""
    seen = 0
    first = 0
    for position, character in enumerate(text):
        if character.isspace():
            continue
        if seen == start:
            first = position
        seen += 1
        if seen == end:
            return first, position + 1
    return first, len(text)


_LINE_END = re.compile(r"\r\n|\n|\r")


def read_source(source: Source, reader: Reader, files: ForeignFiles) -> SourceText:
    """The text of `source`; `reader` reads books, `files` reads PDFs.

    Raises `RequestRefused` for a source with no text or too much, and what reading it raises.
    """
    if source.format.modality is Modality.TEXT:
        return _text_file(source)
    if source.format.name == "pdf":
        return _pdf(files.pages(source.path))
    if source.format.name in BOOKS:
        chapters = [chapter.text for chapter in reader.read(source.path).chapters]
        check_size(source.path, sum(map(len, chapters)))
        text, starts = _join_units("".join(each.split()) for each in chapters)
        return ChapterText(text, starts, chapters)
    raise RequestRefused(
        f"{source.path} is {source.format.name}: passages can be found only in text files, PDF, and EPUB. Omit --source."
    )


def source_metadata(source: Source | None, text: SourceText | None) -> dict[str, Any]:
    """The metadata of a map about a source whose text was read."""
    if source is None or text is None:
        return {}
    return {
        "source_hash": source.digest.hex,
        "source_size": source.size,
        "format": source.format.name,
        **text.extent_metadata,
    }


def _text_file(source: Source) -> LineText:
    from citekit.adapters.formats.shared.text_file import open_text

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
    text, starts = _join_units("".join(line.removeprefix("\ufeff").split()) for line in lines)
    return LineText(text, starts, raw, raw_starts)


def _pdf(pages: Sequence[tuple[str, str]]) -> PageText:
    labels: dict[str, list[int]] = {}
    for number, (label, _) in enumerate(pages, 1):
        labels.setdefault(label, []).append(number)
    text, starts = _join_units(text for _, text in pages)
    return PageText(text, starts, labels)


def _join_units(units: Iterable[str]) -> tuple[str, array[int]]:
    """All units joined, and the offset of each."""
    starts, size, parts = array("q"), 0, []
    for unit in units:
        starts.append(size)
        parts.append(unit)
        size += len(unit)
    return "".join(parts), starts
