"""Finds the words of pages that a quote consists of, so that a viewer can mark them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from attrs import define, field, frozen

from citekit.domain.quotes.normal_form import letters_of
from citekit.domain.quotes.superscripts import CUT, on_the_line

LEAST = 8
"""Minimum number of letters of a part of a quote, unless the part is the rest of the quote."""

MARK, HEADER, FOOTER = 8, 1_000, 3_000
"""Maximum number of letters between two parts of a quote: for a footnote mark, for the header of the next page, and for
the footer and footnotes of the preceding page.
"""

PARTS = 200
"""Maximum number of parts of a quote."""

OCCURRENCES = 100
"""Maximum number of occurrences of a quote that are marked on one page."""


@frozen
class WordRange:
    """The words from `first` to `last`, both included, of the page `page`. The numbers count from 0."""

    page: int
    first: int
    last: int


@define
class _Letters:
    """The letters of the words of one page. The letters of word i begin at `starts[i]`."""

    text: str
    starts: list[int] = field(factory=list)

    @classmethod
    def of(cls, words: Sequence[str]) -> _Letters:
        pieces, starts, length = list[str](), list[int](), 0
        for word in words:
            starts.append(length)
            pieces.append(letters_of(word))
            length += len(pieces[-1])
        return cls("".join(pieces), starts)

    def words(self, page: int, start: int, end: int) -> WordRange:
        return WordRange(page, bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1) - 1)


def marked_words(quote: str, pages: Sequence[Sequence[str]]) -> list[WordRange]:
    """Return the words that make up `quote` on consecutive pages. `pages` has the words of each page.

    If the whole quote is on one page, its occurrences on these pages are returned. Otherwise, the quote is divided into
    parts that follow one another, such as the end of one page and the beginning of the next without its header. The
    result is empty unless the parts have all letters of the quote, because other marks would be misleading.
    """
    letters = [_Letters.of(words) for words in pages]
    for text in dict.fromkeys((quote, on_the_line(quote))):  # words of a page have no superscripts
        wanted = "".join(letters_of(part) for part in text.split(CUT))
        whole = [found for page, each in enumerate(letters) for found in _occurrences(wanted, each, page)]
        found = whole or _parts(wanted, letters)
        if found:
            return found
    return []


def _occurrences(wanted: str, page: _Letters, number: int) -> list[WordRange]:
    found: list[WordRange] = []
    start = page.text.find(wanted) if wanted else -1
    while start >= 0 and len(found) < OCCURRENCES:
        found.append(page.words(number, start, start + len(wanted)))
        start = page.text.find(wanted, start + len(wanted))
    return found


def _parts(wanted: str, pages: Sequence[_Letters]) -> list[WordRange]:
    """Return the words of the longest parts of `wanted` that follow one another, or nothing unless they have all
    letters.
    """
    found: list[WordRange] = []
    done, number, after = 0, 0, 0
    while done < len(wanted):
        if number == len(pages) or len(found) == PARTS:
            return []
        page = pages[number].text
        start, size = _longest(wanted, done, page, after, _end_of_search(page, after, is_first=not found))
        if size < min(LEAST, len(wanted) - done) or (after and sum(map(str.isalpha, page[after:start])) > 1):
            if found and len(page) - after > FOOTER:
                return []
            number, after = number + 1, 0
            continue
        found.append(pages[number].words(number, start, start + size))
        done, after = done + size, start + size
    return found


def _end_of_search(page: str, after: int, *, is_first: bool) -> int:
    """Return the last offset at which the next part of a quote may begin on a page."""
    if is_first:
        return len(page)
    return after + (MARK if after else HEADER)


def _longest(wanted: str, done: int, text: str, after: int, last: int) -> tuple[int, int]:
    """Return the position in `text`, between `after` and `last`, of the longest prefix of `wanted[done:]`, and its
    length.
    """
    low, high, place = 0, len(wanted) - done, after
    while low < high:
        middle = (low + high + 1) // 2
        start = text.find(wanted[done : done + middle], after, last + middle)
        if start < 0:
            high = middle - 1
        else:
            low, place = middle, start
    return place, low
