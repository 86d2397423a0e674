"""Reads bookmark targets and page objects, which are scattered over a PDF (ISO 32000-1, 7.7.3 and 12.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from citekit.adapters.libraries.mupdf.engine import Document, exclusive

BOOKMARK_LIMIT = 20_000
"""The maximum number of bookmarks that are read. A longer outline is probably damaged or hostile."""

DEPTH_LIMIT = 32

_DEPTH = 40
"""The maximum number of levels of nodes below the root of a page tree that is read."""


class OutlineError(Exception):
    """Raised for an outline that PDF readers may interpret differently: it has a cycle or direct objects as items."""


class PageTreeError(Exception):
    """Raised for a page tree whose pages PDF readers may count differently."""


class Target(NamedTuple):
    """An outline item: its level (1 is the top level), its object number, and that of its target page (0 if it has
    none).
    """

    level: int
    item: int
    page: int


Item = tuple[int, str, int | None]
"""An outline item: its level (from 1), its title, and its page (from 1; None if it is not in the file)."""


def outline_targets(document: Document) -> Iterator[Target]:
    """Yield at most `BOOKMARK_LIMIT` items of the document's outline in reading order, each with its target.

    Items deeper than `DEPTH_LIMIT` get that level. Raise `OutlineError` if the outline has cycles or direct objects.
    Call this function inside `exclusive()`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
    source = mupdf.pdf_document_from_fz_document(document.this)
    for level, item, own in _outline(mupdf, source, circles=False):
        yield Target(min(level, DEPTH_LIMIT), own, _page(mupdf, source, item, own))


def outline_items(document: Document) -> Iterator[Item]:
    """Yield the level, title, and page of at most `BOOKMARK_LIMIT` bookmarks in reading order.

    Each bookmark of a cyclic outline is yielded once. Bookmarks deeper than `DEPTH_LIMIT` get that level. The page is
    1-based, or None if the bookmark leads to no existing page. Call this function inside `exclusive()` or `opened()`.
    Raise the same errors as PyMuPDF.
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
    """Yield the level (1 is the top level), raw pointer, and object number of each outline item in reading order.

    Raise `OutlineError` for a cycle or a direct object. With `circles`, yield each item of a cyclic outline once
    instead, and only the first of several direct objects.
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
    except RuntimeError:  # raised by MuPDF for an object that is not a page
        return -1


def page_index(mupdf: Any, source: Any, place: Any | None) -> int:
    """Return the 0-based index of the page, which need not exist, that the explicit destination `place` names, or -1.

    Raise the same errors as PyMuPDF.
    """
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
    """Return the explicit destination (a PDF array) of the link or outline item `holder`, or None."""
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
    """Return the object number of the page that the explicit destination `place` names, or 0."""
    return 0 if place is None else int(mupdf.pdf_to_num(mupdf.pdf_array_get(place, 0)))


def page_leaves(document: Document) -> Iterator[int]:
    """Yield the object numbers of the pages in page order, ignoring the page counts in the tree's nodes.

    Raise `PageTreeError` if PDF readers may count the pages differently. Call this function inside `exclusive()`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
    pdf = mupdf.pdf_document_from_fz_document(document.this)
    return _leaves(mupdf, mupdf.ll_pdf_dict_getp(mupdf.ll_pdf_trailer(pdf.m_internal), "Root/Pages"), set())


def _leaves(mupdf: Any, node: Any, nodes: set[int], depth: int = 0) -> Iterator[int]:
    """Yield the object numbers of the pages below the page tree node `node`, which is a raw pointer, for speed.

    Raise `PageTreeError` if the tree is too deep or malformed, or if a node is reached twice: a few dozen such nodes
    could be visited exponentially often.
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


def utf16_hex(value: str) -> str:
    """Return `value` as the hexadecimal digits of a PDF text string in UTF-16 (ISO 32000-1, 7.9.2.2)."""
    return f"FEFF{value.encode('utf-16-be', 'replace').hex().upper()}"
