"""The figures and tables of a document: nodes with a region of a page.

Puts figures and tables below the sections that they stand in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import define, evolve, field, frozen

from citekit.adapters.formats.pdf.document.graphics import may_draw
from citekit.adapters.formats.pdf.outline.captions import Caption, captions_among
from citekit.adapters.formats.pdf.outline.figure_regions import drawings, figure_areas
from citekit.adapters.formats.pdf.outline.page_layout import Area, PageLayout, layout_of, union
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.table_regions import table_area
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.libraries.mupdf.engine import Document, exclusive
from citekit.domain.errors import CiteKitError
from citekit.domain.locations import Box, Pages

FIGURES = 3_000
"""Figures and tables that a map holds at most."""

FRESH = 20
"""Pages that are read for captions alone, where nothing else of the map needed them; each that has one allows one more."""

FRESH_MOST = 60

LAYOUTS = {True: 150, False: 500}
"""Pages whose drawings are looked at: fewer where the map is quick to make."""

_LARGE = 0.08
"""The part of a page from which on a picture without a caption is told."""

_REPEATED = 3
"""Pages on which one picture may stand before it is a logo or a background."""


@frozen
class Figure:
    """`kind` is `figure` or `table`, `place` how many lines of the page come before it, `region` None for all of it."""

    kind: str
    text: str
    page: int
    place: int
    region: Box | None

    def draft(self) -> OutlineItem:
        """The node: its title is the caption's first words, its summary all of it where that says more."""
        title = _title(self.text)
        return OutlineItem(
            title, self.kind, Pages((self.page,), self.region), self.text if len(self.text) > len(title) else None
        )


def figures_of(document: Document, texts: PageTexts, *, quick: bool = False) -> tuple[list[Figure], list[str]]:
    """The captioned figures and tables and the large pictures of a document in reading order, and notes.

    Pages that were read before are searched; of the others, in their order, as many that draw something as `FRESH` and
    `FRESH_MOST` say. Which those are depends on the document alone.
    """
    search = _Search(document, texts, LAYOUTS[quick])
    found = [figure for page in range(1, texts.count + 1) for figure in search.on(page)]
    return _once(found)[:FIGURES], search.notes()


@define
class _Search:
    _document: Document
    _texts: PageTexts
    _layouts: int
    _fresh: int = field(default=FRESH, init=False)
    _more: int = field(default=FRESH_MOST - FRESH, init=False)
    _passed: int = field(default=0, init=False)
    _flat: int = field(default=0, init=False)
    _seen: dict[int, int] = field(factory=dict, init=False)

    def on(self, page: int) -> Iterator[Figure]:
        fresh = not self._texts.cached(page)
        if fresh and not self._worth(page):
            return
        lines = self._texts.lines(page)
        captions = [] if len(lines) > 3000 else list(captions_among(lines))
        if fresh and captions and self._more:
            self._fresh, self._more = self._fresh + 1, self._more - 1
        large = not captions and self._has_new_picture(page)
        if not captions and not large:
            return
        self._texts.go_on()
        layout = self._layout(page)
        if layout is None:
            yield from (_placeless(page, caption) for caption in captions if caption.certain)
        elif captions:
            yield from _captioned(page, captions, layout)
        else:
            yield from _uncaptioned(page, layout)

    def notes(self) -> list[str]:
        """What was left out to stay quick."""
        notes = []
        if self._passed:
            notes.append(
                f"To be quick, figures and tables were not looked for on {self._passed} pages that no section begins on."
            )
        if self._flat:
            notes.append(f"To be quick, figures and tables on {self._flat} pages are told without their region.")
        return notes

    def _worth(self, page: int) -> bool:
        """Whether a page that nobody read is read for its captions."""
        if not self._fresh:
            self._passed += 1
            return False
        shown = self._load(page)
        if shown is None or not may_draw(shown):
            return False
        self._fresh -= 1
        return True

    def _load(self, page: int) -> Document | None:
        try:
            with exclusive():
                return self._document[page - 1]
        except CiteKitError:
            raise
        except Exception:  # a damaged page has no figures; what PyMuPDF raises then is of any kind
            return None

    def _layout(self, page: int) -> PageLayout | None:
        shown = self._load(page)
        if not self._layouts:
            self._flat += 1
            return None
        if shown is None or not may_draw(shown):
            return None
        self._layouts -= 1
        try:
            return layout_of(shown, self._texts.lines(page))
        except CiteKitError:
            raise
        except Exception:  # as in `_load`
            return None

    def _has_new_picture(self, page: int) -> bool:
        """Whether a picture of at least 150 by 150 pixels is used here and on few pages before."""
        large = {image.number for image in self._texts.images(page) if min(image.width, image.height) >= 150}
        for number in large:
            self._seen[number] = self._seen.get(number, 0) + 1
        return any(self._seen[number] <= _REPEATED for number in large)


def _captioned(page: int, captions: Sequence[Caption], layout: PageLayout) -> Iterator[Figure]:
    areas = [union(layout.places[caption.first : caption.after]) for caption in captions]
    bodies = _bodies(captions, areas, layout)
    for caption, area, body in zip(captions, areas, bodies, strict=True):
        if body is not None:
            region = union((area, body)).grown(3).fractions(layout.width, layout.height)
            yield Figure(caption.kind, caption.text, page, caption.first, region)
        elif caption.certain:
            yield _placeless(page, caption)


