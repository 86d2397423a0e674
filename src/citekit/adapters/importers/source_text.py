"""Finds the text units of other programs in the text of a source, and returns their lines, pages, or chapters.

The comparison ignores whitespace, because programs that split texts into chunks rarely preserve it, and compares the
texts of PDFs in Unicode normalization form NFKC.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

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
    """The location of a match in the source, and its offset in the text without whitespace."""

    location: Location
    offset: int


@frozen
class SourceText:
    """The text of a source without whitespace, and the offsets of its units in it: lines, pages, or chapters."""

    text: str = field(repr=False)
    starts: Sequence[int] = field(repr=False)

    def find(self, passage: str, after: int = 0) -> PassageMatch | None:
        """Return the first match of `passage` at or after the offset `after`, or else the first match anywhere, or
        None.
        """
        wanted = self.compact(passage)
        if not wanted:
            return None
        offset = self.text.find(wanted, after)
        if offset < 0 and after:
            offset = self.text.find(wanted)
        return None if offset < 0 else PassageMatch(self.locate(offset, offset + len(wanted)), offset)

    def compact(self, text: str) -> str:
        """Return `text` in the form in which texts are compared: without whitespace."""
        return "".join(text.split())

    def locate(self, start: int, end: int) -> Location:
        """Return the location of the characters `start` to `end` (excluded) of the text without whitespace."""
        raise NotImplementedError

    @property
    def whole_location(self) -> Location:
        """The location of the whole source."""
        raise NotImplementedError

    @property
    def extent_metadata(self) -> dict[str, object]:
        """The extent of the source, as metadata for its map."""
        raise NotImplementedError

    def at_characters(self, start: int, end: int, passage: str) -> Location | None:  # noqa: ARG002
        """Return the location of the characters `start` to `end` of the unchanged source if they match `passage`, else
        None.

        Return None if character offsets are not supported for this kind of source.
        """
        return None

    def on_page(self, label: str, passage: str) -> tuple[Location, bool] | None:  # noqa: ARG002
        """Return the page with the printed number `label`, and whether `passage` is on it.

        Return None if there is not exactly one such page, or if the source has no pages.
        """
        return None

    def blank(self, first: int, last: int) -> bool:
        """Return whether the units `first` to `last` (1-based) contain only whitespace."""
        end = self.starts[last] if last < len(self.starts) else len(self.text)
        return self.starts[first - 1] == end

    def _unit(self, offset: int) -> int:
        return bisect_right(self.starts, offset)


@frozen
class LineText(SourceText):
    """The text of a text file, unchanged (`raw`) and without whitespace, with lines as units."""

    raw: str = field(repr=False)
    raw_starts: Sequence[int] = field(repr=False)

    def locate(self, start: int, end: int) -> Lines:
        """Return the lines of the characters `start` to `end` (excluded) of the text without whitespace."""
        return Lines(self._unit(start), self._unit(end - 1))

    @property
    def whole_location(self) -> Lines:
        """All lines of the file."""
        return Lines(1, len(self.starts))

    @property
    def extent_metadata(self) -> dict[str, object]:
        """The number of lines, as `line_count`."""
        return {"line_count": len(self.starts)}

    def at_characters(self, start: int, end: int, passage: str) -> Lines | None:
        """See `SourceText.at_characters`. Whitespace at both ends is ignored, and an empty `passage` matches.

        If the characters are only whitespace, the result is None.
        """
        there = self.raw[max(start, 0) : max(end, 0)]
        if not there.strip() or self.compact(there) != self.compact(passage or there):
            return None
        first = start + len(there) - len(there.lstrip())
        last = start + len(there.rstrip()) - 1
        return Lines(bisect_right(self.raw_starts, first), bisect_right(self.raw_starts, last))


@frozen
class PageText(SourceText):
    """The text of a PDF, with pages as units; `labels` maps printed page numbers to pages."""

    labels: Mapping[str, Sequence[int]] = field(repr=False)

    def compact(self, text: str) -> str:
        """Return `text` without whitespace in Unicode normalization form NFKC, which splits ligatures."""
        return "".join(unicodedata.normalize("NFKC", text).split())

    def locate(self, start: int, end: int) -> Pages:
        """Return the pages of the characters `start` to `end` (excluded) of the text without whitespace."""
        return Pages.span(self._unit(start), self._unit(end - 1))

    @property
    def whole_location(self) -> Pages:
        """All pages of the PDF."""
        return Pages.span(1, len(self.starts))

    @property
    def extent_metadata(self) -> dict[str, object]:
        """The number of pages, as `page_count`."""
        return {"page_count": len(self.starts)}

    def on_page(self, label: str, passage: str) -> tuple[Location, bool] | None:
        """See `SourceText.on_page`."""
        pages = self.labels.get(label, ())
        if len(pages) != 1:
            return None
        page = pages[0]
        end = self.starts[page] if page < len(self.starts) else len(self.text)
        wanted = self.compact(passage)
        return Pages((page,)), bool(wanted) and self.text.find(wanted, self.starts[page - 1], end) >= 0


@frozen
class ChapterText(SourceText):
    """The text of a book, with chapters as units; `chapters` are the unchanged texts of the chapters."""

    chapters: Sequence[str] = field(repr=False)

    def locate(self, start: int, end: int) -> Chapter:
        """See `SourceText.locate`. The location is a range of characters in one chapter, or several whole chapters."""
        first, last = self._unit(start), self._unit(end - 1)
        if first != last:
            return Chapter(first, last=last)
        begin = self.starts[first - 1]
        return Chapter(first, _offsets_with_whitespace(self.chapters[first - 1], start - begin, end - begin))

    @property
    def whole_location(self) -> Chapter:
        """All chapters of the book."""
        return Chapter(1, last=len(self.starts))

    @property
    def extent_metadata(self) -> dict[str, object]:
        """The lengths of all chapters in characters, as `chapter_lengths`."""
        return {"chapter_lengths": [len(chapter) for chapter in self.chapters]}


def _offsets_with_whitespace(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets in `text` for offsets in `text` without its whitespace."""
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
    """Return the text of `source` for searching; `reader` reads books, and `files` reads PDFs.

    Raise `RequestRefused` if its format is not supported or the text is too long, and the errors of reading the source.
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
        f"{source.path} has the format {source.format.name}, but only text files, PDFs, books (such as EPUB files), "
        "DOCX files, and mail can be searched. Omit the source (--source)."
    )


def source_metadata(source: Source | None, text: SourceText | None) -> dict[str, object]:
    """Return map metadata about `source`: digest, size, format, and extent; empty without source or text."""
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
    """Return the units joined into one text, and the offset of each unit in it."""
    starts, size, parts = array("q"), 0, []
    for unit in units:
        starts.append(size)
        parts.append(unit)
        size += len(unit)
    return "".join(parts), starts
