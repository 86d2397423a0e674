"""Lists the images that PDF pages draw, without decoding or rendering them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from attrs import define, field

from citekit.adapters.libraries.mupdf.engine import Document, exclusive

SHARED = 8
"""If a page has at least this many names for images, its content is searched for the names that it draws.

Many programs let all pages of a document name every picture in it.
"""

MOST = 5_000
"""The maximum number of names that are read from one dictionary."""

DEPTH = 4
"""The maximum number of levels of nested forms that are followed."""

_DRAWN = re.compile(rb"/([^\x00-\x20/<>\[\](){}%]+)\s+Do\b")
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")


class PdfImage(NamedTuple):
    """An image in a PDF: the number of its object, and its width and height in pixels."""

    number: int
    width: int
    height: int


Images = dict[str, tuple[PdfImage, ...]]
"""The images that each name in a resource dictionary stands for: a single image, or the images in a form."""


@define
class ImageReader:
    """A reader for the images on the pages of one document; it reads each resource dictionary once per nesting level.

    `page.get_images` reads all resources again for every page, in quadratic time if pages share them.
    """

    _document: Document
    _pdf: Any = field(default=None, init=False)
    _known: dict[Place, Images] = field(factory=dict, init=False)
    _within: dict[Place, tuple[PdfImage, ...]] = field(factory=dict, init=False)

    def images_of(self, page: int) -> list[PdfImage]:
        """Return the images that the page with the 1-based number `page` draws, directly or in a form on it.

        If fewer than `SHARED` names stand for images, all of them are assumed to be drawn. Raise the same errors as
        PyMuPDF.
        """
        with exclusive() as pymupdf:
            mupdf = pymupdf.mupdf
            if self._pdf is None:  # expensive: two milliseconds for a document of a thousand pages
                self._pdf = mupdf.pdf_document_from_fz_document(self._document.this)
            own = mupdf.pdf_lookup_page_obj(self._pdf, page - 1)
            resources = mupdf.pdf_dict_get_inheritable(own, mupdf.PDF_ENUM_NAME_Resources)
            named = self._named(mupdf, mupdf.pdf_dict_get(resources, mupdf.PDF_ENUM_NAME_XObject), DEPTH)
            if len(named) >= SHARED:
                drawn = _drawn(self._document[page - 1].read_contents())
                named = {name: images for name, images in named.items() if name in drawn}
        return list(_all(named))

    def _named(self, mupdf: Any, objects: Any, depth: int) -> Images:
        place = _place(mupdf, objects, depth)
        if place not in self._known:
            self._known[place] = dict(self._read(mupdf, objects, depth))
        return self._known[place]

    def _read(self, mupdf: Any, objects: Any, depth: int) -> Iterator[tuple[str, tuple[PdfImage, ...]]]:
        for at in range(min(mupdf.pdf_dict_len(objects), MOST)):
            images = self._stands_for(mupdf, mupdf.pdf_dict_get_val(objects, at), depth)
            if images:
                yield mupdf.pdf_to_name(mupdf.pdf_dict_get_key(objects, at)), images

    def _stands_for(self, mupdf: Any, thing: Any, depth: int) -> tuple[PdfImage, ...]:
        if mupdf.pdf_name_eq(mupdf.pdf_dict_get(thing, mupdf.PDF_ENUM_NAME_Subtype), mupdf.PDF_ENUM_NAME_Image):
            width = mupdf.pdf_dict_get_int(thing, mupdf.PDF_ENUM_NAME_Width)
            height = mupdf.pdf_dict_get_int(thing, mupdf.PDF_ENUM_NAME_Height)
            return (PdfImage(mupdf.pdf_to_num(thing), width, height),)
        resources = mupdf.pdf_dict_get(thing, mupdf.PDF_ENUM_NAME_Resources)
        if not depth or not resources.m_internal:
            return ()
        objects = mupdf.pdf_dict_get(resources, mupdf.PDF_ENUM_NAME_XObject)
        place = _place(mupdf, objects, depth - 1)
        if place not in self._within:
            self._within[place] = _all(self._named(mupdf, objects, depth - 1))
        return self._within[place]


Place = tuple[int, int]
"""The object number of a dictionary, or of the object that contains it, and how many more levels of nested forms are
followed from it.
"""


def _place(mupdf: Any, objects: Any, depth: int) -> Place:
    return mupdf.pdf_to_num(objects) or mupdf.pdf_obj_parent_num(objects), depth


def _all(named: Images) -> tuple[PdfImage, ...]:
    """Return the images of all names, each image once."""
    distinct = {id(images): images for images in named.values()}
    return tuple(dict.fromkeys(image for images in distinct.values() for image in images))


def _drawn(content: bytes) -> set[str]:
    """Return the resource names that the drawing operators in a page's content stream refer to."""
    names = _DRAWN.findall(content)
    return {_ESCAPED.sub(lambda code: bytes([int(code[1], 16)]), name).decode("utf-8", "replace") for name in names}
