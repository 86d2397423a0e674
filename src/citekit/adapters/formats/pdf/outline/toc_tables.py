"""Reads the printed tables of contents of a document, joined across pages."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum

from citekit.adapters.formats.pdf.outline.heading_numbers import depth_of
from citekit.adapters.formats.pdf.outline.lines import Link, StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.rows import Row, rows_of, split_columns, toc_gutters
from citekit.adapters.formats.pdf.outline.toc_entries import (
    TocEntry,
    page_order,
    pages_ascend,
    with_equal_margins,
    with_levels,
)
from citekit.domain.vocabulary import CAPTION, LIST_HEADING, TOC_HEADING, any_of

FIRST_PAGES = 40
"""The number of first pages that are read row by row. Later pages are, too, if several lines have leader dots."""

LINE_LIMIT = 1000
"""The maximum number of lines of a page that may hold a TOC."""

MIN_ENTRIES = 3
"""The minimum number of entries of a TOC with a heading. Without one, it is `MIN_ENTRIES_WITHOUT_HEADING`.

It is also the number of entries that must be located, and that prove a list, a second column, or the start or the
repetition of a table.
"""

MIN_ENTRIES_WITHOUT_HEADING = 5
MAX_ROW_GAP = 3
"""The maximum number of rows without a page number between two entries, such as lines of long titles."""

LABEL_LENGTH = 12
"""The maximum number of characters of a label between the heading of a TOC and its entries, such as `Page`."""

ENTRY_LIMIT = 20_000
TITLE_LENGTH = 300

COMPARISON_LIMIT = 20_000_000
"""The maximum sum, over the pages read row by row, of the number of lines times links."""

LEADER = re.compile(r"(?:\.\s?){4,}|…{2,}|(?:·\s?){4,}|_{4,}|(?:\. ){3,}|(?:・\s?){4,}|(?:‥\s?){2,}|-{6,}")
_NUMBER = r"\d{1,4}|[ivxlcdm]{1,8}|[A-Z]{1,2}[-.–]\d{1,4}|\d{1,3}[-–]\d{1,3}"
_ENTRY = re.compile(rf"(?P<title>.*?\S)(?P<leader>[\s.…·_・‥-]+)(?P<number>{_NUMBER})", re.DOTALL)
_NUMBER_SUFFIX = re.compile(rf"[\s.…·_・‥-](?:{_NUMBER})\Z")
_SUFFIX_LENGTH = 12
"""The length of the end of a line that `_NUMBER_SUFFIX` inspects, for speed."""

_JOINED_NUMBER = re.compile(r"^(\d{1,3}(?:\.\d{1,3}){1,5}\.?)(?=[^\W\d_])")
_NUMBER_ALONE = re.compile(rf"[\s.…·_・‥-]*(?:{_NUMBER})")
_LEADERS_ALONE = re.compile(rf"(?:[.…·_・‥-]\s*){{2,}}(?:{_NUMBER})")
_TOC_HEADING = re.compile(rf"(?:{any_of(TOC_HEADING)})\W*", re.IGNORECASE)
_OTHER_LIST_HEADING = re.compile(rf"(?:{any_of(LIST_HEADING)})\W*", re.IGNORECASE)
CAPTION_START = re.compile(rf"(?i:{any_of(CAPTION)})\s*(?:\d|(?:[A-Z]|[IVXLC]+)\b)")
"""The start of a caption: `Table 3`, `Figure A.1`, or `TABLE IV`, but not `Tables` or `Example input`."""


def read_toc_tables(
    texts: PageTexts, *, in_front: bool = False, after: int = 0
) -> tuple[list[list[TocEntry]], PageTexts]:
    """Return the entries of each printed table of contents that starts after the page `after`, and `texts` as they were
    read.

    Pages that have entries are read exactly, even if `texts` reads quickly. If `in_front` is true and no table starts
    on the first pages, there are no entries and no other page is read.
    """
    groups: list[list[TocEntry]] = []
    kind, last, read, compared = _ListKind.NONE, 0, 0, 0
    for page in range(after + 1, texts.count + 1):
        if in_front and page > FIRST_PAGES and not groups:
            return [], texts
        lines = texts.read(page)
        if read > ENTRY_LIMIT or compared > COMPARISON_LIMIT or not _may_hold_toc(page, lines):
            kind = _ListKind.NONE
            continue
        links, before = texts.reader.links(page), kind
        compared += len(lines) * len(links)
        found, kind = _entries_on(page, lines, links, before)
        if found and texts.quick:
            texts = texts.exactly_on([page])
            found, kind = _entries_on(page, texts.read(page), links, before)
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
    """Yield the entries split into tables where page numbers restart, as in a list of figures after the TOC."""
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
    """Return the entries without running headers, which are first on more than one page."""
    tops = {entry.toc_page: entry for entry in reversed(group)}
    seen = Counter(entry.title for entry in tops.values())
    return [entry for entry in group if not (tops[entry.toc_page] is entry and seen[entry.title] > 1)]


def _is_index(group: Sequence[TocEntry]) -> bool:
    """Return whether most entries link to earlier pages, as in an index at the end of a book."""
    back = sum(entry.page is not None and entry.page < entry.toc_page for entry in group)
    return back * 2 > len(group)


def _may_hold_toc(page: int, lines: Sequence[StyledLine]) -> bool:
    """Return whether a page is worth reading row by row."""
    if len(lines) > LINE_LIMIT:
        return False
    return page <= FIRST_PAGES or _has_entries(lines)


class _ListKind(Enum):
    """The kind of list with which a page ends; the list may continue on the next page."""

    NONE = "none"
    TOC = "contents"
    OTHER = "other"


def _entries_on(
    page: int, lines: Sequence[StyledLine], links: Sequence[Link], before: _ListKind
) -> tuple[list[TocEntry], _ListKind]:
    """Return the TOC entries on a page, and the kind of the last list on it.

    `before` is the kind of the last list on the previous page. Rows of other lists (figures, tables) are left out.
    """
    found: list[TocEntry] = []
    kind, on = before, _RowLinks(links)
    rows = _rows(lines, on)
    plain = not any(_is_entry(row, on) for row in rows)
    for heading, run in _entry_runs(rows, on, plain=plain):
        if heading is not None:
            kind = _ListKind.TOC if _TOC_HEADING.fullmatch(heading) else _ListKind.OTHER
        if kind is _ListKind.OTHER:
            continue
        entries = _without_header(_entries_of_run(run, page, on, plain=plain))
        named = kind is _ListKind.TOC
        if len(entries) >= (MIN_ENTRIES if named else MIN_ENTRIES_WITHOUT_HEADING) and (
            named or _have_leaders_or_links(run, on)
        ):
            if _are_captions(entries):
                kind = _ListKind.OTHER
            elif pages_ascend(entries):
                found += entries
                kind = _ListKind.TOC
    return found, kind if found or (kind is _ListKind.OTHER and _has_entries(lines)) else _ListKind.NONE


def has_toc_heading(lines: Sequence[StyledLine]) -> bool:
    """Return whether a line is the heading of a table of contents."""
    return any(_TOC_HEADING.fullmatch(line.text) for line in lines)


def outside_toc(lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return the lines above and below the TOC entries on a page, such as the title of a chapter above its own TOC.

    TOC entries are recognized by their leader dots, or else by the numbers at their ends. The result is empty if there
    are none, or if the heading of the TOC is above them; a running header (`Table of Contents`) has other lines below it.
    """
    named = [line for line in lines if _TOC_HEADING.fullmatch(line.text)]
    entries = [line for line in lines if LEADER.search(line.text)] if not named else []
    rows = [] if entries else [row for row in rows_of(lines) if _ends_with_number(row)]
    if not entries and not rows:
        return []
    top, bottom = min(each.top for each in entries or rows), max(each.bottom for each in entries or rows)
    start = max((line.bottom for line in named), default=-math.inf)
    outside = [line for line in lines if start <= line.top and (line.bottom <= top or line.top >= bottom)]
    return outside if not named or any(len(line.text) > LABEL_LENGTH for line in outside if line.bottom <= top) else []


