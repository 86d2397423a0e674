"""The entries of a printed table of contents, and the order in which they lead on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve, frozen


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