def _bodies(captions: Sequence[Caption], areas: Sequence[Area], layout: PageLayout) -> list[Area | None]:
    """What each caption speaks of: tables by their rules or columns, all else by what is drawn."""
    found: list[Area | None] = [None] * len(captions)
    for at, caption in enumerate(captions):
        if caption.kind == "table":
            found[at] = table_area(areas[at], [area for area in areas if area is not areas[at]], layout)
    rest = [at for at in range(len(captions)) if found[at] is None]
    others = [area for at, area in enumerate(areas) if at not in rest]
    for at, body in zip(rest, figure_areas([areas[at] for at in rest], others, layout), strict=True):
        found[at] = body
    return found


def _placeless(page: int, caption: Caption) -> Figure:
    return Figure(caption.kind, caption.text, page, caption.first, None)


def _uncaptioned(page: int, layout: PageLayout) -> Iterator[Figure]:
    """Large pictures of a page that has text, too: one that is all of a page is a scan."""
    whole = layout.width * layout.height
    large = [part for part in layout.pictures if part.width * part.height >= _LARGE * whole]
    for part in drawings(layout):
        if not any(part.grown(2).meets(each) for each in large) or part.width * part.height > 0.85 * whole:
            continue
        place = next((at for at, line in enumerate(layout.places) if line.top >= part.bottom - 2), len(layout.lines))
        region = part.fractions(layout.width, layout.height)
        if region is not None and layout.lines:
            yield Figure("figure", f"Picture on page {page}", page, place, region)


def _once(figures: Sequence[Figure]) -> list[Figure]:
    """Without captions that have no picture and are told elsewhere: an entry of a list, or a mention in the text."""
    drawn = {(figure.kind, _key(figure.text)) for figure in figures if figure.region is not None}
    kept: list[Figure] = []
    for figure in figures:
        key = figure.kind, _key(figure.text)
        if figure.region is None and key in drawn:
            continue
        drawn.add(key)
        kept.append(figure)
    return kept


def _key(text: str) -> str:
    return "".join(character for character in text[:40].casefold() if character.isalnum())


def _title(text: str) -> str:
    """The caption up to the end of its first sentence, or its first 100 characters."""
    if len(text) <= 100:
        return text
    for end in range(30, 100):
        if text[end] in ".。" and (end + 1 == len(text) or text[end + 1].isspace() or text[end] == "。"):
            return text[: end + 1]
    head, space, _ = text[:100].rpartition(" ")
    return f"{head if space else text[:100]}..."


LOOKED_AT = 200
"""Sections before a figure that may hold it; only where all of them overlap could it be another."""

Place = tuple[int, int]
"""A page, and how many of its lines come before."""


def with_figures(drafts: Sequence[OutlineItem], figures: Sequence[Figure], texts: PageTexts) -> tuple[OutlineItem, ...]:
    """`drafts` with each figure below the deepest one that holds its page and began before it, in reading order.

    The figures come in reading order.
    """
    return _Shelf(texts).filled(drafts, figures)


@define
class _Shelf:
    _texts: PageTexts
    _begins: dict[tuple[int, str], int] = field(factory=dict)

    def filled(self, drafts: Sequence[OutlineItem], figures: Sequence[Figure]) -> tuple[OutlineItem, ...]:
        if not figures:
            return tuple(drafts)
        begins = [self._begin(draft) for draft in drafts]
        ordered = all(first <= second for first, second in pairwise(begins))
        below: list[list[Figure]] = [[] for _ in drafts]
        loose: list[Figure] = []
        for figure in figures:
            home = self._home(figure, drafts, begins, ordered)
            (loose if home is None else below[home]).append(figure)
        grown = [
            evolve(draft, children=self.filled(draft.children, own)) for draft, own in zip(drafts, below, strict=True)
        ]
        return self._merged(grown, begins, loose)

    def _home(
        self, figure: Figure, drafts: Sequence[OutlineItem], begins: Sequence[Place], ordered: bool
    ) -> int | None:
        """The last of `drafts` that holds the page and begins before the figure."""
        place = (figure.page, figure.place)
        last = bisect_right(begins, place) if ordered else len(drafts)
        near = range(last - 1, max(last - LOOKED_AT, 0) - 1, -1)
        return next((at for at in near if begins[at] <= place and figure.page in _numbers(drafts[at])), None)

    def _merged(
        self, drafts: Sequence[OutlineItem], begins: Sequence[Place], loose: Sequence[Figure]
    ) -> tuple[OutlineItem, ...]:
        """The drafts in their order, each loose figure before the first that begins after it."""
        made: list[OutlineItem] = []
        waiting = list(loose)
        for draft, begin in zip(drafts, begins, strict=True):
            while waiting and (waiting[0].page, waiting[0].place) < begin:
                made.append(waiting.pop(0).draft())
            made.append(draft)
        return (*made, *(figure.draft() for figure in waiting))

    def _begin(self, draft: OutlineItem) -> Place:
        """Where the heading of a draft stands; before all lines of its page where it is not found among them."""
        page = _numbers(draft)[0]
        known = (page, draft.title)
        if known not in self._begins:
            found = self._texts.saying(draft.title, page) if self._texts.cached(page) else ()
            self._begins[known] = found[0] if found else -1
        return page, self._begins[known]


def _numbers(draft: OutlineItem) -> range:
    assert isinstance(draft.location, Pages)
    numbers = draft.location.numbers
    return range(numbers[0], numbers[-1] + 1)
