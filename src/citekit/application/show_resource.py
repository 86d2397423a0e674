"""Provides what a viewer shows of a mapped file: pages, lines, chapters, subtitles, and the words of quotes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import TypeVar

from attrs import define, field, frozen

from citekit.application.locate_source import LocateSource
from citekit.domain.errors import LocationOutside, RequestRefused, SourceUnsupported
from citekit.domain.formats import BOOKS
from citekit.domain.library.extracted_text import ExtractedText, Unit, UnitKind
from citekit.domain.modality import Modality
from citekit.domain.page_view import (
    MARKED_PAGES,
    WIDTHS,
    Corners,
    Layout,
    PagePicture,
    PageSize,
    PageWord,
    SheetRow,
    is_drawing,
)
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.page_views import PageViews
from citekit.domain.ports.quotable_texts import QuotableTexts
from citekit.domain.ports.reader import Reader
from citekit.domain.quotes.differing_words import differing_words
from citekit.domain.quotes.marked_words import WordRange, marked_words
from citekit.domain.quotes.quotable import WITH_MARKUP, WITH_TAGS
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

UNITS = 2_000
"""The maximum number of lines, pages, or chapters of text in one answer."""

CHARACTERS = 500_000
"""The approximate maximum number of characters in one answer. Units are not split."""

PICTURE_BYTES = 96 * 2**20
"""The maximum total size in bytes of the pictures that are kept in memory."""

LINE_CHARACTERS = 64 * 2**20
"""The maximum total number of characters of the lines and rows that are kept in memory."""

AMPLITUDES = 2_000
"""The maximum number of amplitudes of a waveform."""

WORD_PAGES = 400
"""The maximum number of pages whose words are kept in memory."""

_T = TypeVar("_T")


@frozen
class TextUnit:
    """A page, chapter, or line with its number, which counts from 1."""

    number: int
    text: str


@frozen
class TextPart:
    """Consecutive units of the text of a file.

    `total` is the number of the last unit of the file, and `next` that of the first unit after this part, or None.
    """

    kind: UnitKind
    units: Sequence[TextUnit] = field(converter=tuple[TextUnit, ...])
    total: int
    next: int | None


@frozen
class MarkedPage:
    """The boxes around the words of a quote on a page, one for each line, and around the words that a model changed."""

    page: int
    boxes: Sequence[Corners] = field(converter=tuple[Corners, ...])
    differing: Sequence[Corners] = field(default=(), converter=tuple[Corners, ...])


@define
class _Kept:
    """The most recently used values by key, up to the total size `limit`. Thread-safe."""

    limit: int
    _values: OrderedDict[object, tuple[object, int]] = field(factory=OrderedDict, init=False)
    _size: int = field(default=0, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def get(self, key: object, make: Callable[[], _T], size: Callable[[_T], int]) -> _T:
        """Return the value for `key`, which `make` creates if it is not cached."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]  # type: ignore[return-value]  # each key has one type of value
        value = make()
        with self._lock:
            self._size += size(value) - self._values.pop(key, (None, 0))[1]
            self._values[key] = (value, size(value))
            while self._size > self.limit and len(self._values) > 1:
                self._size -= self._values.popitem(last=False)[1][1]
        return value


