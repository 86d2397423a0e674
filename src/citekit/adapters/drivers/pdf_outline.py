"""The bookmarks of a PDF (ISO 32000-1, 12.3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

BOOKMARK_LIMIT = 20_000
"""Bookmarks that are read; a longer outline is a damaged or hostile one."""

DEPTH_LIMIT = 32


@frozen
class Bookmark:
    """`level` from 1; `page` from 1, None where it leads nowhere inside the file.

    `x` and `y` are the place on the page as it is shown, in points from its top left; NaN where it names none.
    """

    level: int
    title: str
    page: int | None
    x: float
    y: float


def read_bookmarks(document: Any) -> Iterator[Bookmark]:
    """The bookmarks in reading order, at most `BOOKMARK_LIMIT`, none deeper than `DEPTH_LIMIT` (deeper ones move up).

    Walks the outline that PyMuPDF holds ready: `get_toc(simple=False)`, which also tells places, is forty times slower.
    """
    pending = [(document.outline, 1)]
    read, page_count = 0, document.page_count
    while pending and read < BOOKMARK_LIMIT:
        item, level = pending.pop()
        if item is None or not item.this.m_internal:
            continue
        read += 1
        yield _bookmark(item, min(level, DEPTH_LIMIT), page_count)
        pending.append((item.next, level))
        pending.append((item.down, level + 1))


def _bookmark(item: Any, level: int, page_count: int) -> Bookmark:
    page = item.page + 1
    inside = not item.is_external and 1 <= page <= page_count
    title = " ".join((item.title or "").replace("\0", " ").split())
    return Bookmark(level, title, page if inside else None, float(item.x), float(item.y))
