"""Reads the bookmarks (the outline) of a PDF (ISO 32000-1, 12.3.3)."""

from __future__ import annotations

import math
from typing import Any

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.page_objects import BOOKMARK_LIMIT, DEPTH_LIMIT, Item, outline_items
from citekit.domain.errors import CiteKitError

_DOUBTFUL = (None, 1)
"""The pages that MuPDF returns for destinations that it does not understand."""


@frozen
class Bookmark:
    """A bookmark of a PDF: its level (1 is the top level), its title, and its target.

    `page` is the 1-based number of the target page, or None if it is not a page of the file. `x` and `y` locate the
    target on the displayed page, in points from the top left; they are NaN if the bookmark names no position.
    """

    level: int
    title: str
    page: int | None
    x: float
    y: float


def read_bookmarks(document: Any) -> list[Bookmark]:
    """Return at most `BOOKMARK_LIMIT` bookmarks in order. Those deeper than `DEPTH_LIMIT` move up to that level.

    This function reads the outline that PyMuPDF loads, because `get_toc(simple=False)` is forty times slower. An
    empty or doubtful outline is compared with the PDF objects: MuPDF fails on cyclic bookmarks and mistakes a
    destination that is not a page for the first page.
    """
    read = _held_ready(document)
    if read and not any(bookmark.page in _DOUBTFUL for bookmark in read):
        return read
    items = _of_objects(document)
    if not read:
        return [_unplaced(item) for item in items]
    if len(items) != len(read):
        return read
    return [_checked(bookmark, item) for bookmark, item in zip(read, items, strict=True)]


def _checked(bookmark: Bookmark, item: Item) -> Bookmark:
    page = item[2]
    if bookmark.page not in _DOUBTFUL or bookmark.page == page:
        return bookmark
    return evolve(bookmark, page=page, x=math.nan, y=math.nan)


def _held_ready(document: Any) -> list[Bookmark]:
    pending = [(document.outline, 1)]
    read: list[Bookmark] = []
    page_count = document.page_count
    while pending and len(read) < BOOKMARK_LIMIT:
        item, level = pending.pop()
        if item is None or not item.this.m_internal:
            continue
        read.append(_bookmark(item, min(level, DEPTH_LIMIT), page_count))
        pending.append((item.next, level))
        pending.append((item.down, level + 1))
    return read


def _of_objects(document: Any) -> list[Item]:
    try:
        return list(outline_items(document))
    except CiteKitError:
        raise
    except Exception:  # a damaged outline has no bookmarks; PyMuPDF can raise any exception then
        return []


def _unplaced(item: Item) -> Bookmark:
    level, title, page = item
    return Bookmark(level, _shown(title), page, math.nan, math.nan)


def _bookmark(item: Any, level: int, page_count: int) -> Bookmark:
    page = item.page + 1
    inside = not item.is_external and 1 <= page <= page_count
    return Bookmark(level, _shown(item.title or ""), page if inside else None, float(item.x), float(item.y))


def _shown(title: str) -> str:
    return " ".join(title.replace("\0", " ").split())
