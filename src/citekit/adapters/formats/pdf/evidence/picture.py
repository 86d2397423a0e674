"""Pages, or a region of one, as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citekit.adapters.formats.pdf.evidence.region import shown_area
from citekit.adapters.libraries.mupdf.engine import Document, exclusive
from citekit.adapters.system.files import writing
from citekit.domain.errors import ExtractionFailed
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Pages
from citekit.domain.progress import Progress

RESOLUTION = 150
"""Dots per inch: small print stays legible."""

PIXEL_LIMIT = 24_000_000
"""Of the picture that is made; 72 MB while it is drawn."""

SIDE_LIMIT = 16_000

EMBEDDED_LIMIT = 250_000_000
"""Pixels of a picture inside the page; a larger one would need gigabytes to decode."""


PAGES_LIMIT = 20
"""Pages that one picture shows; more would be too small to read."""


def write_picture(document: Document, location: Pages, target: Path, progress: Progress) -> Extraction:
    """Write the pages of `location`, upright, one below the other, as a PNG.

    Raises `ExtractionFailed` where a page holds an absurdly large image.
    """
    numbers = [page - 1 for page in location.numbers]
    for number in numbers:
        _check_images(document, number)
    areas = [shown_area(document[number], location.region) for number in numbers]
    zoom = _zoom(max(area.width for area in areas), sum(area.height for area in areas))
    drawn = []
    for done, (number, area) in enumerate(zip(numbers, areas, strict=True)):
        progress(done, len(numbers), "drawing pages")
        with exclusive() as pymupdf:
            drawn.append(document[number].get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=area, alpha=False))
    with exclusive(), writing(target):
        sheet = drawn[0] if len(drawn) == 1 else _stacked(drawn)
        resolution = max(1, round(zoom * 72))
        sheet.set_dpi(resolution, resolution)
        target.write_bytes(sheet.tobytes("png"))
    return Extraction(suffix=".png", media_type="image/png", extent=location, notes=_notes(len(drawn), zoom))


def _stacked(drawn: Sequence[Any]) -> Any:
    """Pictures one below the other on white."""
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
    stacked = (f"Shows {pages} pages one below the other.",) if pages > 1 else ()
    if zoom >= RESOLUTION / 72:
        return stacked
    return (*stacked, f"Drawn at {zoom * 72:.3g} dpi instead of {RESOLUTION}, to keep the picture within bounds.")


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
