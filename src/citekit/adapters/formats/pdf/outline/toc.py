"""The printed tables of contents of a document: read, nested, and matched to the pages they name."""

from __future__ import annotations

import math
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.page_labels import LabelRule, read_labels
from citekit.adapters.formats.pdf.outline.heading_numbers import unnumbered
from citekit.adapters.formats.pdf.outline.lines import Typed
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.toc_entries import Entry, roman_number

DEEPEST = 20
"""Levels to which tables of parts are put below one another; a thousand would be nested too deeply to be walked."""

FOUND = 0.5
"""The part of its entries that must stand on the pages they name: else the list is no table of contents."""

REPEATED = 0.8
"""The part of the entries of a table that a longer one repeats."""


@frozen
class Promised:
    """An entry with its place: `page` from 1, `y` from the top or NaN, and the `lines` there that say its title."""

    title: str
    level: int
    page: int
    y: float
    lines: tuple[Typed, ...]


@frozen
class Contents:
    """The entries in reading order, and the pages that the tables themselves take."""

    entries: tuple[Promised, ...] = ()
    pages: frozenset[int] = frozenset()


def read_contents(texts: PageTexts, tables: Sequence[Sequence[Entry]]) -> Contents:
    """What the printed `tables` of contents promise, as far as it stands where they say. Empty where there are none."""
    pages = frozenset(entry.on for table in tables for entry in table)
    tables = _without_short(tables)
    if not tables:
        return Contents()
    finder = _Finder(texts, pages)
    kept: list[list[Promised]] = []
    for table in tables:
        promised = finder.place(_leading_on(table))
        if sum(bool(each.lines) for each in promised) >= FOUND * len(promised) > 0:
            kept.append(promised)
    return Contents(tuple(_merged(kept)), pages)


def _without_short(tables: Sequence[Sequence[Entry]]) -> list[Sequence[Entry]]:
    """The tables without those that the next one repeats, as `Contents` do `Short contents`."""
    said = [{letters(entry.title) for entry in table} for table in tables]
    return [
        table
        for own, following, table in zip(said, [*said[1:], set()], tables, strict=False)
        if len(following) <= len(own) or len(own & following) < REPEATED * len(own)
    ]


def _leading_on(group: Sequence[Entry]) -> list[Entry]:
    """The entries without links back into the table; sections may begin below it on its last page."""
    own = {entry.on for entry in group}
    return [entry for entry in group if entry.page not in own or entry.page == max(own)]


class _Finder:
    """Finds titles on pages. `skipped` are the pages of the tables themselves."""

    def __init__(self, texts: PageTexts, skipped: frozenset[int]) -> None:
        self._texts, self._skipped = texts, skipped
        self._labels = _labelled(read_labels(texts.document), texts.count)
        self._pages: dict[str, list[int]] | None = None
        self._letters: dict[int, list[str]] = {}

    def place(self, group: Sequence[Entry]) -> list[Promised]:
        offsets = self._offsets(group)
        return [promised for entry in group if (promised := self._placed(entry, offsets)) is not None]

    def _placed(self, entry: Entry, offsets: dict[bool, int]) -> Promised | None:
        likely = self._likely(entry, offsets)
        for page in likely:
            lines = self._said(entry, page)
            if lines:
                return Promised(entry.title, entry.level, page, lines[0].top, lines)
        return Promised(entry.title, entry.level, likely[0], entry.y, ()) if likely else None

    def _likely(self, entry: Entry, offsets: dict[bool, int]) -> list[int]:
        """Pages where the title may stand, the likeliest first."""
        roman, number = _value(entry)
        near = [number + offsets[roman]] if number and roman in offsets else []
        if entry.page is not None:
            low = entry.y > 0.85 * self._texts.height(entry.page)
            near = [entry.page, *([entry.page + 1] if low else []), *near]  # links may be wrong, too
        else:
            labelled = self._labels.get(entry.number)
            near = [*([labelled] if labelled else []), *near, *(page + step for page in near for step in (1, -1))]
            own = self._where(entry)
            near += own if len(own) == 1 else []
        return [page for page in near if 1 <= page <= self._texts.count]

    def _said(self, entry: Entry, page: int) -> tuple[Typed, ...]:
        found = list(lines_that_say(entry.title, *self._lines(page)))
        if not found:
            return ()
        placed = math.isfinite(entry.y) and page == entry.page
        return min(found, key=lambda lines: abs(lines[0].top - entry.y)) if placed else _largest(found)

    def _lines(self, page: int) -> tuple[Sequence[Typed], Sequence[str]]:
        """The lines of a page and their letters, which many entries are looked for among."""
        lines = self._texts.lines(page) or self._texts.read(page)
        if page not in self._letters:
            self._letters[page] = [letters(line.text) for line in lines]
        return lines, self._letters[page]

    def _offsets(self, entries: Sequence[Entry]) -> dict[bool, int]:
        """How far physical pages are ahead of printed ones, for Arabic (False) and Roman (True) numbers."""
        votes: dict[bool, Counter[int]] = {False: Counter(), True: Counter()}
        for entry in entries:
            roman, number = _value(entry)
            if number:
                pages = self._where(entry)[:20] if entry.page is None else [entry.page]
                votes[roman].update(page - number for page in pages)
        return {
            roman: max(found.items(), key=lambda vote: (vote[1], -abs(vote[0])))[0]
            for roman, found in votes.items()
            if found
        }

    def _where(self, entry: Entry) -> list[int]:
        """The pages on which a line, or the first of two, says the title."""
        if self._pages is None:
            self._pages = {}
            for page in range(1, self._texts.count + 1):
                for text in () if page in self._skipped else {letters(line.text) for line in self._texts.lines(page)}:
                    if len(text) >= 3:
                        self._pages.setdefault(text, []).append(page)
        return self._pages.get(letters(entry.title), [])


