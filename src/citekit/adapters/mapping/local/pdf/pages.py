"""The lines of a document's pages, each page read at most once, running headers and footers known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from attrs import define, field

from citekit.adapters.drivers.pdf_links import LinkReader
from citekit.adapters.drivers.pdf_text import Line
from citekit.adapters.drivers.pymupdf import Document, give_way
from citekit.adapters.mapping.local.pdf.lines import (
    Link,
    Turn,
    Typed,
    page_links,
    quick_lines,
    turn_of,
    turned,
    typed,
    typed_lines,
)
from citekit.adapters.mapping.local.pdf.saying import letters_of, says
from citekit.adapters.mapping.local.pdf.vertical import with_columns
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress

SAMPLE = 24
"""Pages that are looked at to learn what is printed on every page."""

MARGIN = 0.12
"""The part of a page's height, at its top and at its bottom, where headers and footers stand."""

MARGIN_LINES = 60
"""Lines in the margins of a page; where there are more, it is no page of text."""

SMALL = 1.25
"""How many times the usual height of a line a running header has at most."""

_NUMBER = re.compile(r"\d+")
_OF_SECTION = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?")
_BARE_NUMBER = re.compile(r"[\W\d]*|[ivxlc]+", re.IGNORECASE)


@define
class PageTexts:
    """Pages count from 1. A page that cannot be read has no lines. `quick` reads lines as `quick_lines` does."""

    _document: Document
    _progress: Progress
    quick: bool = False
    _count: int = field(init=False)
    _cache: dict[int, list[Typed]] = field(factory=dict, init=False)
    _kept: dict[int, list[Typed]] = field(factory=dict, init=False)
    _letters: dict[int, list[str]] = field(factory=dict, init=False)
    _said: dict[tuple[int, str], tuple[int, ...]] = field(factory=dict, init=False)
    _heights: dict[int, float] = field(factory=dict, init=False)
    _usuals: dict[int, float] = field(factory=dict, init=False)
    _turns: dict[int, Turn] = field(factory=dict, init=False)
    _running: frozenset[str] | None = field(default=None, init=False)
    _links: LinkReader = field(init=False)

    @property
    def count(self) -> int:
        """How many pages there are."""
        return self._count

    @_links.default
    def _reader(self) -> LinkReader:
        return LinkReader(self._document)

    @_count.default
    def _counted(self) -> int:
        return int(self._document.page_count)  # dear: PyMuPDF counts anew

    def lines(self, page: int) -> list[Typed]:
        """The lines of `page` in the order of the file, without running headers, footers and page numbers."""
        if self._running is None:
            self._running = self._learn(_spread(self.count))
        running = self._running
        if page not in self._kept:
            margin = {id(line): self._is_running(page, line, running) for line in self._margin(page)}
            self._kept[page] = [line for line in self.read(page) if not margin.get(id(line))]
        return self._kept[page]

    def shown(self, page: int) -> list[Typed]:
        """As `lines`, in points from the top left of the page as it is shown."""
        lines, turn = self.lines(page), self._turns.get(page)
        return lines if turn is None else [turned(line, turn) for line in lines]

    def saying(self, title: str, page: int) -> tuple[int, ...]:
        """Which lines of `page`, counted from 0, say `title` or a part of it."""
        key = page, title
        if key not in self._said:
            wanted, letters = letters_of(title), self._letters_on(page)
            longest = len(wanted)
            near = [at for at, found in enumerate(letters) if 0 < len(found) <= longest]
            self._said[key] = tuple(at for at in near if says(wanted, letters[at]))
        return self._said[key]

    def _letters_on(self, page: int) -> list[str]:
        if page not in self._letters:
            said = letters_of("\n".join([line.text for line in self.lines(page)]))
            self._letters[page] = said.split("\n") if self.lines(page) else []
        return self._letters[page]

    @property
    def document(self) -> Document:
        """The open document itself."""
        return self._document

    def height(self, page: int) -> float:
        """The height of `page` as it is shown, in points."""
        self.read(page)
        return self._heights[page]

    def links(self, page: int) -> list[Link]:
        """The links of `page` that lead to pages of the document; none where they cannot be read."""
        try:
            return page_links(self._document[page - 1], self._links)
        except CiteKitError:
            raise
        except Exception:  # as for lines: damaged links are of any kind
            return []

    def learn_from(self, pages: Iterable[int]) -> None:
        """Tell headers and footers from `pages` instead of a sample."""
        self._running = self._learn(list(pages))
        self._forget()

    def is_turned(self, page: int) -> bool:
        """Whether `page` is shown turned, so that its lines have other coordinates than its bookmarks."""
        self.read(page)
        return page in self._turns

    def at_hand(self, page: int) -> bool:
        """Whether `page` was read before."""
        return page in self._cache

    def put(self, page: int, lines: Iterable[Line]) -> None:
        """Let `lines`, which stand as the page is shown, be those of `page`, such as were read from its picture."""
        self.read(page)
        self._cache[page] = [typed(line) for line in lines]
        self._turns.pop(page, None)
        self._usuals.pop(page, None)
        self._running = None
        self._forget()

    def _forget(self) -> None:
        """What was told of lines without running headers, which are others now."""
        for known in (self._kept, self._letters, self._said):
            known.clear()

    def read(self, page: int) -> list[Typed]:
        """All lines of `page`."""
        if page not in self._cache:
            self._progress(page, self.count, "pages")
            self._cache[page] = self._read(page)
            give_way()
        return self._cache[page]

    def _read(self, page: int) -> list[Typed]:
        try:
            shown = self._document[page - 1]
            self._heights[page] = max(shown.rect.height, 1.0)
            turn = turn_of(shown)
            if turn is not None:
                self._turns[page] = turn
            return quick_lines(shown) if self.quick else with_columns(typed_lines(shown))
        except CiteKitError:
            raise
        except Exception:  # a damaged page says nothing; what PyMuPDF raises then is of any kind
            self._heights.setdefault(page, 1.0)
            return []

    def _learn(self, pages: list[int]) -> frozenset[str]:
        seen: Counter[str] = Counter()
        slots: Counter[str] = Counter()
        said: dict[str, set[str]] = {}
        for page in pages:
            margin = self._margin(page)
            seen.update({_pattern(line) for line in margin})
            usual = self._usual(page)
            for line in margin:
                if line.bottom - line.top >= SMALL * usual:
                    said.setdefault(_pattern(line), set()).add(line.text)
            if page not in self._turns and len(margin) <= MARGIN_LINES:
                slots.update({_slot(line) for line in margin if self._stands_off(page, line)})
        enough, often = min(max(3, len(pages) // 8), 12), max(4, len(pages) // 6)
        counted = {
            pattern for pattern, texts in said.items() if len(texts) == seen[pattern] > 1
        }  # Chapter 1, Chapter 2
        return frozenset(
            [pattern for pattern, times in seen.items() if times >= enough and pattern not in counted]
            + [slot for slot, times in slots.items() if times >= often]
        )

    def _stands_off(self, page: int, line: Typed) -> bool:
        """Whether the row is the first or last of its page, parted from the text by more than half a line, and small."""
        height, middle = line.bottom - line.top, (line.top + line.bottom) / 2
        others = [other for other in self.read(page) if not other.top < middle < other.bottom]
        above = [other.bottom for other in others if other.bottom <= middle]
        below = [other.top for other in others if other.top >= middle]
        first = not above and bool(below) and min(below) - line.bottom > height / 2
        last = not below and bool(above) and line.top - max(above) > height / 2
        return (first or last) and height < SMALL * self._usual(page)

    def _is_before_title(self, page: int, number: Typed) -> bool:
        """Whether a number is larger than the text, with the words of a heading beside it."""
        larger = number.bottom - number.top >= SMALL * self._usual(page)
        return larger and any(_is_of_title(number, line) for line in self.read(page))

    def _usual(self, page: int) -> float:
        """The height of the lines of most of a page."""
        if page not in self._usuals:
            heights = sorted([line.bottom - line.top for line in self.read(page)])
            self._usuals[page] = heights[len(heights) // 2] if heights else 0.0
        return self._usuals[page]

    def _margin(self, page: int) -> list[Typed]:
        """The lines of `page` at its top and at its bottom."""
        lines, turn = self.read(page), self._turns.get(page)
        top, bottom = self._heights[page] * MARGIN, self._heights[page] * (1 - MARGIN)
        if turn is None:
            return [line for line in lines if line.bottom < top or line.top > bottom]
        shown = ((line, turned(line, turn)) for line in lines)
        return [line for line, seen in shown if seen.bottom < top or seen.top > bottom]

    def _is_running(self, page: int, line: Typed, running: frozenset[str]) -> bool:
        """Whether a line in the margin is a header, a footer, or the number of the page."""
        if _pattern(line) in running:
            return True
        if _BARE_NUMBER.fullmatch(line.text):
            return not (_OF_SECTION.fullmatch(line.text) or self._is_before_title(page, line))
        return _slot(line) in running and self._stands_off(page, line)


def _is_of_title(number: Typed, line: Typed) -> bool:
    """Whether `line` holds words, stands beside `number` on either side, and is as large."""
    level = abs(number.bottom - line.bottom) < number.size / 2 and number.size == line.size
    apart = max(line.left - number.right, number.left - line.right)
    return level and apart < 3 * number.size and any(character.isalpha() for character in line.text)


def _pattern(line: Typed) -> str:
    """A line with its numbers left out, and its size, which tells a running header from the heading it repeats."""
    return f"{_NUMBER.sub('#', line.text.casefold())}|{line.size:g}"


def _slot(line: Typed) -> str:
    """Where a line stands and how it is printed: running headers that name the section change their words only."""
    return f"{round(line.bottom / 2)}|{line.font}|{line.size:g}"


def _spread(count: int) -> list[int]:
    """Pairs of neighbouring pages (left and right ones differ) all through the document."""
    if count <= SAMPLE:
        return list(range(1, count + 1))
    pairs = SAMPLE // 2
    starts = [2 + place * (count - 3) // (pairs - 1) for place in range(pairs)]
    return sorted({page for start in starts for page in (start, start + 1) if page <= count})
