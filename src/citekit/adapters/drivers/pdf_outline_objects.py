"""The bookmarks of a PDF as its objects hold them (ISO 32000-1, 12.3.3), where MuPDF's own reading says too little.

MuPDF drops all bookmarks of an outline that runs in circles, and takes one that leads to a page that is not there for one
of the first page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from citekit.adapters.drivers.pymupdf import exclusive

Item = tuple[int, str, int | None]
"""Level from 1, title, and the page from 1, None where the destination is no page of the file."""


def outline_items(document: Any, most: int) -> Iterator[Item]:
    """The first `most` bookmarks in reading order, each object once. Call it inside `exclusive()` or `opened()`.

    Raises what PyMuPDF does.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        root = mupdf.pdf_dict_gets(mupdf.pdf_dict_gets(mupdf.pdf_trailer(pdf), "Root"), "Outlines")
        pending = [(mupdf.pdf_dict_gets(root, "First"), 1)]
        seen: set[int] = set()
        while pending and len(seen) < most:
            item, level = pending.pop()
            number = int(mupdf.pdf_to_num(item))
            if not mupdf.pdf_is_dict(item) or number in seen:
                continue
            seen.add(number)
            title = mupdf.pdf_dict_get_text_string(item, mupdf.PDF_ENUM_NAME_Title)
            yield level, str(title), _page(mupdf, pdf, item)
            pending.append((mupdf.pdf_dict_gets(item, "Next"), level))
            pending.append((mupdf.pdf_dict_gets(item, "First"), level + 1))


def _page(mupdf: Any, pdf: Any, item: Any) -> int | None:
    target = mupdf.pdf_dict_gets(item, "Dest")
    if not target.m_internal:
        action = mupdf.pdf_dict_gets(item, "A")
        kind = mupdf.pdf_to_name(mupdf.pdf_dict_gets(action, "S"))
        target = mupdf.pdf_dict_gets(action, "D") if kind == "GoTo" else target
    if mupdf.pdf_is_name(target) or mupdf.pdf_is_string(target):
        target = mupdf.pdf_lookup_dest(pdf, target)
    if mupdf.pdf_is_dict(target):
        target = mupdf.pdf_dict_gets(target, "D")
    page = mupdf.pdf_array_get(target, 0) if mupdf.pdf_is_array(target) else target
    if mupdf.pdf_is_int(page):
        number = int(mupdf.pdf_to_int(page))
        return number + 1 if 0 <= number < mupdf.pdf_count_pages(pdf) else None
    try:
        number = int(mupdf.pdf_lookup_page_number(pdf, page)) if mupdf.pdf_is_dict(page) else -1
    except RuntimeError:  # MuPDF's word for an object that is no page
        return None
    return number + 1 if number >= 0 else None
