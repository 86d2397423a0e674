"""Removes running headers, running footers, and page numbers: lines in the margins that repeat on many pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median_high

from attrs import frozen

from citekit.adapters.formats.pdf.outline.heading_numbers import is_label
from citekit.adapters.formats.pdf.outline.lines import StyledLine, rotated
from citekit.adapters.formats.pdf.outline.page_reader import Page

SAMPLE_SIZE = 24
"""The maximum number of sample pages from which repeated lines are learned.

Scans are searched for in a sample of at least this many pages with large images.
"""

MARGIN = 0.12
"""The share of a page's height, at the top and at the bottom, that holds running headers and footers."""

MARGIN_LINES = 60
"""The maximum number of lines in the margins of a page; a page with more is usually not a page of text."""

COMPARISON_LIMIT = 1_000_000
"""The maximum product of margin lines and page lines for which the neighbors of margin lines are inspected."""

LARGE_RATIO = 1.25
"""Lines taller than usual by this factor that differ only in numbers are headings, not running headers."""

SLOT_RATIO = 1.1
"""Different lines in one position that are taller than usual by this factor are titles."""

_NUMBER = re.compile(r"\d+")
_SECTION_NUMBER = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?")
_BARE_NUMBER = re.compile(r"[\W\d]*|[ivxlc]+", re.IGNORECASE)


@frozen
class HeadersFooters:
    """The running headers and footers of a document.

    `keys` are the texts and the positions of lines that repeat in the margins. `line_height` is the usual height of a
    line in points.
    """

    keys: frozenset[str]
    line_height: float


