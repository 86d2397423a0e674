"""Running headers, footers and page numbers: lines of the margins that are printed on many pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from attrs import define, field

from citekit.adapters.formats.pdf.outline.lines import Turn, Typed, turned

SAMPLE = 24
"""Pages that are looked at to learn what is printed on every page."""

MARGIN = 0.12
"""The part of a page's height, at its top and at its bottom, where headers and footers stand."""

MARGIN_LINES = 60
"""Lines in the margins of a page; where there are more, it is no page of text."""

COMPARED = 1_000_000
"""Lines of the margins times lines of the page, up to which what stands beside each is looked at."""

SMALL = 1.25
"""How many times the usual height of a line a running header has at most."""

_NUMBER = re.compile(r"\d+")
_OF_SECTION = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?")
_BARE_NUMBER = re.compile(r"[\W\d]*|[ivxlc]+", re.IGNORECASE)


class ReadPages(Protocol):
    """Pages, from 1, as they are read."""

    def read(self, page: int) -> list[Typed]:
        """All lines of `page`."""

    def height(self, page: int) -> float:
        """The height of `page` as it is shown, in points."""

    def turn(self, page: int) -> Turn | None:
        """How its lines come to stand as the page is shown, None where it is not turned."""


@define
class RunningLines:
    """Which lines of `pages` are headers, footers and page numbers. Nothing is one before `learn`."""

    _pages: ReadPages
    _known: frozenset[str] = field(default=frozenset(), init=False)
    _usuals: dict[int, float] = field(factory=dict, init=False)
    _typical: float = field(default=0.0, init=False)

    def learn(self, pages: Sequence[int]) -> None:
        """Tell headers and footers from what `pages` share."""
        self._usuals.clear()
        self._typical = _middle([self._usual(page) for page in pages])
        seen: Counter[str] = Counter()
        slots: Counter[str] = Counter()
        said: dict[str, set[str]] = {}
        for page in pages:
            margin = self._margin(page)
            seen.update({_pattern(line) for line in margin})
            for line in margin:
                if self._is_large(page, line):
                    said.setdefault(_pattern(line), set()).add(line.text)
            if self._pages.turn(page) is None and len(margin) <= MARGIN_LINES:
                slots.update({_slot(line) for line in margin if self._stands_off(page, line)})
        enough, often = min(max(3, len(pages) // 8), 12), max(4, len(pages) // 6)
        counted = {
            pattern for pattern, texts in said.items() if len(texts) == seen[pattern] > 1
        }  # Chapter 1, Chapter 2
        self._known = frozenset(
            [pattern for pattern, times in seen.items() if times >= enough and pattern not in counted]
            + [slot for slot, times in slots.items() if times >= often]
        )

    def without(self, page: int) -> list[Typed]:
        """The lines of `page` that are none of them, in the order of the file."""
        lines, margin = self._pages.read(page), self._margin(page)
        if len(margin) * len(lines) <= COMPARED:
            running = {id(line) for line in margin if self._is_running(page, line)}
        else:
            running = {id(line) for line in margin if _pattern(line) in self._known}
        return [line for line in lines if id(line) not in running]

    def _stands_off(self, page: int, line: Typed) -> bool:
        """Whether the row is the first or last of its page, parted from the text by more than half a line, and small."""
        height, middle = line.bottom - line.top, (line.top + line.bottom) / 2
        if self._is_large(page, line):
            return False
        others = [other for other in self._pages.read(page) if not other.top < middle < other.bottom]
        above = [other.bottom for other in others if other.bottom <= middle]
        below = [other.top for other in others if other.top >= middle]
        first = not above and bool(below) and min(below) - line.bottom > height / 2
        return first or (not below and bool(above) and line.top - max(above) > height / 2)

    def _is_before_title(self, page: int, number: Typed) -> bool:
        """Whether a number is larger than the text, with the words of a heading beside it."""
        return self._is_large(page, number) and bool(self._words_beside(page, number))

    def _words_beside(self, page: int, number: Typed) -> list[Typed]:
        """The words, as large as the number, that a heading has beside it."""
        beside = [line for line in self._pages.read(page) if _is_of_title(number, line)]
        return [line for line in beside if not _OF_SECTION.fullmatch(line.text)]

    def _is_large(self, page: int, line: Typed) -> bool:
        """Whether it is higher than the lines of its page, and of most pages: some hold nothing but code."""
        return line.bottom - line.top >= SMALL * max(self._usual(page), self._typical)

    def _usual(self, page: int) -> float:
        """The height of the lines of most of a page."""
        if page not in self._usuals:
            self._usuals[page] = _middle([line.bottom - line.top for line in self._pages.read(page)])
        return self._usuals[page]

    def _margin(self, page: int) -> list[Typed]:
        """The lines of `page` at its top and at its bottom."""
        lines, turn, height = self._pages.read(page), self._pages.turn(page), self._pages.height(page)
        top, bottom = height * MARGIN, height * (1 - MARGIN)
        if turn is None:
            return [line for line in lines if line.bottom < top or line.top > bottom]
        shown = ((line, turned(line, turn)) for line in lines)
        return [line for line, seen in shown if seen.bottom < top or seen.top > bottom]

    def _is_running(self, page: int, line: Typed) -> bool:
        """Whether a line in the margin is a header, a footer, or the number of the page."""
        if _OF_SECTION.fullmatch(line.text) and (words := self._words_beside(page, line)):
            return all(self._is_running(page, each) for each in words)
        if _pattern(line) in self._known:
            return True
        if _BARE_NUMBER.fullmatch(line.text):
            return not (_OF_SECTION.fullmatch(line.text) or self._is_before_title(page, line))
        return _slot(line) in self._known and self._stands_off(page, line)


def spread(count: int) -> list[int]:
    """Pairs of neighbouring pages (left and right ones differ) all through a document of `count` pages."""
    if count <= SAMPLE:
        return list(range(1, count + 1))
    pairs = SAMPLE // 2
    starts = [2 + place * (count - 3) // (pairs - 1) for place in range(pairs)]
    return sorted({page for start in starts for page in (start, start + 1) if page <= count})


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0


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
