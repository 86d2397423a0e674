"""Finds the bookmarks that lead to the pages of a mini-PDF, and writes them to it (ISO 32000-1, 12.3.2 and 12.3.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from attrs import define, frozen

from citekit.adapters.formats.pdf.document.bookmarks import Bookmark
from citekit.adapters.formats.pdf.document.document_cache import PdfMemory
from citekit.adapters.formats.pdf.document.page_objects import Target, explicit, outline_targets, utf16_hex
from citekit.adapters.libraries.mupdf.engine import Document, exclusive

_Mark = TypeVar("_Mark", Bookmark, Target)


@frozen
class MiniPdfBookmark:
    """A bookmark of a mini-PDF that leads to the page at `position` (0-based), at nesting `depth` (0 is the top level).

    `view` is the part of its destination after the page, as PDF source text; if it is "", the coordinates of
    `bookmark`, the bookmark in the source, are used.
    """

    depth: int
    position: int
    bookmark: Bookmark
    view: str = ""


@define
class _OutlineObject:
    """An outline dictionary of a PDF under construction. It refers to other objects by number; 0 means none."""

    xref: int
    parent: int = 0
    previous: int = 0
    next: int = 0
    first: int = 0
    last: int = 0
    count: int = 0


def bookmarks_to_pages(bookmarks: Iterable[Bookmark], pages: Sequence[int]) -> list[MiniPdfBookmark]:
    """Return those of `bookmarks` that lead to one of `pages` (1-based numbers of the source).

    A bookmark whose parent is left out moves up to the nearest ancestor that is kept.
    """
    positions = {page: position for position, page in enumerate(pages)}
    return [MiniPdfBookmark(depth, position, each) for each, depth, position in _placed(bookmarks, positions)]


def _placed(marks: Iterable[_Mark], positions: Mapping[int, int]) -> Iterator[tuple[_Mark, int, int]]:
    """Yield those of `marks` that lead to the pages in `positions`, with their nesting depths and positions."""
    levels: list[int] = []
    for mark in marks:
        while levels and levels[-1] >= mark.level:
            levels.pop()
        position = None if mark.page is None else positions.get(mark.page)
        if position is not None:
            yield mark, len(levels), position
            levels.append(mark.level)


def write_bookmarks(document: Document, marks: Sequence[MiniPdfBookmark]) -> None:
    """Make `marks` the bookmarks of `document`, collapsed below the top level. Do nothing if there are no marks."""
    if not marks:
        return
    root = _OutlineObject(document.get_new_xref())
    items = [_OutlineObject(document.get_new_xref()) for _ in marks]
    _link_items(root, marks, items)
    for mark, item in zip(marks, items, strict=True):
        document.update_object(
            item.xref, f"<</Title<{utf16_hex(mark.bookmark.title)}>{_destination(document, mark)}{_references(item)}>>"
        )
    document.update_object(root.xref, f"<</Type/Outlines{_references(root)}>>")
    document.xref_set_key(document.pdf_catalog(), "Outlines", f"{root.xref} 0 R")


def _link_items(root: _OutlineObject, marks: Sequence[MiniPdfBookmark], items: Sequence[_OutlineObject]) -> None:
    above = [root]
    for mark, item in zip(marks, items, strict=True):
        del above[mark.depth + 1 :]
        parent = above[-1]
        item.parent, item.previous = parent.xref, parent.last
        if parent.last:
            items[parent.last - items[0].xref].next = item.xref
        parent.first = parent.first or item.xref
        parent.last = item.xref
        parent.count += 1 if parent is root else -1
        above.append(item)


def _references(item: _OutlineObject) -> str:
    ties = {"Parent": item.parent, "Prev": item.previous, "Next": item.next, "First": item.first, "Last": item.last}
    text = "".join(f"/{name} {xref} 0 R" for name, xref in ties.items() if xref)
    return f"{text}/Count {item.count}" if item.count else text


def _destination(document: Document, mark: MiniPdfBookmark) -> str:
    page = f"{document.page_xref(mark.position)} 0 R"
    if mark.view:
        return f"/Dest[{page}{mark.view}]"
    x, y = mark.bookmark.x, mark.bookmark.y
    if not (math.isfinite(x) and math.isfinite(y)):
        return f"/Dest[{page}/Fit]"
    left, top = _to_pdf_space(document, mark.position, x, y)
    return f"/Dest[{page}/XYZ {left:.3f} {top:.3f} null]"


def _to_pdf_space(document: Document, position: int, x: float, y: float) -> tuple[float, float]:
    """Convert a point of the displayed page (origin top left) to PDF coordinates (origin bottom left, unrotated)."""
    page = document[position]
    turn, upright = page.rotation, page.derotation_matrix
    page.set_rotation(0)
    paper = ~page.transformation_matrix
    page.set_rotation(turn)
    matrix = upright * paper
    return matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f


_TARGETS_ATTRIBUTE = "_citekit_targets"
_VIEWS = frozenset(("XYZ", "Fit", "FitH", "FitV", "FitR", "FitB", "FitBH", "FitBV"))


def copy_bookmarks(document: Document, positions: Mapping[int, int], memory: PdfMemory) -> list[MiniPdfBookmark]:
    """Return the bookmarks that lead to the pages in `positions`. Those without their parents move up, as in
    `bookmarks_to_pages`.

    `positions` maps the object numbers of pages to their 0-based positions in the mini-PDF. `document` must be
    unmodified. Raise `OutlineError` if the outline has cycles or direct objects.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        source = mupdf.pdf_document_from_fz_document(document.this)
        placed = _placed(_targets(document, memory), positions)
        return [_bookmark_of(mupdf, source, *each) for each in placed]


def _bookmark_of(mupdf: Any, source: Any, target: Target, depth: int, position: int) -> MiniPdfBookmark:
    item = mupdf.pdf_new_indirect(source, target.item, 0)
    title = mupdf.pdf_to_text_string(mupdf.pdf_dict_gets(item, "Title"))
    nowhere = float("nan")
    bookmark = Bookmark(target.level, " ".join(title.replace("\0", " ").split()), None, nowhere, nowhere)
    return MiniPdfBookmark(depth, position, bookmark, _view(mupdf, explicit(mupdf, source, item)))


def _view(mupdf: Any, destination: Any) -> str:
    """Return the part of a destination after its page, such as `/XYZ 72 700 null`, as PDF source text; `/Fit` by
    default.
    """
    name = mupdf.pdf_to_name(mupdf.pdf_array_get(destination, 1))
    if name not in _VIEWS:
        return "/Fit"
    values = [mupdf.pdf_array_get(destination, at) for at in range(2, min(mupdf.pdf_array_len(destination), 6))]
    plain = [f"{mupdf.pdf_to_real(each):.3f}" if mupdf.pdf_is_number(each) else "null" for each in values]
    return " ".join((f"/{name}", *plain))


def _targets(document: Document, memory: PdfMemory) -> list[Target]:
    """Return the bookmark targets, cached on the document object for the digest of the source."""
    of, known = getattr(document, _TARGETS_ATTRIBUTE, (None, None))
    if known is None or of != memory.source.digest:
        known = memory.targets()
    if known is None:
        known = list(outline_targets(document))
        memory.learn_targets(known)
    setattr(document, _TARGETS_ATTRIBUTE, (memory.source.digest, known))
    return list(known)
