"""Reads the printed tables of contents of a document: joins entries across pages and splits separate tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.toc_entries import TocEntry, page_order, with_equal_margins, with_levels
from citekit.adapters.formats.pdf.outline.toc_page import (
    FIRST_PAGES,
    MIN_ENTRIES,
    ListKind,
    may_hold_toc,
    toc_entries_on,
)

ENTRY_LIMIT = 20_000
TITLE_LENGTH = 300

COMPARISON_LIMIT = 20_000_000
"""The sum, over the pages read row by row, of the number of lines times the number of links."""


def read_toc_tables(
    texts: PageTexts, *, in_front: bool = False, after: int = 0
) -> tuple[list[list[TocEntry]], PageTexts]:
    """Return the entries of each printed table of contents that starts on a page after `after`, and the texts.

    In the returned texts, pages that have entries are read exactly, even if `texts` reads quickly. If `in_front` is true
    and no table starts on the first pages, there are no entries and no other page is read.
    """
    groups: list[list[TocEntry]] = []
    kind, last, read, compared = ListKind.NONE, 0, 0, 0
    for page in range(after + 1, texts.count + 1):
        if in_front and page > FIRST_PAGES and not groups:
            return [], texts
        lines = texts.read(page)
        if read > ENTRY_LIMIT or compared > COMPARISON_LIMIT or not may_hold_toc(page, lines):
            kind = ListKind.NONE
            continue
        links, before = texts.reader.links(page), kind
        compared += len(lines) * len(links)
        found, kind = toc_entries_on(page, lines, links, before)
        if found and texts.quick:
            texts = texts.exactly_on([page])
            found, kind = toc_entries_on(page, texts.read(page), links, before)
        read += len(found)
        found = [entry for entry in found if len(entry.title) <= TITLE_LENGTH]
        if found and groups and last == page - 1 and not _repeats_entries(found, groups[-1]):
            groups[-1] += found
        elif found:
            groups.append(found)
        last = page if found else last
    tables = [table for entries in groups for table in _split_tables(_without_headers(entries))]
    levelled = [with_levels(with_equal_margins(table)) for table in tables]
    return [table for table in levelled if not _is_index(table)], texts


def _repeats_entries(found: Sequence[TocEntry], group: Sequence[TocEntry]) -> bool:
    """Return whether the first entries of a page repeat the previous table, as a detailed TOC repeats a short one."""
    said = {entry.title for entry in group}
    first = found[: MIN_ENTRIES + 1]
    return sum(entry.title in said for entry in first) >= MIN_ENTRIES


def _split_tables(entries: Sequence[TocEntry]) -> Iterator[list[TocEntry]]:
    """Yield the entries split into tables where page numbers restart, as in a list of figures that follows the TOC."""
    pages = [page_order(entry) for entry in entries]
    start = 0
    for at in range(1, len(entries)):
        if (
            at - start >= MIN_ENTRIES
            and max(pages[at : at + MIN_ENTRIES]) < pages[at - 1]
            and at + MIN_ENTRIES <= len(entries)
        ):
            yield list(entries[start:at])
            start = at
    if entries:
        yield list(entries[start:])


def _without_headers(group: list[TocEntry]) -> list[TocEntry]:
    """Return the entries without running headers, which are first on their page and are also first on another page."""
    tops = {entry.toc_page: entry for entry in reversed(group)}
    seen = Counter(entry.title for entry in tops.values())
    return [entry for entry in group if not (tops[entry.toc_page] is entry and seen[entry.title] > 1)]


def _is_index(group: Sequence[TocEntry]) -> bool:
    """Return whether most entries link to earlier pages, as in an index at the end of a book."""
    back = sum(entry.page is not None and entry.page < entry.toc_page for entry in group)
    return back * 2 > len(group)
