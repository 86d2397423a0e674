"""Merges the printed tables of contents (TOCs) of a document and locates their entries."""

from __future__ import annotations

import math
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.page_labels import LabelRule, read_labels
from citekit.adapters.formats.pdf.lazy import Lazy
from citekit.adapters.formats.pdf.outline.heading_numbers import series_of, unnumbered
from citekit.adapters.formats.pdf.outline.headings import is_capitals, join_lines
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.toc_entries import TocEntry
from citekit.adapters.formats.pdf.outline.toc_tables import MIN_ENTRIES, has_toc_heading
from citekit.adapters.formats.shared.roman_numbers import from_roman, to_roman

LEVEL_LIMIT = 20
"""The maximum number of levels of nested tables."""

FOUND_SHARE = 0.5
"""The minimum share of entries of a TOC whose titles must be found on the pages they name."""

REPEATED_SHARE = 0.8
"""The minimum share of the entries of a table that the following, longer table must repeat to replace it."""


@frozen
class TocTarget:
    """A TOC entry with its target: the 1-based page, the distance `y` from the page's top, and the lines of the title.

    `y` is in points, or NaN if unknown. `lines` is empty if the title is not found on the page.
    """

    title: str
    level: int
    page: int
    y: float
    lines: tuple[StyledLine, ...]


@frozen
class Toc:
    """The located entries of a table of contents in reading order, and the pages that the printed table occupies."""

    targets: tuple[TocTarget, ...] = ()
    pages: frozenset[int] = frozenset()


def locate_toc(texts: PageTexts, tables: Sequence[Sequence[TocEntry]]) -> Toc:
    """Return the entries of the printed `tables` with the pages that they lead to.

    A table may be just a table of numbers, so it is left out if most of its titles are not found or if fewer than
    `MIN_ENTRIES` entries remain.
    """
    pages = frozenset(entry.toc_page for table in tables for entry in table)
    tables = _without_short_tables(tables)
    if not tables:
        return Toc()
    finder = _TitleFinder(texts, pages)
    kept: list[list[TocTarget]] = []
    occupied = {page for page in pages if has_toc_heading(texts.lines(page))}
    for table in tables:
        promised = finder.locate(_without_back_links(table))
        if len(promised) >= MIN_ENTRIES and sum(bool(each.lines) for each in promised) >= FOUND_SHARE * len(promised):
            kept.append(promised)
            occupied.update(entry.toc_page for entry in table)
    return Toc(tuple(_merged(kept)), frozenset(occupied))


def _without_short_tables(tables: Sequence[Sequence[TocEntry]]) -> list[Sequence[TocEntry]]:
    """Return the tables without those that the next table repeats in more detail ("Short Contents" before "Contents")."""
    said = [{title_key(entry.title) for entry in table} for table in tables]
    return [
        table
        for own, following, table in zip(said, [*said[1:], set()], tables, strict=False)
        if len(following) <= len(own) or len(own & following) < REPEATED_SHARE * len(own)
    ]


def _without_back_links(group: Sequence[TocEntry]) -> list[TocEntry]:
    """Return the entries except those whose links lead back to TOC pages other than the last, where a section may
    start.
    """
    own = {entry.toc_page for entry in group}
    return [entry for entry in group if entry.page not in own or entry.page == max(own)]


