"""The printed table of contents: where it stands, and what its entries say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from enum import Enum

from citekit.adapters.formats.pdf.outline.lines import Link, Typed
from citekit.adapters.formats.pdf.outline.rows import Row, gutters, parted, rows_of
from citekit.adapters.formats.pdf.outline.toc_entries import Entry, rises

FIRST_PAGES = 40
"""Pages that are looked at row by row; further on, only those where several lines have leader dots."""

LINE_LIMIT = 1000
"""Lines of a page that may hold contents."""

FEWEST = 3
"""Entries of the shortest table of contents below its heading; without one there must be `UNNAMED`."""

UNNAMED = 5
GAP = 3
"""Rows without a page number that may stand between two entries: lines of long titles, names of parts."""

LEADER = re.compile(r"(?:\.\s?){4,}|…{2,}|(?:·\s?){4,}|_{4,}|(?:\. ){3,}|(?:・\s?){4,}|(?:‥\s?){2,}")
_NUMBER = r"\d{1,4}|[ivxlcdm]{1,8}|[A-Z]{1,2}[-.–]\d{1,4}|\d{1,3}[-–]\d{1,3}"
_ENTRY = re.compile(rf"(?P<title>.*?\S)(?P<leader>[\s.…·_・‥]+)(?P<number>{_NUMBER})", re.DOTALL)
_NUMBERED = re.compile(rf"[\s.…·_・‥](?:{_NUMBER})\Z")
_ENDING = 12
"""Characters in which a line that matches `_ENTRY` matches `_NUMBERED`, which is told much faster."""

_GLUED = re.compile(r"^(\d{1,3}(?:\.\d{1,3}){1,5}\.?)(?=[^\W\d_])")
_BARE = re.compile(rf"[\s.…·_・‥]*(?:{_NUMBER})")
_LEADERS_ALONE = re.compile(rf"(?:[.…·_・‥]\s*){{2,}}(?:{_NUMBER})")
_CONTENTS = re.compile(
    r"(?:table of contents|(?:brief |short |detailed )?contents|inhalt(?:sverzeichnis)?|table des mati[eè]res|sommaire|"
    r"[ií]ndice(?: general| de contenido)?|contenido|indice|sommario|inhoud(?:sopgave)?|目次|目录|目錄|차례|目　次|"
    r"spis tre[sś]ci|содержание|оглавление|sum[aá]rio|cuprins|contingut|المحتويات|תוכן)\W*",
    re.IGNORECASE,
)
_OTHER_LIST = re.compile(
    r"(?:list|index|liste|verzeichnis) (?:of|der|des) (?:figures|tables|illustrations|plates|listings|algorithms|examples|"
    r"abbildungen|tabellen|figures|tableaux)|(?:figures|tables|illustrations|examples|listings)\W*$|"
    r"(?:abbildungs|tabellen)verzeichnis|図目次|表目次|table des (?:figures|illustrations)|[ií]ndice de (?:figuras|tablas)|"
    r"(?:lista|elenco|indice) delle (?:figure|tabelle|illustrazioni)|lista de (?:figuras|tabelas|tablas|ilustraciones)|"
    r"liste des (?:figures|tableaux|illustrations|exemples)|lijst van (?:figuren|tabellen)|список (?:иллюстраций|таблиц)|"
    r"(?:general |concept |function |command |variable |subject )*index\W*$",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"(?:figure|fig\.|table|listing|algorithm|example|abb\.|tab\.|図|表)\s*[\dA-Z]", re.IGNORECASE)


def may_hold_contents(page: int, lines: Sequence[Typed]) -> bool:
    """Whether a page is worth to be looked at row by row."""
    if len(lines) > LINE_LIMIT:
        return False
    return page <= FIRST_PAGES or _has_entries(lines)


class ListKind(Enum):
    """What a list on the page before was, which may go on at the top of the next."""

    NONE = "none"
    CONTENTS = "contents"
    OTHER = "other"


def entries_on(
    page: int, lines: Sequence[Typed], links: Sequence[Link], before: ListKind
) -> tuple[list[Entry], ListKind]:
    """The entries of a table of contents on a page, and what kind of list its last one is.

    Lists of figures and tables, and indexes at the end of a book, give none.
    """
    found: list[Entry] = []
    kind, on = before, _RowLinks(links)
    for heading, run in _runs(_rows(lines, on), on):
        if heading is not None:
            kind = ListKind.CONTENTS if _CONTENTS.fullmatch(heading) else ListKind.OTHER
        if kind is ListKind.OTHER:
            continue
        entries = _kept(_read(run, page, on))
        named = kind is ListKind.CONTENTS
        if len(entries) >= (FEWEST if named else UNNAMED) and (named or _are_sure(run, on)):
            if _are_captions(entries):
                kind = ListKind.OTHER
            elif rises(entries):
                found += entries
                kind = ListKind.CONTENTS
    return found, kind if found or (kind is ListKind.OTHER and _has_entries(lines)) else ListKind.NONE


def outside_contents(lines: Sequence[Typed]) -> list[Typed]:
    """What stands above and below the entries with leaders, such as the title of a chapter above its own contents."""
    entries = [line for line in lines if LEADER.search(line.text)]
    if not entries or any(_CONTENTS.fullmatch(line.text) for line in lines):
        return []
    top, bottom = min(line.top for line in entries), max(line.bottom for line in entries)
    return [line for line in lines if line.bottom <= top or line.top >= bottom]


def _has_entries(lines: Sequence[Typed]) -> bool:
    """Whether several lines have leader dots; most pages have none in all of their text."""
    if not LEADER.search("\n".join([line.text for line in lines])):
        return False
    return sum(bool(LEADER.search(line.text)) for line in lines) >= FEWEST


def _are_sure(run: Sequence[Row], links: _RowLinks) -> bool:
    """Whether leaders or links tell entries from the rows of a table of numbers."""
    sure = sum(bool(LEADER.search(row.text)) or links.on(row) is not None for row in run)
    return sure * 2 > len(run)


def _kept(entries: Sequence[Entry]) -> list[Entry]:
    """The entries without the running header, which alone has no link where all others have one."""
    linked = [entry for entry in entries if entry.page is not None]
    kept = linked if len(linked) * 10 >= len(entries) * 7 else list(entries)
    return [entry for entry in kept if not _CONTENTS.fullmatch(entry.title)]


def _runs(rows: Sequence[Row], links: _RowLinks) -> Iterator[tuple[str | None, list[Row]]]:
    """Rows from the first entry to the last, with what stands above: few others in between."""
    heading: str | None = None
    run: list[Row] = []
    held: list[Row] = []
    for row in rows:
        if _is_named(row):
            if run:
                yield heading, run
            heading, run, held = row.text, [], []
        elif _is_entry(row, links):
            run += [*held, row] if run or len(held) <= 1 else [row]
            held = []
        else:
            held.append(row)
            if run and len(held) > GAP:
                yield heading, run
                run, held, heading = [], held[-1:], None
    if run:
        yield heading, run


def _rows(lines: Sequence[Typed], links: _RowLinks) -> list[Row]:
    """The rows of a page, those of two columns one column after the other where that makes more of them entries."""
    best = _with_leaders(rows_of(lines))
    most = sum(_is_entry(row, links) for row in best)
    for gutter in gutters(lines):
        rows = _with_leaders([row for part in parted(lines, gutter) for row in rows_of(part)])
        found = sum(_is_entry(row, links) for row in rows)
        if found >= most + FEWEST:
            best, most = rows, found
    return best


def _with_leaders(rows: Sequence[Row]) -> list[Row]:
    """The rows, those of nothing but leaders and a number joined to the one before, whose title was too long for them."""
    joined: list[Row] = []
    for row in rows:
        if joined and _LEADERS_ALONE.fullmatch(row.text) and row.top - joined[-1].bottom < row.bottom - row.top:
            joined[-1] = Row(joined[-1].lines + row.lines)
        else:
            joined.append(row)
    return joined


def _is_named(row: Row) -> bool:
    return bool(_CONTENTS.fullmatch(row.text) or (_OTHER_LIST.fullmatch(row.text) and not LEADER.search(row.text)))


def _is_entry(row: Row, links: _RowLinks) -> bool:
    """Whether a row ends with the number of a page, told from its text by leaders, a gap, or a link below."""
    text = row.text
    if not _NUMBERED.search(text[-_ENDING:]):
        return False
    if not any(character.isalpha() for character in text) or not _ENTRY.fullmatch(text):
        return False
    last = row.lines[-1]
    apart = (
        len(row.lines) > 1 and bool(_BARE.fullmatch(last.text)) and last.left - row.lines[-2].right > 0.8 * last.size
    )
    return bool(LEADER.search(text)) or apart or links.on(row) is not None


class _RowLinks:
    """The links of a page by the rows that they lie on, each row looked at once."""

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = links
        self._found: dict[int, tuple[Row, Link | None]] = {}

    def on(self, row: Row) -> Link | None:
        """The link that lies on the row: the one that covers most of it."""
        if id(row) not in self._found:
            self._found[id(row)] = row, _widest(row, self._links)
        return self._found[id(row)][1]


def _widest(row: Row, links: Sequence[Link]) -> Link | None:
    middle, left, right = (row.top + row.bottom) / 2, row.left, row.right
    best, wide = None, 0.0
    for link in links:
        if link.top - 1 <= middle <= link.bottom + 1:
            width = min(link.right, right) - max(link.left, left)
            if width > wide:
                best, wide = link, width
    return best


def _read(run: Sequence[Row], page: int, links: _RowLinks) -> list[Entry]:
    """The entries of a run; a row without a number begins the title of the next, or is a part that has none."""
    found: list[Entry] = []
    open_: list[Row] = []
    for row in run:
        if not _is_entry(row, links):
            open_.append(row)
            continue
        link = links.on(row)
        parts = _ENTRY.fullmatch(row.text)
        assert parts is not None
        before = [each for each in open_ if _goes_on(each, row, link, links)]
        title = " ".join([*(each.text for each in before), _title(parts["title"])])
        found.append(_entry(before[0] if before else row, title, parts["number"], page, link))
        open_ = []
    return found


def _goes_on(row: Row, following: Row, link: Link | None, links: _RowLinks) -> bool:
    """Whether a row without a number is the beginning of the title that goes on in the `following` one."""
    own = links.on(row)
    if own is not None and link is not None:
        return (own.page, own.y) == (link.page, link.y) or (math.isnan(own.y) and own.page == link.page)
    near = following.top - row.bottom < 0.8 * (row.bottom - row.top)
    first = following.lines[0]
    same = row.lines[0].bold == first.bold and abs(row.lines[0].size - first.size) < 0.6
    return near and same and following.left > row.left + 3


def _entry(row: Row, title: str, number: str, page: int, link: Link | None) -> Entry:
    first = max(row.lines, key=lambda line: sum(map(str.isalpha, line.text)))
    target = (link.page, link.y) if link is not None else (None, math.nan)
    return Entry(title, number, row.left, first.size, first.bold, page, *target)


def _title(text: str) -> str:
    leader = LEADER.search(text)
    return _GLUED.sub(r"\1 ", (text[: leader.start()] if leader else text).rstrip(" .…·_・‥"))


def _are_captions(entries: Sequence[Entry]) -> bool:
    return sum(bool(_CAPTION.match(entry.title)) for entry in entries) * 2 > len(entries)