def _has_entries(lines: Sequence[StyledLine]) -> bool:
    """Return whether at least `MIN_ENTRIES` lines have leader dots."""
    if not LEADER.search("\n".join([line.text for line in lines])):
        return False
    return sum(bool(LEADER.search(line.text)) for line in lines) >= MIN_ENTRIES


def _have_leaders_or_links(run: Sequence[Row], links: _RowLinks) -> bool:
    """Return whether most rows have leader dots or links, unlike a table of numbers."""
    sure = sum(bool(LEADER.search(row.text)) or links.on(row) is not None for row in run)
    return sure * 2 > len(run)


def _without_header(entries: Sequence[TocEntry]) -> list[TocEntry]:
    """Return the entries without the heading of the TOC and, if most have links, without unlinked ones (running
    headers).
    """
    linked = [entry for entry in entries if entry.page is not None]
    kept = linked if len(linked) * 10 >= len(entries) * 7 else list(entries)
    return [entry for entry in kept if not _TOC_HEADING.fullmatch(entry.title)]


def _entry_runs(rows: Sequence[Row], links: _RowLinks, *, plain: bool) -> Iterator[tuple[str | None, list[Row]]]:
    """Yield each heading of a list (None if it has none) with the rows from its first entry to its last.

    A single row before the first entry is included, because it may begin the title of the entry. On a `plain` page,
    whose rows have neither leader dots, gaps, nor links, any row that ends with a number is an entry below the heading
    of a TOC.
    """
    heading: str | None = None
    named = False
    run: list[Row] = []
    held: list[Row] = []
    for row in rows:
        if _is_list_heading(row):
            if run:
                yield heading, run
            heading, run, held = row.text, [], []
            named = bool(_TOC_HEADING.fullmatch(row.text))
        elif _is_entry(row, links) or (plain and named and _ends_with_number(row)):
            run += [*held, row] if run or len(held) <= 1 else [row]
            held = []
        else:
            held.append(row)
            if run and len(held) > MAX_ROW_GAP:
                yield heading, run
                run, held, heading, named = [], held[-1:], None, False
    if run:
        yield heading, run