class _TitleFinder:
    """A finder of the pages on which TOC titles are printed. `skipped` are the pages of the TOC itself."""

    def __init__(self, texts: PageTexts, skipped: frozenset[int]) -> None:
        self._texts, self._skipped = texts, skipped
        self._labels = _pages_by_label(read_labels(texts.reader.document), texts.count)
        self._pages: dict[str, list[int]] | None = None
        self._letters: dict[int, list[str]] = {}

    def locate(self, group: Sequence[TocEntry]) -> list[TocTarget]:
        offsets = self._offsets(group)
        if self._found_by_labels(group) < self._found_by_offsets(group, offsets):
            self._labels = {}
        return [promised for entry in group if (promised := self._target_of(entry, offsets)) is not None]

    def _found_by_labels(self, group: Sequence[TocEntry]) -> int:
        """Return the number of titles on the pages whose labels are the printed numbers."""
        return (
            sum(self._labels.get(entry.number) in self._pages_with_title(entry) for entry in group)
            if self._labels
            else 0
        )

    def _found_by_offsets(self, group: Sequence[TocEntry], offsets: dict[bool, int]) -> int:
        """Return the number of titles on the pages to which the offsets lead."""
        numbers = [(entry, *_page_number(entry)) for entry in group] if self._labels else []
        return sum(n + offsets.get(roman, 0) in self._pages_with_title(entry) for entry, roman, n in numbers if n)

    def _target_of(self, entry: TocEntry, offsets: dict[bool, int]) -> TocTarget | None:
        likely = self._candidate_pages(entry, offsets)
        for find, page in ((find, page) for find in (self._title_lines, self._series_lines) for page in likely):
            lines = find(entry, page)
            if lines:
                return TocTarget(_printed_title(entry.title, lines), entry.level, page, lines[0].top, lines)
        return TocTarget(entry.title, entry.level, likely[0], entry.y, ()) if likely else None

    def _candidate_pages(self, entry: TocEntry, offsets: dict[bool, int]) -> list[int]:
        """Return the pages on which the entry's title may be printed, the most likely page first."""
        roman, number = _page_number(entry)
        near = [number + offsets[roman]] if number and roman in offsets else []
        if entry.page is not None:
            near = [entry.page, entry.page + 1, *near]  # links may be wrong, or lead to the end of the page before
        else:
            labelled = self._labels.get(entry.number)
            near = [*([labelled] if labelled else []), *near, *(page + step for page in near for step in (1, -1))]
            own = self._pages_with_title(entry)
            near += own if len(own) == 1 else []
        return [page for page in near if 1 <= page <= self._texts.count]

    def _title_lines(self, entry: TocEntry, page: int) -> tuple[StyledLine, ...]:
        found = list(find_title(entry.title, *self._lines(page)))
        if not found:
            return ()
        placed = math.isfinite(entry.y) and page == entry.page
        return min(found, key=lambda lines: abs(lines[0].top - entry.y)) if placed else _largest(found)

    def _series_lines(self, entry: TocEntry, page: int) -> tuple[StyledLine, ...]:
        """Return the line of `page` with the label of the entry (`Item 5.`), but another title."""
        own = series_of(entry.title)
        if own is None or len(own[0]) == 1:
            return ()
        return tuple(line for line in self._lines(page)[0] if series_of(line.text) == own)[:1]

    def _lines(self, page: int) -> tuple[Sequence[StyledLine], Sequence[str]]:
        """Return the lines of `page` and their title keys."""
        lines = self._texts.lines(page) or self._texts.read(page)
        if page not in self._letters:
            self._letters[page] = [title_key(line.text) for line in lines]
        return lines, self._letters[page]

    def _offsets(self, entries: Sequence[TocEntry]) -> dict[bool, int]:
        """Return the most common difference between physical and printed page numbers, by whether these are Roman."""
        votes: dict[bool, Counter[int]] = {False: Counter(), True: Counter()}
        for entry in entries:
            roman, number = _page_number(entry)
            if number:
                pages = self._pages_with_title(entry)[:20] if entry.page is None else [entry.page]
                votes[roman].update(page - number for page in pages)
        return {
            roman: max(found.items(), key=lambda vote: (vote[1], -abs(vote[0])))[0]
            for roman, found in votes.items()
            if found
        }

    def _pages_with_title(self, entry: TocEntry) -> list[int]:
        """Return the pages, other than those of the TOC, that have a line with the title of `entry`."""
        if self._pages is None:
            self._pages = {}
            for page in range(1, self._texts.count + 1):
                for text in () if page in self._skipped else {title_key(line.text) for line in self._texts.lines(page)}:
                    if len(text) >= 3:
                        self._pages.setdefault(text, []).append(page)
        return self._pages.get(title_key(entry.title), [])