@define
class ShowResource:
    """Shows mapped files. Every method raises `ResourceMissing`, `MapCorrupt`, and the errors of `LocateSource`."""

    maps: MapStore
    locate: LocateSource
    texts: QuotableTexts
    views: PageViews
    reader: Reader
    roots: Sequence[Path] = ()
    _sizes: _Kept = field(factory=lambda: _Kept(200_000), init=False)
    _pictures: _Kept = field(factory=lambda: _Kept(PICTURE_BYTES), init=False)
    _lines: _Kept = field(factory=lambda: _Kept(LINE_CHARACTERS), init=False)
    _waveforms: _Kept = field(factory=lambda: _Kept(100 * AMPLITUDES), init=False)
    _words: _Kept = field(factory=lambda: _Kept(WORD_PAGES), init=False)

    def source(self, resource_id: str) -> tuple[ResourceMap, Source]:
        """Return the map and its file."""
        resource_map = self.maps.get(resource_id)
        return resource_map, self.locate(resource_map, self.roots)

    def layout(self, resource_id: str) -> Layout:
        """Return how the file of a resource is laid out."""
        resource_map, source = self.source(resource_id)
        if source.format.modality in (Modality.VIDEO, Modality.AUDIO):
            return Layout.RECORDING
        if self.views.supports(source.format):
            return Layout.PAGES
        if source.format.name in BOOKS:
            return Layout.CHAPTERS
        if source.format.name == "html" or is_drawing(source):
            return Layout.HTML
        extent = resource_map.extent
        if extent.sheets is not None:
            return Layout.ROWS
        if extent.lines is not None:
            return Layout.LINES
        return Layout.SLIDES if extent.pages is not None else Layout.NOTHING

    def page_sizes(self, resource_id: str) -> Sequence[PageSize]:
        """Return the sizes of the pages. Raise the errors of `PageViews.sizes`."""
        _, source = self.source(resource_id)
        return self._sizes.get(source.digest, lambda: self.views.sizes(source), len)

    def page_picture(self, resource_id: str, page: int, width: int) -> PagePicture:
        """Return a picture of a page in the smallest of `WIDTHS` that is at least `width` pixels, or else the largest.

        See `PageViews.picture` for the errors, and for when the picture is narrower.
        """
        _, source = self.source(resource_id)
        wide = next((each for each in WIDTHS if each >= width), WIDTHS[-1])
        key = (source.digest, page, wide)
        return self._pictures.get(key, lambda: self.views.picture(source, page, wide), lambda made: len(made.data))

    def page_words(self, resource_id: str, page: int) -> Sequence[PageWord]:
        """Return the words of a page. Raise the errors of `PageViews.words`."""
        _, source = self.source(resource_id)
        return self._words_of(source, page)

    def marks(self, resource_id: str, pages: Sequence[int], quote: str, said: str = "") -> Sequence[MarkedPage]:
        """Return the boxes of the words of `quote` on consecutive `pages`, and of those in which `said`, the text of a
        model, differs.

        The result is empty if the pages do not have exactly this quote. Raise `RequestRefused` for too many pages, and
        the errors of `PageViews.words`.
        """
        if len(pages) > MARKED_PAGES:
            raise RequestRefused(f"A quote can be marked on at most {MARKED_PAGES} pages, not {len(pages)}.")
        _, source = self.source(resource_id)
        words = [self._words_of(source, page) for page in pages]
        texts = [[word.text for word in each] for each in words]
        ranges = marked_words(quote, texts)
        differing = differing_words(said, quote, ranges, texts) if said else []
        boxes, changed = _boxes(ranges, words), _boxes(differing, words)
        return [MarkedPage(pages[page], boxes[page], changed.get(page, ())) for page in sorted(boxes)]

    def text(self, resource_id: str, first: int = 1, last: int | None = None) -> TextPart:
        """Return lines (with their markup), pages, or chapters of the text, from `first` to `last` or as many as fit.

        Raise `LocationOutside` if there is no unit `first`, `RequestRefused` for a recording or a workbook, and
        the errors of `QuotableTexts.read`.
        """
        resource_map, source = self.source(resource_id)
        texts = self.texts.read(source)
        raw = next((each.placed for each in texts if each.note in (WITH_MARKUP, WITH_TAGS)), texts[0].placed)
        if not isinstance(raw, ExtractedText):
            raise RequestRefused("This file is a recording. Its words are in its transcript.")
        total = max(raw.units.numbers[-1] if raw.units else 0, resource_map.extent.lines or 0)
        if not 1 <= first <= max(total, 1):
            raise LocationOutside.beyond(raw.kind.value, first, "file", total)
        if raw.kind is UnitKind.ROW:
            raise RequestRefused("This file is a workbook. Read its text one sheet at a time.")
        if raw.kind is UnitKind.LINE:
            lines = self._lines.get(source.digest, lambda: raw.text.split("\n"), lambda _: len(raw.text))
            return _lines_part(lines, first, last or total, total)
        return _part(raw, first, min(last or total, total, first + UNITS - 1), total)

    def rows(self, resource_id: str, sheet: str) -> Sequence[SheetRow]:
        """Return the rows of a sheet. Raise the errors of `PageViews.rows`."""
        _, source = self.source(resource_id)

        def size(rows: Sequence[SheetRow]) -> int:
            return sum(len(text) + 16 for row in rows for _, text in row.cells)

        return self._lines.get((source.digest, sheet), lambda: self.views.rows(source, sheet), size)

    def chapter(self, resource_id: str, number: int) -> str:
        """Return a chapter of a book, a slide, or an HTML or SVG file (`number` 1) as an HTML document without scripts.

        Raise the errors of `Reader.html` or `PageViews.document`.
        """
        _, source = self.source(resource_id)
        if source.format.name in BOOKS:
            return self.reader.html(source.path, number)
        return self.views.document(source, number)

    def waveform(self, resource_id: str) -> Sequence[int]:
        """Return up to `AMPLITUDES` amplitudes of a recording, from 0 to 255; none if it has no sound.

        Raise the errors of `PageViews.waveform`.
        """
        _, source = self.source(resource_id)
        return self._waveforms.get(source.digest, lambda: self.views.waveform(source, AMPLITUDES), len)

    def transcript(self, resource_id: str) -> Transcript:
        """Return the subtitles or the recognized words of a recording. Raise `SourceUnsupported` if the file has none."""
        _, source = self.source(resource_id)
        placed = self.texts.read(source)[0].placed
        if not isinstance(placed, Transcript):
            raise SourceUnsupported(f"{source.path.name} is not a recording: its format is {source.format.name}.")
        return placed

    def _words_of(self, source: Source, page: int) -> Sequence[PageWord]:
        return self._words.get((source.digest, page), lambda: self.views.words(source, page), lambda _: 1)


