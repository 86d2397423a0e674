"""Where links and bookmarks lead, told by the objects of the source (ISO 32000-1, 12.3.2 and 12.3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from citekit.adapters.drivers.pdf_outline import BOOKMARK_LIMIT, DEPTH_LIMIT, Bookmark
from citekit.adapters.drivers.pymupdf import Document, exclusive
from citekit.adapters.extraction.pdf.outline import Mark

_KNOWN = "_citekit_targets"
_VIEWS = frozenset(("XYZ", "Fit", "FitH", "FitV", "FitR", "FitB", "FitBH", "FitBV"))


class OutlineError(Exception):
    """An outline that readers may see differently: it runs in circles, or its items are no objects of their own."""


@frozen
class Target:
    """The outline item with the object number `item`, `level` from 1, and that of the page it leads to, 0 where none."""

    level: int
    item: int
    page: int


def explicit(mupdf: Any, source: Any, holder: Any) -> Any | None:
    """The explicit destination, an array, of the link or outline item `holder`; None where it leads elsewhere."""
    place = mupdf.pdf_dict_gets(holder, "Dest")
    if not place.m_internal and mupdf.pdf_to_name(mupdf.pdf_dict_getp(holder, "A/S")) == "GoTo":
        place = mupdf.pdf_dict_getp(holder, "A/D")
    if mupdf.pdf_is_string(place) or mupdf.pdf_is_name(place):
        place = mupdf.pdf_lookup_dest(source, place)
    if mupdf.pdf_is_dict(place):
        place = mupdf.pdf_dict_gets(place, "D")
    return place if mupdf.pdf_is_array(place) else None


def page_number(mupdf: Any, place: Any | None) -> int:
    """The object number of the page that an explicit destination names, 0 where there is none."""
    return 0 if place is None else int(mupdf.pdf_to_num(mupdf.pdf_array_get(place, 0)))


def copied_marks(document: Document, positions: Mapping[int, int]) -> list[Mark]:
    """The bookmarks to the pages whose object numbers `positions` leads to their places (from 0) in the mini-PDF.

    One whose parent leads elsewhere moves up. `document` is one that nobody changes. Raises `OutlineError`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        source = mupdf.pdf_document_from_fz_document(document.this)
        marks: list[Mark] = []
        levels: list[int] = []
        for target in _targets(mupdf, source, document):
            while levels and levels[-1] >= target.level:
                levels.pop()
            if target.page in positions:
                marks.append(_mark(mupdf, source, target, len(levels), positions[target.page]))
                levels.append(target.level)
        return marks


def _mark(mupdf: Any, source: Any, target: Target, depth: int, position: int) -> Mark:
    item = mupdf.pdf_new_indirect(source, target.item, 0)
    title = mupdf.pdf_to_text_string(mupdf.pdf_dict_gets(item, "Title"))
    nowhere = float("nan")
    bookmark = Bookmark(target.level, " ".join(title.replace("\0", " ").split()), None, nowhere, nowhere)
    return Mark(depth, position, bookmark, _view(mupdf, explicit(mupdf, source, item)))


def _view(mupdf: Any, place: Any) -> str:
    """What follows the page in an explicit destination, as PDF source text."""
    name = mupdf.pdf_to_name(mupdf.pdf_array_get(place, 1))
    if name not in _VIEWS:
        return "/Fit"
    values = [mupdf.pdf_array_get(place, at) for at in range(2, min(mupdf.pdf_array_len(place), 6))]
    plain = [f"{mupdf.pdf_to_real(each):.3f}" if mupdf.pdf_is_number(each) else "null" for each in values]
    return " ".join((f"/{name}", *plain))


def _targets(mupdf: Any, source: Any, document: Document) -> list[Target]:
    known: list[Target] | None = getattr(document, _KNOWN, None)
    if known is None:
        known = list(_read(mupdf, source))
        setattr(document, _KNOWN, known)
    return known


def _read(mupdf: Any, source: Any) -> Iterator[Target]:
    """The items in reading order, walked by plain pointers, for there may be thousands: they live as long as the document."""
    get, number = mupdf.ll_pdf_dict_gets, mupdf.ll_pdf_to_num
    root = mupdf.ll_pdf_dict_getp(mupdf.ll_pdf_trailer(source.m_internal), "Root/Outlines")
    pending = [(get(root, "First"), 1)]
    seen: set[int] = set()
    while pending and len(seen) < BOOKMARK_LIMIT:
        item, level = pending.pop()
        if not item:
            continue
        own = number(item)
        if own in seen or not own:
            raise OutlineError
        seen.add(own)
        yield Target(min(level, DEPTH_LIMIT), own, _page(mupdf, source, item, own))
        pending += ((get(item, "Next"), level), (get(item, "First"), level + 1))


def _page(mupdf: Any, source: Any, item: Any, own: int) -> int:
    place = mupdf.ll_pdf_dict_gets(item, "Dest") or mupdf.ll_pdf_dict_getp(item, "A/D")
    if place and mupdf.ll_pdf_is_array(place) and mupdf.ll_pdf_dict_gets(item, "Dest"):
        return int(mupdf.ll_pdf_to_num(mupdf.ll_pdf_array_get(place, 0)))
    return page_number(mupdf, explicit(mupdf, source, mupdf.pdf_new_indirect(source, own, 0))) if place else 0
