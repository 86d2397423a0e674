"""Renders pages, or a region of one page, as an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citekit.adapters.formats.pdf.evidence.region import displayed_area
from citekit.adapters.libraries.mupdf.engine import Document, exclusive
from citekit.adapters.system.files import writing
from citekit.domain.errors import ExtractionFailed
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Pages
from citekit.domain.progress import Progress

RESOLUTION = 150
"""The resolution of the image in dots per inch. At this resolution, small print is legible."""

PIXEL_LIMIT = 24_000_000
"""The largest number of pixels of the image, which needs 72 MB while it is rendered."""

SIDE_LIMIT = 16_000

EMBEDDED_LIMIT = 250_000_000
"""The largest number of pixels of an image on a page that is rendered; decoding a larger image needs gigabytes."""


PAGES_LIMIT = 20
"""The maximum number of pages in one image; more would be too small to read."""


def write_picture(document: Document, location: Pages, target: Path, progress: Progress) -> Extraction:
    """Write the pages of `location` to `target` as one PNG, in display orientation, one below the other.

    Raise `ExtractionFailed` if a page has an image of more than `EMBEDDED_LIMIT` pixels, or `HomeUnwritable` if
    `target` cannot be written.
    """
    numbers = [page - 1 for page in location.numbers]
    for number in numbers:
        _check_images(document, number)
    areas = [displayed_area(document[number], location.region) for number in numbers]
    zoom = zoom_within_limits(RESOLUTION / 72, max(area.width for area in areas), sum(area.height for area in areas))
    drawn = []
    for done, (number, area) in enumerate(zip(numbers, areas, strict=True)):
        progress(done, len(numbers), "drawing pages")
        with exclusive() as pymupdf:
            drawn.append(document[number].get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=area, alpha=False))
    with exclusive(), writing(target):
        sheet = drawn[0] if len(drawn) == 1 else _stack(drawn)
        resolution = max(1, round(zoom * 72))
        sheet.set_dpi(resolution, resolution)
        target.write_bytes(sheet.tobytes("png"))
    return Extraction(suffix=".png", media_type="image/png", extent=location, notes=_notes(len(drawn), zoom))


def _stack(drawn: Sequence[Any]) -> Any:
    """Return one image with the images `drawn` one below the other on white."""
    with exclusive() as pymupdf:
        width, height = max(each.width for each in drawn), sum(each.height for each in drawn)
        sheet = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, width, height), False)
        sheet.clear_with(255)
        top = 0
        for each in drawn:
            each.set_origin(0, top)
            sheet.copy(each, each.irect)
            top += each.height
        return sheet


def _notes(pages: int, zoom: float) -> tuple[str, ...]:
    stacked = (f"The picture shows {pages} pages, one below the other.",) if pages > 1 else ()
    if zoom >= RESOLUTION / 72:
        return stacked
    return (
        *stacked,
        f"The resolution is {zoom * 72:.3g} dpi instead of {RESOLUTION} dpi, to stay within the size limit.",
    )


def zoom_within_limits(wanted: float, width: float, height: float) -> float:
    """Return the scale `wanted`, in pixels per point, or less if the image would exceed the size limits."""
    by_side = SIDE_LIMIT / max(width, height, 1e-6)
    by_area = math.sqrt(PIXEL_LIMIT / max(width * height, 1e-6))
    return min(wanted, by_side, by_area)


def _check_images(document: Document, number: int) -> None:
    for image in document.get_page_images(number):
        width, height = image[2], image[3]
        if width * height > EMBEDDED_LIMIT:
            raise ExtractionFailed(
                f"Page {number + 1} contains an image of {width} x {height} pixels, which is too large to "
                "render. Request the form pdf instead."
            )