def _boxes(ranges: Sequence[WordRange], words: Sequence[Sequence[PageWord]]) -> dict[int, list[Corners]]:
    """Return the boxes of ranges of words, by the index of the page."""
    boxes: dict[int, list[Corners]] = {}
    for found in ranges:
        boxes.setdefault(found.page, []).extend(_line_boxes(words[found.page][found.first : found.last + 1]))
    return boxes


def _line_boxes(words: Sequence[PageWord]) -> list[Corners]:
    """Return one box for the words of each line."""
    boxes = []
    for _, line in groupby(words, key=lambda word: word.line):
        lefts, tops, rights, bottoms = zip(*(word.box for word in line), strict=True)
        boxes.append((min(lefts), min(tops), max(rights), max(bottoms)))
    return boxes


def _part(text: ExtractedText, first: int, last: int, total: int) -> TextPart:
    pieces: dict[int, list[str]] = {}
    length = 0
    for unit in _units(text, first, last):
        if length > CHARACTERS:
            last = unit.number - 1
            break
        pieces.setdefault(unit.number, []).append(text.text[unit.start : unit.end])
        length += unit.end - unit.start
    units = [TextUnit(number, " ".join(pieces.get(number, ()))) for number in range(first, last + 1)]
    return TextPart(text.kind, units, total, last + 1 if last < total else None)


def _lines_part(lines: Sequence[str], first: int, last: int, total: int) -> TextPart:
    units, length = list[TextUnit](), 0
    for number in range(first, min(last, total, first + UNITS - 1) + 1):
        text = lines[number - 1] if number <= len(lines) else ""
        length += len(text)
        if units and length > CHARACTERS:
            break
        units.append(TextUnit(number, text))
    after = first + len(units)
    return TextPart(UnitKind.LINE, units, total, after if after <= total else None)


def _units(text: ExtractedText, first: int, last: int) -> Sequence[Unit]:
    numbers = text.units.numbers
    return text.units[bisect_left(numbers, first) : bisect_right(numbers, last)]
