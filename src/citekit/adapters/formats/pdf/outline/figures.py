"""Finds figures and tables with their regions, and inserts them into the outline below their sections."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import define, evolve, field, frozen

from citekit.adapters.formats.pdf.document.graphics import may_draw
from citekit.adapters.formats.pdf.outline.caption_bodies import bodies_of, drawings
from citekit.adapters.formats.pdf.outline.captions import Caption, captions_among
from citekit.adapters.formats.pdf.outline.page_layout import PageLayout, layout_of, union
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.libraries.mupdf.engine import Document, exclusive
from citekit.domain.errors import CiteKitError
from citekit.domain.locations import Box, Pages
from citekit.domain.phrases import counted

FIGURE_LIMIT = 3_000
"""The maximum number of figures and tables in a map."""

EXTRA_PAGES = 20
"""The number of pages that are read only for captions; each of these with a caption allows one more, up to
`EXTRA_PAGES_LIMIT`.
"""

EXTRA_PAGES_LIMIT = 60

LAYOUT_LIMITS = {True: 150, False: 500}
"""The maximum number of pages whose drawings are inspected, by the value of `quick` (see `figures_of`)."""

_LARGE_SHARE = 0.08
"""The minimum share of a page that a picture without a caption covers if it is a figure."""

_REPEAT_LIMIT = 3
"""The maximum number of pages with one picture; on more pages, it is assumed to be a logo or a background."""


@frozen
class Figure:
    """A figure or table on a page: `kind` is `figure` or `table`, and `text` is its caption or a title in place of it.

    `line_index` is the number of text lines that precede it on the page. `region` is its area, or None if that is
    unknown.
    """

    kind: str
    text: str
    page: int
    line_index: int
    region: Box | None = None

    def outline_item(self) -> OutlineItem:
        """Return the figure as an outline item, with the start of the caption as its title, and a longer caption as its
        summary.
        """
        title = _title(self.text)
        return OutlineItem(
            title, self.kind, Pages((self.page,), self.region), self.text if len(self.text) > len(title) else None
        )


def figures_of(texts: PageTexts, *, quick: bool = False) -> tuple[list[Figure], list[str]]:
    """Return captioned figures and tables and large pictures in reading order, and notes about what was skipped.

    At most the first `FIGURE_LIMIT` are returned. With `quick`, the drawings of fewer pages are inspected. Pages of
    `texts` that have been read are searched. Other pages are read, within `EXTRA_PAGES` and `EXTRA_PAGES_LIMIT`, if
    they draw something.
    """
    search = _FigureSearch(texts, frozenset(texts.pages), LAYOUT_LIMITS[quick])
    found = [figure for page in range(1, texts.count + 1) for figure in search.on(page)]
    return _without_mentions(found)[:FIGURE_LIMIT], search.notes()


@define
class _FigureSearch:
    _texts: PageTexts
    _read: frozenset[int]
    _layouts_left: int
    _extra_pages: int = field(default=EXTRA_PAGES, init=False)
    _further_pages: int = field(default=EXTRA_PAGES_LIMIT - EXTRA_PAGES, init=False)
    _skipped: int = field(default=0, init=False)
    _without_layout: int = field(default=0, init=False)
    _seen: dict[int, int] = field(factory=dict, init=False)

    def on(self, page: int) -> Iterator[Figure]:
        fresh = page not in self._read
        if fresh and not self._should_read(page):
            return
        lines = self._texts.lines(page)
        captions = [] if len(lines) > 3000 else list(captions_among(lines))
        if fresh and captions and self._further_pages:
            self._extra_pages, self._further_pages = self._extra_pages + 1, self._further_pages - 1
        large = not captions and self._has_new_picture(page)
        if not captions and not large:
            return
        self._texts.reader.report_progress()
        layout = self._layout(page)
        if layout is None:
            yield from (Figure(each.kind, each.text, page, each.first) for each in captions if each.certain)
        elif captions:
            yield from _with_captions(page, captions, layout)
        else:
            yield from _without_captions(page, layout)

    def notes(self) -> list[str]:
        """Return notes for the user about pages that were not searched in full, to save time."""
        notes = []
        if self._skipped:
            notes.append(
                f"To save time, {counted(self._skipped, 'page')} on which no section begins "
                f"{'was' if self._skipped == 1 else 'were'} not searched for figures and tables."
            )
        if self._without_layout:
            notes.append(
                f"To save time, only captions were read on {counted(self._without_layout, 'page')}: figures and tables there "
                "are listed without their regions, and those without a clear caption are not listed."
            )
        return notes

    def _should_read(self, page: int) -> bool:
        """Return whether to read `page` to look for captions, and count it as read or skipped."""
        if not self._extra_pages:
            self._skipped += 1
            return False
        shown = self._load(page)
        if shown is None or not may_draw(shown):
            return False
        self._extra_pages -= 1
        return True

    def _load(self, page: int) -> Document | None:
        try:
            with exclusive():
                return self._texts.reader.document[page - 1]
        except CiteKitError:
            raise
        except Exception:  # a damaged page has no figures; PyMuPDF can raise any exception then
            return None

    def _layout(self, page: int) -> PageLayout | None:
        shown = self._load(page)
        if not self._layouts_left:
            self._without_layout += 1
            return None
        if shown is None or not may_draw(shown):
            return None
        self._layouts_left -= 1
        try:
            return layout_of(shown, self._texts.lines(page))
        except CiteKitError:
            raise
        except Exception:  # as in `_load`
            return None

    def _has_new_picture(self, page: int) -> bool:
        """Return whether `page` uses an image of at least 150 by 150 pixels that few of the pages searched so far use."""
        large = {image.number for image in self._texts.reader.images(page) if min(image.width, image.height) >= 150}
        for number in large:
            self._seen[number] = self._seen.get(number, 0) + 1
        return any(self._seen[number] <= _REPEAT_LIMIT for number in large)


def _with_captions(page: int, captions: Sequence[Caption], layout: PageLayout) -> Iterator[Figure]:
    areas = [union(layout.line_areas[caption.first : caption.end]) for caption in captions]
    bodies = bodies_of(captions, areas, layout)
    for caption, area, body in zip(captions, areas, bodies, strict=True):
        if body is not None:
            region = union((area, body)).expanded(3).fractions(layout.width, layout.height)
            yield Figure(caption.kind, caption.text, page, caption.first, region)
        elif caption.certain:
            yield Figure(caption.kind, caption.text, page, caption.first)


def _without_captions(page: int, layout: PageLayout) -> Iterator[Figure]:
    """Yield the large pictures of a page that has text but no captions, except a picture of the whole page (a scan)."""
    whole = layout.width * layout.height
    large = [part for part in layout.pictures if part.width * part.height >= _LARGE_SHARE * whole]
    for part in drawings(layout):
        if not any(part.expanded(2).touches(each) for each in large) or part.width * part.height > 0.85 * whole:
            continue
        line_index = next(
            (at for at, line in enumerate(layout.line_areas) if line.top >= part.bottom - 2), len(layout.lines)
        )
        region = part.fractions(layout.width, layout.height)
        if region is not None and layout.lines:
            yield Figure("figure", f"Picture on page {page}", page, line_index, region)


def _without_mentions(figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures, without those that have no region and repeat the caption of an earlier one, or of one with a
    region: they are entries of a printed list of figures, or references in the text.
    """
    drawn = {(figure.kind, _text_key(figure.text)) for figure in figures if figure.region is not None}
    kept: list[Figure] = []
    for figure in figures:
        key = figure.kind, _text_key(figure.text)
        if figure.region is None and key in drawn:
            continue
        drawn.add(key)
        kept.append(figure)
    return kept


