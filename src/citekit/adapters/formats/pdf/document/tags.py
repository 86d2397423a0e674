"""Reads the headings that a tagged PDF marks in its structure tree (ISO 32000-1, 14.8.4.3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from citekit.adapters.formats.pdf.document.text import blocks_as_plain_data
from citekit.adapters.libraries.mupdf.engine import Document, exclusive

DEPTH = 100
"""The maximum number of levels of a structure tree that is read."""

ELEMENTS = 400_000
"""The maximum number of elements of a structure tree that is read."""

_HEADING = re.compile(r"H([1-6]?)")


@frozen
class TaggedHeading:
    """A tagged heading: its level, its title, and the distance `y` of its top edge from the top of the displayed page.

    `level` is 1 to 6 for the tags `H1` to `H6`; for `H`, it is one more than the number of enclosing sections, but at
    most 6. `y` is in whole points.
    """

    level: int
    title: str
    y: float


def is_tagged(document: Document) -> bool:
    """Return whether the PDF has a structure tree of at most `DEPTH` levels and `ELEMENTS` elements.

    MuPDF climbs from each piece of text to the root, in time that grows with the square of the depth. Call this
    function inside `exclusive()` or `opened()`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        parents = mupdf.ll_pdf_dict_getp(mupdf.ll_pdf_trailer(pdf.m_internal), "Root/StructTreeRoot/ParentTree")
        if not parents:
            return False
        depths: dict[int, int] = {}
        for count, element in enumerate(_elements(mupdf, parents)):
            if count > ELEMENTS or element is None or not _is_shallow(mupdf, element, depths):
                return False
        return True


def _elements(mupdf: Any, root: Any) -> Iterator[Any]:
    """Yield raw pointers to the elements that the leaves of a number tree (ISO 32000-1, 7.9.7) name.

    If the tree is too large, yield None and stop.
    """
    get, at, length = mupdf.ll_pdf_dict_gets, mupdf.ll_pdf_array_get, mupdf.ll_pdf_array_len
    pending, nodes = [root], 0
    while pending:
        node = pending.pop()
        nodes += 1
        if nodes > ELEMENTS:
            yield None
            return
        kids, numbers = get(node, "Kids"), get(node, "Nums")
        pending += [at(kids, place) for place in range(min(length(kids), ELEMENTS) if kids else 0)]
        for place in range(1, length(numbers) if numbers else 0, 2):
            value = at(numbers, place)
            inside = range(length(value)) if mupdf.ll_pdf_is_array(value) else ()
            yield from (at(value, each) for each in inside) if inside else (value,)


def _is_shallow(mupdf: Any, element: Any, depths: dict[int, int]) -> bool:
    """Return whether `element` is at most `DEPTH` levels deep; `depths` caches known depths by object number."""
    way: list[int] = []
    node = element
    while node and mupdf.ll_pdf_is_dict(node) and len(way) <= DEPTH:
        number = mupdf.ll_pdf_to_num(node)
        if number and number in depths:
            break
        way.append(number)
        node = mupdf.ll_pdf_dict_gets(node, "P")
    above = depths.get(mupdf.ll_pdf_to_num(node), 0) if node else 0
    depths.update({number: above + step for step, number in enumerate(reversed(way), 1) if number})
    return above + len(way) <= DEPTH


def tagged_headings(page: Any) -> list[TaggedHeading]:
    """Return the headings among the structure tags of `page`, in file order. Raise the same errors as PyMuPDF and
    `json`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        flags = pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE | pymupdf.TEXT_COLLECT_STRUCTURE
        text = mupdf.FzStextPage(page.this, mupdf.FzStextOptions(flags))
        return list(_headings(blocks_as_plain_data(text, 1.0), 1))


def _headings(blocks: list[dict[str, Any]], depth: int) -> Iterator[TaggedHeading]:
    for block in blocks:
        tag = _HEADING.fullmatch(block.get("std", ""))
        if tag is None:
            yield from _headings(block.get("contents", []), depth + (block.get("std") == "Sect"))
            continue
        lines = list(_lines(block))
        title = " ".join(" ".join(line["text"] for line in lines).split())
        if title:
            yield TaggedHeading(int(tag[1] or min(depth, 6)), title, float(min(line["bbox"]["y"] for line in lines)))


def _lines(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from block.get("lines", [])
    for part in block.get("contents", []):
        yield from _lines(part)