def _value(entry: Entry) -> tuple[bool, int]:
    """Whether the printed number of the entry is a Roman one, and what it is worth, 0 where it is none."""
    roman = not entry.number.isdecimal()
    return roman, roman_number(entry.number) if roman else int(entry.number)


def _largest(found: Sequence[tuple[Typed, ...]]) -> tuple[Typed, ...]:
    return max(found, key=lambda lines: (lines[0].size, lines[0].bold, -lines[0].top))


class _Letters(dict[int, int | None]):
    """For `str.translate`: letters and digits stay, all else goes. Filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        kept = self[code] = code if chr(code).isalnum() else None
        return kept


_LETTERS = _Letters()


def letters(text: str) -> str:
    """What two printings of a title share: its letters and digits without the number before it, in lower case."""
    return unnumbered(text).casefold().translate(_LETTERS)


def lines_that_say(title: str, lines: Sequence[Typed], said: Sequence[str]) -> Iterator[tuple[Typed, ...]]:
    """Each place among `lines`, whose letters are `said`, where one, or up to four in a row, say all of `title`."""
    wanted = letters(title)
    if not wanted:
        return
    for place, first in enumerate(said):
        if not first or not wanted.startswith(first):
            continue
        text, end = first, place + 1
        while text != wanted and end < min(place + 4, len(said)) and said[end] and wanted.startswith(text + said[end]):
            text, end = text + said[end], end + 1
        if text == wanted:
            yield tuple(lines[place:end])


def _labelled(rules: Sequence[LabelRule], count: int) -> dict[str, int]:
    """The page of each decimal or Roman label, where labels say more than physical numbers."""
    found: dict[str, int] = {}
    for place, rule in enumerate(rules):
        last = rules[place + 1].first - 1 if place + 1 < len(rules) else count
        for page in range(rule.first, last + 1):
            number = rule.start + page - rule.first
            label = f"{rule.prefix}{number}" if rule.style == "D" else rule.prefix + _roman(number, rule.style)
            found.setdefault(label, page)
    return found if len(rules) > 1 or (rules and (rules[0].prefix or rules[0].start != 1)) else {}


def _roman(number: int, style: str) -> str:
    if style not in ("r", "R") or number > 3999:
        return ""
    text = ""
    for value, sign in zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    ):
        text += sign * (number // value)
        number %= value
    return text if style == "r" else text.upper()


def _merged(groups: Iterable[Sequence[Promised]]) -> list[Promised]:
    """The tables as one: that of a part goes below the entry of the part, and what is said twice counts once."""
    merged: list[Promised] = []
    known: set[tuple[str, int]] = set()
    in_order = False
    for group in groups:
        new = [each for each in group if (letters(each.title), each.page) not in known]
        if merged and new:
            step = _level_below(merged, group, new[0], known) - min(each.level for each in new)
            if not in_order:
                merged.sort(key=_place)
                in_order = True
            for each in new:
                insort(merged, evolve(each, level=min(each.level + step, DEEPEST)), key=_place)
        else:
            merged += new
        known.update((letters(each.title), each.page) for each in new)
    return merged


def _place(promised: Promised) -> tuple[int, float]:
    return promised.page, promised.y if math.isfinite(promised.y) else -1.0


def _level_below(
    merged: Sequence[Promised], group: Sequence[Promised], first: Promised, known: set[tuple[str, int]]
) -> int:
    """The level of a later table's highest entries: that of one both have, else one below the nearest before."""
    shared = [each for each in group if (letters(each.title), each.page) in known]
    if shared:
        return min(each.level for each in shared) + 1
    above = next((each for each in reversed(merged) if each.page <= first.page), None)
    return above.level + 1 if above else 1