def learn_headers_footers(pages: Sequence[Page]) -> HeadersFooters:
    """Return the running headers and footers: the margin lines that repeat on many of `pages`."""
    line_height = median_high([page.line_height for page in pages]) if pages else 0.0
    seen: Counter[str] = Counter()
    slots: dict[str, list[StyledLine]] = {}
    said: dict[str, set[str]] = {}
    for page in pages:
        margin = _margin(page)
        seen.update({_pattern(line) for line in margin})
        for line in margin:
            if _is_large(page, line, line_height) or (line.bold and is_label(line.text)):
                said.setdefault(_pattern(line), set()).add(_letters(line))
        if page.rotation is None and len(margin) <= MARGIN_LINES:
            apart = {_position_key(line): line for line in margin if _is_set_apart(page, line, line_height)}
            for key, line in apart.items():
                slots.setdefault(key, []).append(line)
    enough, often = min(max(3, len(pages) // 8), 12), max(4, len(pages) // 6)
    counted = {pattern for pattern, texts in said.items() if len(texts) == seen[pattern] > 1}  # Chapter 1, Chapter 2
    return HeadersFooters(
        frozenset(
            [pattern for pattern, times in seen.items() if times >= enough and pattern not in counted]
            + [slot for slot, lines in slots.items() if len(lines) >= often and not _are_titles(lines)]
        ),
        line_height,
    )


def body_lines(page: Page, learned: HeadersFooters) -> list[StyledLine]:
    """Return the lines of `page` without running headers, running footers, and page numbers, in file order."""
    margin = _margin(page)
    if len(margin) * len(page.lines) <= COMPARISON_LIMIT:
        running = {id(line) for line in margin if _is_running(page, line, learned)}
    else:
        running = {id(line) for line in margin if _pattern(line) in learned.keys}
    return [line for line in page.lines if id(line) not in running]


def _margin(page: Page) -> list[StyledLine]:
    top, bottom = page.height * MARGIN, page.height * (1 - MARGIN)
    if page.rotation is None:
        return [line for line in page.lines if line.bottom < top or line.top > bottom]
    shown = ((line, rotated(line, page.rotation)) for line in page.lines)
    return [line for line, seen in shown if seen.bottom < top or seen.top > bottom]


def _is_running(page: Page, line: StyledLine, learned: HeadersFooters) -> bool:
    """Return whether a line in the margin is a running header, a running footer, or a page number."""
    if _SECTION_NUMBER.fullmatch(line.text) and (words := _heading_words_next_to(page, line)):
        return all(_is_running(page, each, learned) for each in words)
    if _pattern(line) in learned.keys:
        return True
    if _BARE_NUMBER.fullmatch(line.text):
        return not (_SECTION_NUMBER.fullmatch(line.text) or _is_heading_number(page, line, learned))
    return _position_key(line) in learned.keys and _is_set_apart(page, line, learned.line_height)


def _is_set_apart(page: Page, line: StyledLine, line_height: float) -> bool:
    """Return whether `line` is the first or last of its page, with a gap of over half a line to the text, and not
    large.
    """
    height, middle = line.bottom - line.top, (line.top + line.bottom) / 2
    if _is_large(page, line, line_height, SLOT_RATIO):
        return False
    others = [other for other in page.lines if not other.top < middle < other.bottom]
    above = [other.bottom for other in others if other.bottom <= middle]
    below = [other.top for other in others if other.top >= middle]
    first = not above and bool(below) and min(below) - line.bottom > height / 2
    return first or (not below and bool(above) and line.top - max(above) > height / 2)


def _is_heading_number(page: Page, number: StyledLine, learned: HeadersFooters) -> bool:
    """Return whether `number` is larger than body text and next to a line of words in the same size."""
    return _is_large(page, number, learned.line_height) and bool(_heading_words_next_to(page, number))


def _heading_words_next_to(page: Page, number: StyledLine) -> list[StyledLine]:
    """Return the lines next to `number` that have words in the same size."""
    beside = [line for line in page.lines if _shares_heading_row(number, line)]
    return [line for line in beside if not _SECTION_NUMBER.fullmatch(line.text)]


def _is_large(page: Page, line: StyledLine, line_height: float, ratio: float = LARGE_RATIO) -> bool:
    """Return whether `line` is taller than the usual line of its page (which may have only code) and of the document by
    a factor of `ratio`.
    """
    return line.bottom - line.top >= ratio * max(page.line_height, line_height)


def sample_pages(count: int) -> list[int]:
    """Return at most `SAMPLE_SIZE` 1-based page numbers spread over a document of `count` pages, in ascending order.

    In a longer document, they are pairs of consecutive pages, because left-hand and right-hand pages differ.
    """
    if count <= SAMPLE_SIZE:
        return list(range(1, count + 1))
    pairs = SAMPLE_SIZE // 2
    starts = [2 + index * (count - 3) // (pairs - 1) for index in range(pairs)]
    return sorted({page for start in starts for page in (start, start + 1) if page <= count})


def _shares_heading_row(number: StyledLine, line: StyledLine) -> bool:
    """Return whether `line` has words, has the size of `number`, and is next to it on either side."""
    level = abs(number.bottom - line.bottom) < number.size / 2 and number.size == line.size
    apart = max(line.left - number.right, number.left - line.right)
    return level and apart < 3 * number.size and any(character.isalpha() for character in line.text)


def _pattern(line: StyledLine) -> str:
    """Return a key that lines share if they have the same size and, apart from numbers and spaces, the same text.

    Text recognition reads spaces differently on each page. A heading with the text of a running header usually has
    another size.
    """
    return f"{_NUMBER.sub('#', _letters(line))}|{line.size:g}"


def _letters(line: StyledLine) -> str:
    """Return the text of `line` in lower case without spaces."""
    return "".join(line.text.casefold().split())


def _are_titles(lines: Sequence[StyledLine]) -> bool:
    """Return whether `lines` in one position on their pages are bold and all differ, unlike running headers."""
    return all(line.bold for line in lines) and len({line.text for line in lines}) == len(lines)


def _position_key(line: StyledLine) -> str:
    """Return a key for lines with the same height on the page and the same font, such as running headers that name the
    section.
    """
    return f"{round(line.bottom / 2)}|{line.font}|{line.size:g}"
