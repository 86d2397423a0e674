"""A page, or a region of it, as a picture."""

from __future__ import annotations

import math
from pathlib import Path

from citekit.adapters.drivers.pymupdf import Document, exclusive
from citekit.adapters.extraction.pdf.region import shown_area
from citekit.domain.errors import ExtractionFailed
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Pages

RESOLUTION = 150
"""Dots per inch: small print stays legible."""

PIXEL_LIMIT = 24_000_000
"""Of the picture that is made; 72 MB while it is drawn."""

SIDE_LIMIT = 16_000

EMBEDDED_LIMIT = 250_000_000
"""Pixels of a picture inside the page; a larger one would need gigabytes to decode."""


def write_picture(document: Document, location: Pages, target: Path) -> Extraction:
    """Write the page of `location`, upright, as a PNG. Raises `ExtractionFailed` where it holds an absurdly large image."""
    number = location.numbers[0] - 1
    _check_images(document, number)
    page = document[number]
    area = shown_area(page, location.region)
    zoom = _zoom(area.width, area.height)
    with exclusive() as pymupdf:
        drawn = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=area, alpha=False)
        resolution = max(1, round(zoom * 72))
        drawn.set_dpi(resolution, resolution)
        target.write_bytes(drawn.tobytes("png"))
    small = (
        ()
        if zoom >= RESOLUTION / 72
        else (f"Drawn at {zoom * 72:.3g} dpi instead of {RESOLUTION}: the page is large.",)
    )
    return Extraction(suffix=".png", media_type="image/png", extent=location, notes=small)


def _zoom(width: float, height: float) -> float:
    """Pixels to a point: those of `RESOLUTION`, or as many as keep the picture within its limits."""
    by_side = SIDE_LIMIT / max(width, height, 1e-6)
    by_area = math.sqrt(PIXEL_LIMIT / max(width * height, 1e-6))
    return min(RESOLUTION / 72, by_side, by_area)


def _check_images(document: Document, number: int) -> None:
    for image in document.get_page_images(number):
        width, height = image[2], image[3]
        if width * height > EMBEDDED_LIMIT:
            raise ExtractionFailed(
                f"Page {number + 1} holds an image of {width} x {height} pixels, too large to draw: ask for the PDF."
            )