def _text_key(text: str) -> str:
    return "".join(character for character in text[:40].casefold() if character.isalnum())


def _title(text: str) -> str:
    """Return the caption `text`, cut off after a sentence or with `...` if it has more than 100 characters."""
    if len(text) <= 100:
        return text
    for end in range(30, 100):
        if text[end] in ".。" and (end + 1 == len(text) or text[end + 1].isspace() or text[end] == "。"):
            return text[: end + 1]
    head, space, _ = text[:100].rpartition(" ")
    return f"{head if space else text[:100]}..."


SECTIONS_SEARCHED = 200
"""The number of sections before a figure that are checked as its parent."""

Position = tuple[int, int]
"""A page number, and the number of lines of that page that come before the position."""


def insert_figures(
    outline_items: Sequence[OutlineItem], figures: Sequence[Figure], texts: PageTexts
) -> tuple[OutlineItem, ...]:
    """Return `outline_items` with each figure below the deepest item that contains its page and starts before it.

    A figure without such an item goes between the items. A caption without a figure that is the heading of an item
    (`Exhibit A`) is left out. `figures` must be in reading order.
    """
    if not figures:
        return tuple(outline_items)
    begins = [_heading_position(outline_item, texts) for outline_item in outline_items]
    ordered = all(first <= second for first, second in pairwise(begins))
    headings = set(begins)
    figures = [each for each in figures if each.region is not None or (each.page, each.line_index) not in headings]
    below: list[list[Figure]] = [[] for _ in outline_items]
    loose: list[Figure] = []
    for figure in figures:
        home = _parent_index(figure, outline_items, begins, ordered)
        (loose if home is None else below[home]).append(figure)
    grown = [
        evolve(outline_item, children=insert_figures(outline_item.children, own, texts))
        for outline_item, own in zip(outline_items, below, strict=True)
    ]
    return _merged(grown, begins, loose)


def _parent_index(
    figure: Figure, outline_items: Sequence[OutlineItem], begins: Sequence[Position], ordered: bool
) -> int | None:
    """Return the index of the last of `outline_items` that contains the figure's page and starts (`begins`) before it,
    or None.
    """
    position = (figure.page, figure.line_index)
    last = bisect_right(begins, position) if ordered else len(outline_items)
    near = range(last - 1, max(last - SECTIONS_SEARCHED, 0) - 1, -1)
    return next((at for at in near if begins[at] <= position and figure.page in _numbers(outline_items[at])), None)


def _merged(
    outline_items: Sequence[OutlineItem], begins: Sequence[Position], loose: Sequence[Figure]
) -> tuple[OutlineItem, ...]:
    """Return `outline_items`, with each of the `loose` figures before the first item that starts after it."""
    made: list[OutlineItem] = []
    waiting = list(loose)
    for outline_item, begin in zip(outline_items, begins, strict=True):
        while waiting and (waiting[0].page, waiting[0].line_index) < begin:
            made.append(waiting.pop(0).outline_item())
        made.append(outline_item)
    return (*made, *(figure.outline_item() for figure in waiting))


def _heading_position(outline_item: OutlineItem, texts: PageTexts) -> Position:
    """Return the page and line index of an outline item's heading; the index is -1 if it is unknown."""
    page = _numbers(outline_item)[0]
    found = texts.lines_matching(outline_item.title, page) if texts.has_read(page) else ()
    return page, found[0] if found else -1


def _numbers(outline_item: OutlineItem) -> range:
    assert isinstance(outline_item.location, Pages)
    numbers = outline_item.location.numbers
    return range(numbers[0], numbers[-1] + 1)
