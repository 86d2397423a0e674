"""Removes running headers, running footers, and page numbers: lines in the margins that repeat on many pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from attrs import define, field

from citekit.adapters.formats.pdf.outline.lines import Rotation, StyledLine, rotated

SAMPLE_SIZE = 24
"""The number of pages from which repeated lines are learned."""

MARGIN = 0.12
"""The share of a page's height, at the top and at the bottom, that holds running headers and footers."""

MARGIN_LINES = 60
"""The number of lines in the margins of a page; a page with more is not a page of text."""

COMPARISON_LIMIT = 1_000_000
"""The product of margin lines and page lines up to which the neighbors of each line are inspected."""

LARGE_RATIO = 1.25
"""The height of a line, as a multiple of the usual height, from which it is not a running header."""

SLOT_RATIO = 1.1
"""The same ratio from which different lines in one place are titles at the top of their pages, not running headers."""

_NUMBER = re.compile(r"\d+")
_SECTION_NUMBER = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?")
_BARE_NUMBER = re.compile(r"[\W\d]*|[ivxlc]+", re.IGNORECASE)


class PageSource(Protocol):
    """A source of the lines of a document's pages. Page numbers are 1-based."""

    def read(self, page: int) -> list[StyledLine]:
        """Return all lines of `page`."""

    def height(self, page: int) -> float:
        """Return the height of `page` as displayed, in points."""

    def rotation(self, page: int) -> Rotation | None:
        """Return the matrix that converts `page` coordinates to the displayed page, or None if `page` is not rotated."""


