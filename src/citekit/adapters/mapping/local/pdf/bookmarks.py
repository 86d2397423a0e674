"""Sections from the bookmarks of a PDF."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.drivers.pdf_outline import Bookmark, read_bookmarks
from citekit.adapters.drivers.pdf_structure import BOOKMARK_LIMIT
from citekit.adapters.drivers.pymupdf import Document
from citekit.adapters.mapping.local.pdf.placing import Section


def sections_of_bookmarks(document: Document) -> tuple[list[Section], list[str]]:
    """The bookmarks that lead into the document, and notes about those that do not.

    One that leads nowhere but has others below it begins where the first of them does; the rest are left out.
    """
    bookmarks = read_bookmarks(document)
    sections = [section for place in range(len(bookmarks)) if (section := _section(bookmarks, place)) is not None]
    notes = []
    lost = len(bookmarks) - len(sections)
    if lost and sections:
        notes.append(f"{lost} of {len(bookmarks)} bookmarks lead nowhere and were left out.")
    if len(bookmarks) == BOOKMARK_LIMIT:
        notes.append(f"Only the first {BOOKMARK_LIMIT} bookmarks were read.")
    return sections, notes


def _section(bookmarks: Sequence[Bookmark], place: int) -> Section | None:
    bookmark = bookmarks[place]
    target = bookmark if bookmark.page is not None else _first_below(bookmarks, place)
    if target is None or target.page is None:
        return None
    return Section(bookmark.level, bookmark.title or f"Page {target.page}", target.page, target.y)


def _first_below(bookmarks: Sequence[Bookmark], place: int) -> Bookmark | None:
    for bookmark in bookmarks[place + 1 :][:200]:
        if bookmark.level <= bookmarks[place].level:
            return None
        if bookmark.page is not None:
            return bookmark
    return None
