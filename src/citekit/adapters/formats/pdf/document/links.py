"""Reads the targets of links on a PDF page that lead to pages of the same document."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from attrs import define, field

from citekit.adapters.formats.pdf.document.page_objects import page_index
from citekit.adapters.libraries.mupdf.engine import Document, exclusive

_NAMED = "#nameddest="
_TOPS = {"XYZ": 3, "FitH": 2, "FitBH": 2, "FitR": 5}
"""The index of the height in a destination array, by the type of the destination (ISO 32000-1, table 151)."""

Rectangle = tuple[float, float, float, float]
Place = tuple[int, float]
"""A page, counted from 0, and a distance from the top of that page in points (NaN if the destination has no height)."""


@define
class LinkReader:
    """A reader for the links on the pages of one document; it looks up each destination name at most once.

    `page.get_links` first reads all names of the document and loads every page they lead to.
    """

    _document: Document
    _places: dict[str, Place | None] = field(factory=dict, init=False)
    _names: list[Any] | None = field(default=None, init=False)
    _pdf: Any = field(default=None, init=False)

    def links_of(self, page: Any, most: int) -> Iterator[tuple[Rectangle, Place]]:
        """Yield the rectangle and the target of each link of `page` that leads to a page of the document.

        The rectangle is in points on the displayed page. Only the first `most` links are read. Call this method inside
        `exclusive()` or `opened()`. It raises the same errors as PyMuPDF.
        """
        with exclusive() as pymupdf:
            mupdf, pages = pymupdf.mupdf, int(self._document.page_count)
            link, count = mupdf.fz_load_links(page.this), 0
            while link.m_internal and count < most:
                uri, box = link.uri() or "", link.rect()
                place = self._named(unquote(uri[len(_NAMED) :])) if uri.startswith(_NAMED) else _numbered(uri)
                if place is not None and 0 <= place[0] < pages:
                    yield (box.x0, box.y0, box.x1, box.y1), place
                link, count = link.next(), count + 1

    def _named(self, name: str) -> Place | None:
        if name not in self._places:
            self._places[name] = self._looked_up(name)
        return self._places[name]

    def _looked_up(self, name: str) -> Place | None:
        with exclusive() as pymupdf:
            mupdf = pymupdf.mupdf
            if self._names is None:
                self._pdf = mupdf.pdf_document_from_fz_document(self._document.this)
                self._names = _dictionaries(mupdf, self._pdf)
            for names in self._names:
                target = mupdf.pdf_dict_gets(names, name)
                if target.m_internal:
                    return self._destination(mupdf, target)
        return None

    def _destination(self, mupdf: Any, target: Any) -> Place | None:
        array = mupdf.pdf_dict_gets(target, "D") if mupdf.pdf_is_dict(target) else target
        if not mupdf.pdf_is_array(array):
            return None
        page = page_index(mupdf, self._pdf, array)
        place = _TOPS.get(mupdf.pdf_to_name(mupdf.pdf_array_get(array, 1)))
        top = mupdf.pdf_array_get(array, place) if place is not None else None
        if top is None or not mupdf.pdf_is_number(top) or not 0 <= page < self._document.page_count:
            return page, math.nan
        height = float(mupdf.pdf_to_real(top))
        return page, float(self._document.page_cropbox(page).y1) - height if height else math.nan


def _dictionaries(mupdf: Any, pdf: Any) -> list[Any]:
    """Return the document's dictionaries of named destinations: the name tree, then the dictionary of PDF 1.1."""
    dests = mupdf.pdf_new_name("Dests")
    root = mupdf.pdf_dict_gets(mupdf.pdf_trailer(pdf), "Root")
    found = (mupdf.pdf_load_name_tree(pdf, dests), mupdf.pdf_dict_get(root, dests))
    return [each for each in found if mupdf.pdf_is_dict(each)]


def _numbered(uri: str) -> Place | None:
    """Return the 0-based page and the distance from its top (perhaps NaN) that a URI such as `#page=3&zoom=100,72,90`
    names; None if it names no page.
    """
    if not uri.startswith("#"):
        return None
    said = dict(part.partition("=")[::2] for part in uri[1:].split("&"))
    if not said.get("page", "").isdigit():
        return None
    zoom, view = said.get("zoom", "").split(","), [part.strip() for part in said.get("view", "").split(",")]
    place = _TOPS.get(view[0].lstrip("/"), len(view) + 1) - 1
    height = _height(zoom[2]) if len(zoom) >= 3 else _height(view[place]) if place < len(view) else math.nan
    return int(said["page"]) - 1, height


def _height(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
