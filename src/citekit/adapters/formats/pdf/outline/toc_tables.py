"""The printed tables of contents of a document, as they stand there: their entries with their levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.toc_entries import Entry, aligned, levels_of, order_of
from citekit.adapters.formats.pdf.outline.toc_page import FEWEST, FIRST_PAGES, ListKind, entries_on, may_hold_contents

ENTRY_LIMIT = 20_000
LONGEST = 300

COMPARED = 20_000_000
"""Lines of a page times its links, summed up over all pages that are looked at row by row."""


def tables_of_contents(texts: PageTexts, *, in_front: bool = False, after: int = 0) -> list[list[Entry]]:
    """The entries of each table `after` a page, which may run over several; pages that hold some are read exactly.

    Where `in_front`, there are none unless one begins on the first pages; then no other page is read.
    """
    groups: list[list[Entry]] = []
    kind, last, read, compared = ListKind.NONE, 0, 0, 0
    for page in range(after + 1, texts.count + 1):
        if in_front and page > FIRST_PAGES and not groups:
            return []
        lines = texts.read(page)
        if read > ENTRY_LIMIT or compared > COMPARED or not may_hold_contents(page, lines):
            kind = ListKind.NONE
            continue
        links, before = texts.links(page), kind
        compared += len(lines) * len(links)
        found, kind = entries_on(page, lines, links, before)
        if found and texts.quick:
            found, kind = entries_on(page, texts.exactly(page), links, before)
        read += len(found)
        found = [entry for entry in found if len(entry.title) <= LONGEST]
        if found and groups and last == page - 1 and not _begins_anew(found, groups[-1]):
            groups[-1] += found
        elif found:
            groups.append(found)
        last = page if found else last
    tables = [table for entries in groups for table in _parted(_without_headers(entries))]
    return [levelled for table in tables if not _is_index(levelled := levels_of(aligned(table)))]


def _begins_anew(found: Sequence[Entry], group: Sequence[Entry]) -> bool:
    """Whether the first entries of a page are said before, as those of a table that follows a shorter one."""
    said = {entry.title for entry in group}
    first = found[: FEWEST + 1]
    return sum(entry.title in said for entry in first) >= FEWEST


def _parted(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """The entries up to where they begin again with earlier pages, as a list of figures does that follows the contents."""
    places = [order_of(entry) for entry in entries]
    start = 0
    for at in range(1, len(entries)):
        if at - start >= FEWEST and max(places[at : at + FEWEST]) < places[at - 1] and at + FEWEST <= len(entries):
            yield list(entries[start:at])
            start = at
    if entries:
        yield list(entries[start:])


def _without_headers(group: list[Entry]) -> list[Entry]:
    """The entries without running headers, the first ones of their pages that say the same on another."""
    tops = {entry.on: entry for entry in reversed(group)}
    seen = Counter(entry.title for entry in tops.values())
    return [entry for entry in group if not (tops[entry.on] is entry and seen[entry.title] > 1)]


def _is_index(group: Sequence[Entry]) -> bool:
    """Whether most entries lead back: an index at the end of a book."""
    back = sum(entry.page is not None and entry.page < entry.on for entry in group)
    return back * 2 > len(group)