@define
class HeaderFooterFilter:
    """A filter that removes running headers, running footers, and page numbers from pages. Call `learn` first."""

    _pages: PageSource
    _known: frozenset[str] = field(default=frozenset(), init=False)
    _median_heights: dict[int, float] = field(factory=dict, init=False)
    _typical_height: float = field(default=0.0, init=False)

    def learn(self, pages: Sequence[int]) -> None:
        """Learn the running headers and footers: the margin lines that repeat on many of `pages`."""
        self._median_heights.clear()
        self._typical_height = _median([self._median_height(page) for page in pages])
        seen: Counter[str] = Counter()
        slots: dict[str, list[StyledLine]] = {}
        said: dict[str, set[str]] = {}
        for page in pages:
            margin = self._margin(page)
            seen.update({_pattern(line) for line in margin})
            for line in margin:
                if self._is_large(page, line):
                    said.setdefault(_pattern(line), set()).add(line.text)
            if self._pages.rotation(page) is None and len(margin) <= MARGIN_LINES:
                for key, line in {
                    _position_key(line): line for line in margin if self._is_set_apart(page, line)
                }.items():
                    slots.setdefault(key, []).append(line)
        enough, often = min(max(3, len(pages) // 8), 12), max(4, len(pages) // 6)
        counted = {
            pattern for pattern, texts in said.items() if len(texts) == seen[pattern] > 1
        }  # Chapter 1, Chapter 2
        self._known = frozenset(
            [pattern for pattern, times in seen.items() if times >= enough and pattern not in counted]
            + [slot for slot, lines in slots.items() if len(lines) >= often and not _are_titles(lines)]
        )

    def body_lines(self, page: int) -> list[StyledLine]:
        """Return the lines of `page` without running headers, running footers, and page numbers, in file order."""
        lines, margin = self._pages.read(page), self._margin(page)
        if len(margin) * len(lines) <= COMPARISON_LIMIT:
            running = {id(line) for line in margin if self._is_running(page, line)}
        else:
            running = {id(line) for line in margin if _pattern(line) in self._known}
        return [line for line in lines if id(line) not in running]

    def _is_set_apart(self, page: int, line: StyledLine) -> bool:
        """Return whether `line` is no larger than most lines, is the first or last of its page, and has a gap of over
        half a line to the text.
        """
        height, middle = line.bottom - line.top, (line.top + line.bottom) / 2
        if self._is_large(page, line, SLOT_RATIO):
            return False
        others = [other for other in self._pages.read(page) if not other.top < middle < other.bottom]
        above = [other.bottom for other in others if other.bottom <= middle]
        below = [other.top for other in others if other.top >= middle]
        first = not above and bool(below) and min(below) - line.bottom > height / 2
        return first or (not below and bool(above) and line.top - max(above) > height / 2)

    def _is_heading_number(self, page: int, number: StyledLine) -> bool:
        """Return whether `number` is larger than body text and next to a line of words in the same size."""
        return self._is_large(page, number) and bool(self._heading_words_next_to(page, number))

    def _heading_words_next_to(self, page: int, number: StyledLine) -> list[StyledLine]:
        """Return the lines next to `number` that have words in the same size."""
        beside = [line for line in self._pages.read(page) if _shares_heading_row(number, line)]
        return [line for line in beside if not _SECTION_NUMBER.fullmatch(line.text)]

    def _is_large(self, page: int, line: StyledLine, ratio: float = LARGE_RATIO) -> bool:
        """Return whether `line` is higher than the usual line of its page and of the document by a factor of `ratio`.

        The page alone is not enough, because some pages have only code.
        """
        return line.bottom - line.top >= ratio * max(self._median_height(page), self._typical_height)

    def _median_height(self, page: int) -> float:
        """Return the median height of the lines of `page`, in points."""
        if page not in self._median_heights:
            self._median_heights[page] = _median([line.bottom - line.top for line in self._pages.read(page)])
        return self._median_heights[page]

    def _margin(self, page: int) -> list[StyledLine]:
        """Return the lines in the top and bottom margins of `page`."""
        lines, turn, height = self._pages.read(page), self._pages.rotation(page), self._pages.height(page)
        top, bottom = height * MARGIN, height * (1 - MARGIN)
        if turn is None:
            return [line for line in lines if line.bottom < top or line.top > bottom]
        shown = ((line, rotated(line, turn)) for line in lines)
        return [line for line, seen in shown if seen.bottom < top or seen.top > bottom]

    def _is_running(self, page: int, line: StyledLine) -> bool:
        """Return whether a line in the margin is a running header, a running footer, or a page number."""
        if _SECTION_NUMBER.fullmatch(line.text) and (words := self._heading_words_next_to(page, line)):
            return all(self._is_running(page, each) for each in words)
        if _pattern(line) in self._known:
            return True
        if _BARE_NUMBER.fullmatch(line.text):
            return not (_SECTION_NUMBER.fullmatch(line.text) or self._is_heading_number(page, line))
        return _position_key(line) in self._known and self._is_set_apart(page, line)


def sample_pages(count: int) -> list[int]:
    """Return 1-based page numbers spread over a document of `count` pages, as pairs of consecutive pages.

    Pairs are used because left-hand and right-hand pages have different headers.
    """
    if count <= SAMPLE_SIZE:
        return list(range(1, count + 1))
    pairs = SAMPLE_SIZE // 2
    starts = [2 + index * (count - 3) // (pairs - 1) for index in range(pairs)]
    return sorted({page for start in starts for page in (start, start + 1) if page <= count})


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0


def _shares_heading_row(number: StyledLine, line: StyledLine) -> bool:
    """Return whether `line` has words, has the same size as `number`, and is next to it on either side."""
    level = abs(number.bottom - line.bottom) < number.size / 2 and number.size == line.size
    apart = max(line.left - number.right, number.left - line.right)
    return level and apart < 3 * number.size and any(character.isalpha() for character in line.text)


def _pattern(line: StyledLine) -> str:
    """Return a key for lines with the same text, apart from numbers, in the same size.

    The size distinguishes a running header from the heading that it repeats.
    """
    return f"{_NUMBER.sub('#', line.text.casefold())}|{line.size:g}"


def _are_titles(lines: Sequence[StyledLine]) -> bool:
    """Return whether bold `lines` in one place of their pages all differ, like titles and unlike running headers."""
    return all(line.bold for line in lines) and len({line.text for line in lines}) == len(lines)


def _position_key(line: StyledLine) -> str:
    """Return a key for lines with the same height on the page and the same font.

    It finds running headers whose text changes because they name the current section.
    """
    return f"{round(line.bottom / 2)}|{line.font}|{line.size:g}"
