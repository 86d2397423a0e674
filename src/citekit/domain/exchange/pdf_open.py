"""Converts pages to and from the fragment of a PDF's URI (RFC 8118).

An example is `#page=12&viewrect=left,top,width,height`.
"""

from __future__ import annotations

from decimal import Decimal

from citekit.domain.errors import AddressMalformed, FormUnsupported
from citekit.domain.exchange.uri_fragment import bare, pairs
from citekit.domain.locations import Box, Location, Pages
from citekit.domain.numbers import exact, read_whole
from citekit.domain.rectangles import box_from_edges, box_from_xywh, decimals, xywh


def to_pdf_open(location: Location, page_size: tuple[float, float] | None = None) -> str:
    """Return `#page=12`, followed by `&viewrect=left,top,width,height` if the location has a region and `page_size` is
    given.

    `page_size` is the (width, height) of the displayed page in points. For several pages, the result is the first page,
    because the standard supports only one. Raise `FormUnsupported` if the location is not pages, or `AddressMalformed`
    if `page_size` is needed and is not above 0.
    """
    if not isinstance(location, Pages):
        raise FormUnsupported(
            f"PDF open parameters support only pages, not locations of the type {type(location).__name__}."
        )
    page = f"#page={location.numbers[0]}"
    if location.region is None or page_size is None:
        return page
    return f"{page}&viewrect={xywh(location.region, *_size(page, page_size))}"


def from_pdf_open(text: str, page_size: tuple[float, float] | None = None) -> Pages:
    """Parse a fragment, or a URI with a fragment, as a page, with a region if there is a `viewrect` or `highlight`
    parameter.

    Parameters are separated by `&` or `#`. A later page replaces an earlier page and its rectangle, and a later
    rectangle replaces an earlier one. Parameters that affect only the view (`zoom`, `search`, ...) are ignored.
    `page_size` is the (width, height) of the page in points. The values of `highlight` are left,right,top,bottom. A
    rectangle that extends beyond the page is cropped. Raise `AddressMalformed` if the fragment is not valid, has no
    page number, or names a destination or structure element; if it has a rectangle and `page_size` is missing or not
    above 0; or if the rectangle is completely outside the page.
    """
    page: int | None = None
    region: Box | None = None
    for name, value, piece in pairs(text.partition("#")[2] if "#" in text else bare(text), "&#"):
        match name.lower():
            case "page":
                page, region = _page(text, value, piece), None
            case "viewrect" | "highlight" as kind:
                region = _rectangle(text, kind, value, page_size)
            case "nameddest" | "structelem":
                raise AddressMalformed(
                    text, piece, "named destinations and structure elements are not supported; use page=NUMBER instead"
                )
    if page is None:
        raise AddressMalformed(text, bare(text) or text, "the parameter page is missing")
    return Pages((page,), region)


def _page(text: str, value: str, piece: str) -> int:
    page = read_whole(value)
    if not page:
        raise AddressMalformed(text, piece, "the page must be a whole number of at least 1, with at most 12 digits")
    return page


def _rectangle(text: str, kind: str, value: str, page_size: tuple[float, float] | None) -> Box:
    if page_size is None:
        raise AddressMalformed(text, value, f"the size of the page is required to convert {kind}, which is in points")
    width, height = _size(text, page_size)
    if kind == "viewrect":
        return box_from_xywh(text, value, width, height, crop=True)
    left, right, top, bottom = decimals(text, value)
    return box_from_edges(text, value, (left, top, right, bottom), width, height, crop=True)


def _size(text: str, page_size: tuple[float, float]) -> tuple[Decimal, Decimal]:
    width, height = (exact(length) for length in page_size)
    if not (width.is_finite() and height.is_finite() and width > 0 and height > 0):
        raise AddressMalformed(text, str(page_size), "the width and height of the page must be above 0")
    return width, height
