"""What lies all over the file of a PDF: where its bookmarks lead, which objects its pages are (ISO 32000-1, 7.7.3, 12.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from citekit.adapters.libraries.mupdf.engine import Document, exclusive

BOOKMARK_LIMIT = 20_000
"""Bookmarks that are read; a longer outline is a damaged or hostile one."""

DEPTH_LIMIT = 32

_DEPTH = 40
"""Levels of a page tree that is read."""


class OutlineError(Exception):
    """An outline that readers may see differently: it runs in circles, or its items are no objects of their own."""


class PageTreeError(Exception):
    """A page tree that readers may count differently."""


class Target(NamedTuple):
    """The outline item with the object number `item`, `level` from 1, and that of the page it leads to, 0 where none."""

    level: int
    item: int
    page: int


Item = tuple[int, str, int | None]
"""Level from 1, title, and the page from 1, None where the destination is no page of the file."""


def outline_targets(document: Document) -> Iterator[Target]:
    """The items of the outline in reading order. Raises `OutlineError`. Call it inside `exclusive()`."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
    source = mupdf.pdf_document_from_fz_document(document.this)
    for level, item, own in _outline(mupdf, source, circles=False):
        yield Target(min(level, DEPTH_LIMIT), own, _page(mupdf, source, item, own))


def outline_items(document: Document) -> Iterator[Item]:
    """The bookmarks in reading order, those of an outline in circles once. Call it inside `exclusive()` or `opened()`.

    MuPDF drops all of such an outline, and takes one to a page that is not there for one to the first. Raises what PyMuPDF
    does.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        source = mupdf.pdf_document_from_fz_document(document.this)
        count = mupdf.pdf_count_pages(source)
        for level, plain, _ in _outline(mupdf, source, circles=True):
            item = mupdf.PdfObj(mupdf.ll_pdf_keep_obj(plain))
            title = mupdf.pdf_dict_get_text_string(item, mupdf.PDF_ENUM_NAME_Title)
            page = _index(mupdf, source, item)
            yield min(level, DEPTH_LIMIT), str(title), page + 1 if 0 <= page < count else None


def _outline(mupdf: Any, source: Any, *, circles: bool) -> Iterator[tuple[int, Any, int]]:
    """Level, item and its number. If the outline has cycles and `circles` is true, each item is yielded once;
    otherwise, `OutlineError` is raised.

    Walked by plain pointers, for there may be thousands: they live as long as the document.
    """
    get, number = mupdf.ll_pdf_dict_gets, mupdf.ll_pdf_to_num
    root = mupdf.ll_pdf_dict_getp(mupdf.ll_pdf_trailer(source.m_internal), "Root/Outlines")
    pending = [(get(root, "First"), 1)]
    seen: set[int] = set()
    while pending and len(seen) < BOOKMARK_LIMIT:
        item, level = pending.pop()
        if not item:
            continue
        own = number(item)
        if circles and own in seen:
            continue
        if own in seen or not (own or circles):
            raise OutlineError
        seen.add(own)
        yield level, item, own
        pending += ((get(item, "Next"), level), (get(item, "First"), level + 1))


def _index(mupdf: Any, source: Any, item: Any) -> int:
    try:
        return page_index(mupdf, source, explicit(mupdf, source, item))
    except RuntimeError:  # MuPDF's word for an object that is no page
        return -1


def page_index(mupdf: Any, source: Any, place: Any | None) -> int:
    """The page, counted from 0, that an explicit destination names; -1 where it names none. Raises what PyMuPDF does."""
    if place is None:
        return -1
    page = mupdf.pdf_array_get(place, 0)
    if mupdf.pdf_is_int(page):
        return int(mupdf.pdf_to_int(page))
    return int(mupdf.pdf_lookup_page_number(source, page)) if mupdf.pdf_is_dict(page) else -1


def _page(mupdf: Any, source: Any, item: Any, own: int) -> int:
    place = mupdf.ll_pdf_dict_gets(item, "Dest") or mupdf.ll_pdf_dict_getp(item, "A/D")
    if place and mupdf.ll_pdf_is_array(place) and mupdf.ll_pdf_dict_gets(item, "Dest"):
        return int(mupdf.ll_pdf_to_num(mupdf.ll_pdf_array_get(place, 0)))
    return page_number(mupdf, explicit(mupdf, source, mupdf.pdf_new_indirect(source, own, 0))) if place else 0


def explicit(mupdf: Any, source: Any, holder: Any) -> Any | None:
    """The explicit destination, an array, of the link or outline item `holder`; None where it leads elsewhere."""
    plain, get = holder.m_internal, mupdf.ll_pdf_dict_gets
    place = get(plain, "Dest")
    if not place and mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_getp(plain, "A/S")) == "GoTo":
        place = mupdf.ll_pdf_dict_getp(plain, "A/D")
    found = mupdf.PdfObj(mupdf.ll_pdf_keep_obj(place))
    if mupdf.ll_pdf_is_string(place) or mupdf.ll_pdf_is_name(place):
        found = mupdf.pdf_lookup_dest(source, found)
    if mupdf.pdf_is_dict(found):
        found = mupdf.pdf_dict_gets(found, "D")
    return found if mupdf.pdf_is_array(found) else None


def page_number(mupdf: Any, place: Any | None) -> int:
    """The object number of the page that an explicit destination names, 0 where there is none."""
    return 0 if place is None else int(mupdf.pdf_to_num(mupdf.pdf_array_get(place, 0)))


def page_leaves(document: Document) -> Iterator[int]:
    """The object numbers of the pages from the left of their tree, whatever its nodes count. Raises `PageTreeError`.

    Call it inside `exclusive()`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
    pdf = mupdf.pdf_document_from_fz_document(document.this)
    return _leaves(mupdf, mupdf.ll_pdf_dict_getp(mupdf.ll_pdf_trailer(pdf.m_internal), "Root/Pages"), set())


def _leaves(mupdf: Any, node: Any, nodes: set[int], depth: int = 0) -> Iterator[int]:
    """Plain pointers, for there may be thousands of pages: they live as long as the document.

    A node that is met twice ends it: some dozen of them could be met more often than anybody can wait for.
    """
    get, name = mupdf.ll_pdf_dict_gets, mupdf.ll_pdf_to_name
    kids = get(node, "Kids")
    if depth > _DEPTH or not kids or not mupdf.ll_pdf_is_array(kids):
        raise PageTreeError
    for place in range(mupdf.ll_pdf_array_len(kids)):
        kid = mupdf.ll_pdf_array_get(kids, place)
        kind = get(kid, "Type") if kid else None
        kind = name(kind) if kind else ""
        if kind == "Page":
            yield mupdf.ll_pdf_to_num(kid)
        elif kind == "Pages" and (number := mupdf.ll_pdf_to_num(kid)) not in nodes:
            nodes.update({number} - {0})
            yield from _leaves(mupdf, kid, nodes, depth + 1)
        else:
            raise PageTreeError