def _printed_title(title: str, lines: Sequence[StyledLine]) -> str:
    """Return the `title` of an entry. If it is in capitals, but its page prints it with small letters in `lines`,
    return the printed title with the number of the entry.
    """
    own, printed = unnumbered(title), unnumbered(join_lines([line.text for line in lines]))
    if not is_capitals(own) or is_capitals(printed) or title_key(own) != title_key(printed):
        return title
    return title.removesuffix(own) + printed


def _page_number(entry: TocEntry) -> tuple[bool, int]:
    """Return whether the printed page number of `entry` is Roman, and its value (0 if it is invalid)."""
    roman = not entry.number.isdecimal()
    return roman, from_roman(entry.number) if roman else int(entry.number)


def _largest(found: Sequence[tuple[StyledLine, ...]]) -> tuple[StyledLine, ...]:
    return max(found, key=lambda lines: (lines[0].size, lines[0].bold, -lines[0].top))


_LETTERS: Lazy[int, int | None] = Lazy(lambda code: code if chr(code).isalnum() else None)


def title_key(text: str) -> str:
    """Return the letters and digits of a title, case-folded, without its section number."""
    return unnumbered(text).casefold().translate(_LETTERS)


def find_title(title: str, lines: Sequence[StyledLine], said: Sequence[str]) -> Iterator[tuple[StyledLine, ...]]:
    """Yield each group of one to four consecutive `lines`, with the title keys `said`, that form the whole `title`."""
    wanted = title_key(title)
    if not wanted:
        return
    for index, first in enumerate(said):
        if not first or not wanted.startswith(first):
            continue
        text, end = first, index + 1
        while text != wanted and end < min(index + 4, len(said)) and said[end] and wanted.startswith(text + said[end]):
            text, end = text + said[end], end + 1
        if text == wanted:
            yield tuple(lines[index:end])


def _pages_by_label(rules: Sequence[LabelRule], count: int) -> dict[str, int]:
    """Return the physical page of each decimal or Roman page label; empty if the labels count all pages from 1."""
    found: dict[str, int] = {}
    for index, rule in enumerate(rules):
        last = rules[index + 1].first - 1 if index + 1 < len(rules) else count
        for page in range(rule.first, last + 1):
            number = rule.start + page - rule.first
            label = f"{rule.prefix}{number}" if rule.style == "D" else rule.prefix + _roman(number, rule.style)
            found.setdefault(label, page)
    return found if len(rules) > 1 or (rules and (rules[0].prefix or rules[0].start != 1)) else {}


def _roman(number: int, style: str) -> str:
    text = to_roman(number) if style in ("r", "R") else ""
    return text if style == "r" else text.upper()


def _merged(groups: Iterable[Sequence[TocTarget]]) -> list[TocTarget]:
    """Merge tables of contents into one list, without duplicates. Entries of a later table go below those to which they
    belong.
    """
    merged: list[TocTarget] = []
    known: set[tuple[str, int]] = set()
    in_order = False
    for group in groups:
        new = [each for each in group if (title_key(each.title), each.page) not in known]
        if merged and new:
            step = _level_below(merged, group, new[0], known) - min(each.level for each in new)
            if not in_order:
                merged.sort(key=_position)
                in_order = True
            for each in new:
                insort(merged, evolve(each, level=min(each.level + step, LEVEL_LIMIT)), key=_position)
        else:
            merged += new
        known.update((title_key(each.title), each.page) for each in new)
    return merged


def _position(promised: TocTarget) -> tuple[int, float]:
    return promised.page, promised.y if math.isfinite(promised.y) else -1.0


def _level_below(
    merged: Sequence[TocTarget], group: Sequence[TocTarget], first: TocTarget, known: set[tuple[str, int]]
) -> int:
    """Return the level for the top entries of a later table: below the entries that both tables share, or else below
    the nearest entry before them.
    """
    shared = [each for each in group if (title_key(each.title), each.page) in known]
    if shared:
        return min(each.level for each in shared) + 1
    above = next((each for each in reversed(merged) if each.page <= first.page), None)
    return above.level + 1 if above else 1
