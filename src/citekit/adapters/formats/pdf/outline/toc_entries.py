"""The entries of a printed table of contents, with levels from section numbers, indents, and fonts."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.outline.heading_numbers import depth_of, number_parts, rank_of, roman_number_of
from citekit.adapters.formats.shared.roman_numbers import from_roman


@frozen
class TocEntry:
    """An entry of a printed table of contents (TOC).

    `number` is its printed page number. `page` (1-based) and `y` are the target of its link, or None and NaN without a
    link. `toc_page` is the page on which the entry is printed.
    """

    title: str
    number: str
    left: float
    size: float
    bold: bool
    toc_page: int
    page: int | None = None
    y: float = math.nan
    level: int = 1


def pages_ascend(entries: Sequence[TocEntry]) -> bool:
    """Return whether the target pages of the entries ascend, with few exceptions, and are not all the same."""
    pages = [page_order(entry) for entry in entries]
    falls = sum(before > after for before, after in pairwise(pages))
    return falls <= max(1, len(entries) // 8) and len(set(pages)) > 1


def page_order(entry: TocEntry) -> float:
    """Return a number that orders entries by their target: the page of the link, or else the printed page number, Roman
    before Arabic; 0 for other text.
    """
    if entry.page is not None:
        return entry.page
    if entry.number.isdecimal():
        return float(entry.number)
    roman = from_roman(entry.number)
    return roman - 10_000 if roman else 0.0


def with_equal_margins(entries: Sequence[TocEntry]) -> list[TocEntry]:
    """Return the entries, shifted so that left-hand and right-hand pages have the same left margin."""
    margins = [{round(entry.left) for entry in entries if entry.toc_page % 2 == side} for side in (0, 1)]
    even, odd = margins
    if not even or not odd or len(even & odd) * 2 >= min(len(even), len(odd)):
        return list(entries)
    step = min(entry.left for entry in entries if entry.toc_page % 2) - min(
        entry.left for entry in entries if not entry.toc_page % 2
    )
    return [evolve(entry, left=entry.left + step) if entry.toc_page % 2 == 0 else entry for entry in entries]


TOLERANCE = 2.5
"""The maximum difference in points between two indents of one level."""

NUMBERED_SHARE = 0.3
"""The minimum share of numbered entries for numbers to determine levels."""


def with_levels(entries: Sequence[TocEntry]) -> list[TocEntry]:
    """Return the entries with their levels (1 is the top level).

    The level is the depth of the entry's number, or else the usual level of its indent. If few entries have numbers,
    indents and fonts decide.
    """
    parts = _part_entries(entries)
    depths = [0 if entry in parts else depth_of(entry.title) for entry in entries]
    indents = _indent_ranks(entries)
    if sum(map(bool, depths)) < NUMBERED_SHARE * len(entries):
        return _by_indent(entries, indents, parts)
    usual = _usual_depths(depths, indents)
    levels = [
        0 if entry in parts else depth or usual[indent]
        for entry, depth, indent in zip(entries, depths, indents, strict=True)
    ]
    least = min(levels)
    return [evolve(entry, level=level - least + 1) for entry, level in zip(entries, levels, strict=True)]


def _part_entries(entries: Sequence[TocEntry]) -> set[TocEntry]:
    """Return the entries that are one level above those with plain numbers: those named as parts (`Part II`), those
    with Roman numerals if other entries have other numbers or prevail, or else chapters in which sections are counted.
    """
    named = {entry for entry in entries if rank_of(entry.title) == 0}
    roman = [entry for entry in entries if roman_number_of(entry.title)]
    counted = [roman_number_of(entry.title) for entry in roman]
    beside = any(depth_of(entry.title) for entry in entries) or len(roman) * 2 < len(entries)
    if "I" in counted and "II" in counted and beside:
        named |= set(roman)
    return named or _chapters_of_sections(entries)


def _chapters_of_sections(entries: Sequence[TocEntry]) -> set[TocEntry]:
    """Return the entries named as chapters (`Chapter 2.`), with unnumbered ones at their indent, if plain numbers of
    sections begin again at 1 after several of them; otherwise, none.
    """
    chapters = [entry for entry in entries if rank_of(entry.title) == 1]
    begun = sum(rank_of(one.title) == 1 and number_parts(two.title) == ("1",) for one, two in pairwise(entries))
    if begun < 2:
        return set()
    unnumbered = (entry for entry in entries if rank_of(entry.title) is None and not depth_of(entry.title))
    return {*chapters, *(entry for entry in unnumbered if entry.left - chapters[0].left <= TOLERANCE)}


def _indent_ranks(entries: Sequence[TocEntry]) -> list[int]:
    """Return the rank of each entry's indent among all indents (0 is the smallest indent)."""
    starts: list[float] = []
    for left in sorted(entry.left for entry in entries):
        if not starts or left - starts[-1] > TOLERANCE:
            starts.append(left)
    return [bisect_right(starts, entry.left) - 1 for entry in entries]


def _usual_depths(depths: Sequence[int], indents: Sequence[int]) -> dict[int, int]:
    """Return the most common number depth of the entries at each indent, or else one more than at the next smaller
    indent.
    """
    usual: dict[int, int] = {}
    counted: dict[int, Counter[int]] = {indent: Counter() for indent in indents}
    for depth, indent in zip(depths, indents, strict=True):
        counted[indent].update([depth] if depth else [])
    previous = 0
    for indent, own in sorted(counted.items()):
        previous = own.most_common(1)[0][0] if own else previous + 1
        usual[indent] = previous
    return usual


def _by_indent(entries: Sequence[TocEntry], indents: Sequence[int], parts: set[TocEntry]) -> list[TocEntry]:
    """Return the entries with levels derived from their indent and, if there are at most two indents, their size and
    weight.
    """
    keys = [
        (-1, 0.0, False) if entry in parts else (indent, -entry.size, not entry.bold)
        for entry, indent in zip(entries, indents, strict=True)
    ]
    if len({indent for indent, _, _ in keys}) > 2:
        keys = [(indent, 0.0, False) for indent, _, _ in keys]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)), 1)}
    return [evolve(entry, level=ranks[key]) for entry, key in zip(entries, keys, strict=True)]
