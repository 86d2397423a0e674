"""Finds the words of pages in which a passage differs from what a model quoted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from citekit.domain.quotes.marked_words import WordRange
from citekit.domain.quotes.normal_form import letters_of
from citekit.domain.quotes.wording import compared_wording


def differing_words(
    said: str, passage: str, found: Sequence[WordRange], pages: Sequence[Sequence[str]]
) -> list[WordRange]:
    """Return the ranges of words on the pages that are in `passage`, but that `said` leaves out or replaces.

    `found` are the ranges of `marked_words` for the passage on the same pages. The result is empty if the words in
    `found` do not have the letters of the passage.
    """
    pieces = [(each.is_same, letters_of(each.passage)) for each in compared_wording(said, passage)]
    wanted = "".join(text for _, text in pieces)
    each_is_whole = all(wanted in _letters([found_range], pages) for found_range in found)
    groups = [[each] for each in found] if each_is_whole else [list(found)]
    return [word for group in groups for word in _differing(pieces, wanted, group, pages)]


def _differing(
    pieces: Sequence[tuple[bool, str]], wanted: str, group: Sequence[WordRange], pages: Sequence[Sequence[str]]
) -> Iterator[WordRange]:
    """Yield the words of one occurrence of a passage that contain a letter of a differing piece."""
    start = _letters(group, pages).find(wanted)
    if start < 0:
        return
    ends = list(accumulate((len(text) for _, text in pieces), initial=start))
    spans = [(a, b) for (is_same, _), a, b in zip(pieces, ends, ends[1:], strict=False) if not is_same and a < b]
    at = 0
    for each in group:
        for number in range(each.first, each.last + 1):
            end = at + len(letters_of(pages[each.page][number]))
            if any(a < end and at < b for a, b in spans):
                yield WordRange(each.page, number, number)
            at = end


def _letters(ranges: Sequence[WordRange], pages: Sequence[Sequence[str]]) -> str:
    return "".join(letters_of(word) for each in ranges for word in pages[each.page][each.first : each.last + 1])