def _rows(lines: Sequence[StyledLine], links: _RowLinks) -> list[Row]:
    """Return the rows of a page; they are read column by column if that gives clearly more TOC entries."""
    best = _with_leaders(rows_of(lines))
    most = sum(_is_entry(row, links) for row in best)
    for gutter in toc_gutters(lines):
        rows = _with_leaders([row for part in split_columns(lines, gutter) for row in rows_of(part)])
        found = sum(_is_entry(row, links) for row in rows)
        if found >= most + MIN_ENTRIES:
            best, most = rows, found
    return best


def _with_leaders(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, with rows of only leader dots and a number joined to the row before."""
    joined: list[Row] = []
    for row in rows:
        if joined and _LEADERS_ALONE.fullmatch(row.text) and row.top - joined[-1].bottom < row.bottom - row.top:
            joined[-1] = Row(joined[-1].lines + row.lines)
        else:
            joined.append(row)
    return joined


def _is_list_heading(row: Row) -> bool:
    return bool(
        _TOC_HEADING.fullmatch(row.text) or (_OTHER_LIST_HEADING.fullmatch(row.text) and not LEADER.search(row.text))
    )


def _is_entry(row: Row, links: _RowLinks) -> bool:
    """Return whether a row ends with a page number that leader dots, a gap, or a link distinguish from its title."""
    text = row.text
    if not _ends_with_number(row):
        return False
    last = row.lines[-1]
    apart = (
        len(row.lines) > 1
        and bool(_NUMBER_ALONE.fullmatch(last.text))
        and last.left - row.lines[-2].right > 0.8 * last.size
    )
    return bool(LEADER.search(text)) or apart or links.on(row) is not None


def _ends_with_number(row: Row) -> bool:
    """Return whether a row has words and then a page number."""
    text = row.text
    if not _NUMBER_SUFFIX.search(text[-_SUFFIX_LENGTH:]):
        return False
    return any(character.isalpha() for character in text) and bool(_ENTRY.fullmatch(text))


class _RowLinks:
    """A lookup of the link on each row of a page; each row is searched once."""

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = links
        self._found: dict[int, tuple[Row, Link | None]] = {}

    def on(self, row: Row) -> Link | None:
        """Return the link that covers the widest part of `row`, or None if no link does."""
        if id(row) not in self._found:
            self._found[id(row)] = row, _widest_overlap(row, self._links)
        return self._found[id(row)][1]


def _widest_overlap(row: Row, links: Sequence[Link]) -> Link | None:
    middle, left, right = (row.top + row.bottom) / 2, row.left, row.right
    best, wide = None, 0.0
    for link in links:
        if link.top - 1 <= middle <= link.bottom + 1:
            width = min(link.right, right) - max(link.left, left)
            if width > wide:
                best, wide = link, width
    return best


def _entries_of_run(run: Sequence[Row], page: int, links: _RowLinks, *, plain: bool) -> list[TocEntry]:
    """Return the TOC entries in `run`, which on a `plain` page are the rows that end with a number.

    A row without a page number begins the next entry's title, or is left out, as the name of a part is.
    """
    found: list[TocEntry] = []
    open_: list[Row] = []
    for row in run:
        if not (_ends_with_number(row) if plain else _is_entry(row, links)):
            open_.append(row)
            continue
        link = links.on(row)
        parts = _ENTRY.fullmatch(row.text)
        assert parts is not None
        before = _title_rows_before(row, open_, links)
        title = " ".join([*(each.text for each in before), _title(parts["title"])])
        found.append(_entry(before[0] if before else row, title, parts["number"], page, link))
        open_ = []
    return found


def _title_rows_before(entry: Row, rows: Sequence[Row], links: _RowLinks) -> list[Row]:
    """Return the last of `rows`, which have no page number, that begin the title of `entry` below them.

    A row begins the title if it has the same link, if it starts with a section number, or if the next row is indented
    or starts with a lowercase letter.
    """
    before: list[Row] = []
    begun, following = 0, entry
    for row in reversed(rows):
        own, link = links.on(row), links.on(following)
        if own is not None and link is not None:
            if (own.page, own.y) != (link.page, link.y) and not (math.isnan(own.y) and own.page == link.page):
                break
            begun = len(before) + 1
        elif depth_of(following.text) or not _is_next_line(row, following):
            break
        elif depth_of(row.text) or following.left > row.left + 3 or following.text[:1].islower():
            begun = len(before) + 1
        before.append(row)
        following = row
    return before[:begun][::-1]


def _is_next_line(row: Row, following: Row) -> bool:
    """Return whether the `following` row is close below `row` and in the same style."""
    one, other = row.lines[0], following.lines[0]
    near = following.top - row.bottom < 0.8 * (row.bottom - row.top)
    return near and one.bold == other.bold and abs(one.size - other.size) < 0.6


def _entry(row: Row, title: str, number: str, page: int, link: Link | None) -> TocEntry:
    first = max(row.lines, key=lambda line: sum(map(str.isalpha, line.text)))
    target = (link.page, link.y) if link is not None else (None, math.nan)
    return TocEntry(title, number, row.left, first.size, first.bold or bool(first.lead), page, *target)


def _title(text: str) -> str:
    leader = LEADER.search(text)
    return _JOINED_NUMBER.sub(r"\1 ", (text[: leader.start()] if leader else text).rstrip(" .…·_・‥"))


def _are_captions(entries: Sequence[TocEntry]) -> bool:
    return sum(bool(CAPTION_START.match(entry.title)) for entry in entries) * 2 > len(entries)
