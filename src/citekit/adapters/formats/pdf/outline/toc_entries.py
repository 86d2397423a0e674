"""The entries of a printed table of contents, and the order in which they lead on.

The levels of the entries of a table of contents: by their numbers, their indents and their type.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.outline.heading_numbers import depth_of, rank_of, roman_of


@frozen
class Entry:
    """`number` is the printed one of its page, "" where only a link tells; `page` is where the link leads, else None.

    `left`, `size` and `bold` tell its level, `on` is the page of the contents, `link` where it leads.
    """

    title: str
    number: str
    left: float
    size: float
    bold: bool
    on: int
    page: int | None = None
    y: float = math.nan
    level: int = 1


def rises(entries: Sequence[Entry]) -> bool:
    """Whether the pages that the entries name follow one another, with few exceptions."""
    places = [order_of(entry) for entry in entries]
    falls = sum(before > after for before, after in pairwise(places))
    return falls <= max(1, len(entries) // 8) and len(set(places)) > 1


def order_of(entry: Entry) -> float:
    """Where an entry leads, as a number that rises through a document: the page of its link, else the printed one."""
    if entry.page is not None:
        return entry.page
    if entry.number.isdecimal():
        return float(entry.number)
    roman = roman_number(entry.number)
    return roman - 10_000 if roman else 0.0


def roman_number(text: str) -> int:
    """The value of a Roman number in lower case, 0 where it is none."""
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
    total = 0
    for one, following in pairwise([*text, ""]):
        value = values.get(one, 0)
        if not value:
            return 0
        total += -value if values.get(following, 0) > value else value
    return total


def aligned(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of one table with equal margins on left and right pages, which may differ."""
    margins = [{round(entry.left) for entry in entries if entry.on % 2 == side} for side in (0, 1)]
    even, odd = margins
    if not even or not odd or len(even & odd) * 2 >= min(len(even), len(odd)):
        return list(entries)
    step = min(entry.left for entry in entries if entry.on % 2) - min(
        entry.left for entry in entries if not entry.on % 2
    )
    return [evolve(entry, left=entry.left + step) if entry.on % 2 == 0 else entry for entry in entries]


TOLERANCE = 2.5
"""Points that two indents of one level may differ."""

NUMBERED = 0.3
"""The part of the entries that must be numbered for numbers to tell levels."""


def levels_of(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with levels from 1. A number tells the level; an entry without one has that of its indent."""
    parts = _parts(entries)
    depths = [0 if entry in parts else depth_of(entry.title) for entry in entries]
    indents = _indents(entries)
    if sum(map(bool, depths)) < NUMBERED * len(entries):
        return _by_indent(entries, indents, parts)
    usual = _usual(depths, indents)
    levels = [
        0 if entry in parts else depth or usual[indent]
        for entry, depth, indent in zip(entries, depths, indents, strict=True)
    ]
    least = min(levels)
    return [evolve(entry, level=level - least + 1) for entry, level in zip(entries, levels, strict=True)]


def _parts(entries: Sequence[Entry]) -> set[Entry]:
    """Entries above the chapters: called parts, or with Roman numbers beside others without such."""
    named = {entry for entry in entries if rank_of(entry.title) == 0}
    roman = [entry for entry in entries if roman_of(entry.title)]
    counted = [roman_of(entry.title) for entry in roman]
    beside = any(depth_of(entry.title) for entry in entries) or len(roman) * 2 < len(entries)
    if "I" in counted and "II" in counted and beside:
        named |= set(roman)
    return named


def _indents(entries: Sequence[Entry]) -> list[int]:
    """For each entry, which indent of the table it has, from 0."""
    starts: list[float] = []
    for left in sorted(entry.left for entry in entries):
        if not starts or left - starts[-1] > TOLERANCE:
            starts.append(left)
    return [bisect_right(starts, entry.left) - 1 for entry in entries]


def _usual(depths: Sequence[int], indents: Sequence[int]) -> dict[int, int]:
    """The depth of most numbered entries of each indent; one without any is a level deeper than the one before it."""
    usual: dict[int, int] = {}
    counted: dict[int, Counter[int]] = {indent: Counter() for indent in indents}
    for depth, indent in zip(depths, indents, strict=True):
        counted[indent].update([depth] if depth else [])
    previous = 0
    for indent, own in sorted(counted.items()):
        previous = own.most_common(1)[0][0] if own else previous + 1
        usual[indent] = previous
    return usual


def _by_indent(entries: Sequence[Entry], indents: Sequence[int], parts: set[Entry]) -> list[Entry]:
    """Deeper where more indented; among those of one indent the larger and the bold ones are above the others."""
    keys = [
        (-1, 0.0, False) if entry in parts else (indent, -entry.size, not entry.bold)
        for entry, indent in zip(entries, indents, strict=True)
    ]
    if len({indent for indent, _, _ in keys}) > 2:
        keys = [(indent, 0.0, False) for indent, _, _ in keys]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)), 1)}
    return [evolve(entry, level=ranks[key]) for entry, key in zip(entries, keys, strict=True)]
