"""Draws the pages of PDFs for a viewer, and finds the boxes of their words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.formats.pdf.document.hidden_text import hidden_text
from citekit.adapters.formats.pdf.document.open_documents import Use, shared
from citekit.adapters.formats.pdf.document.scanned_pages import PageRecognizer, is_blank_scan
from citekit.adapters.formats.pdf.document.text import text_flags
from citekit.adapters.formats.pdf.evidence.picture import EMBEDDED_LIMIT, zoom_within_limits
from citekit.adapters.formats.shared.ocr import recognized_words
from citekit.adapters.libraries.mupdf.engine import Document, exclusive, opened
from citekit.domain.errors import LocationOutside, SourceUnsupported
from citekit.domain.page_view import Corners, PagePicture, PageSize, PageWord
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.libraries.sqlite.key_value_cache import Index

JPEG_QUALITY = 88
"""The JPEG quality of pages with a large picture. Others are drawn as PNG, which keeps letters sharp."""


@frozen
class PdfPageViews:
    """Draws pages with PyMuPDF. `ocr` recognizes the words of scanned pages, and `index` caches them."""

    password: str | None = None
    ocr: OcrReader | None = None
    index: Index | None = None

    def sizes(self, source: Source) -> Sequence[PageSize]:
        """See `PageViews.sizes`."""
        with shared(source.path, Use.DRAWING, password=self.password) as document:
            return [_size(document, number) for number in range(document.page_count)]

    def picture(self, source: Source, page: int, width: int) -> PagePicture:
        """See `PageViews.picture`."""
        with shared(source.path, Use.DRAWING, password=self.password) as document, exclusive() as pymupdf:
            _check_page(document, page)
            images = document.get_page_images(page - 1)
            if any(image[2] * image[3] > EMBEDDED_LIMIT for image in images):
                raise SourceUnsupported(f"Page {page} contains an image that is too large to be shown.")
            shown = document[page - 1]
            area = shown.rect
            zoom = zoom_within_limits(width / max(area.width, 1e-6), area.width, area.height)
            pixels = shown.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
            if any(image[2] * image[3] > pixels.width * pixels.height / 4 for image in images):
                return PagePicture(pixels.tobytes("jpeg", jpg_quality=JPEG_QUALITY), "image/jpeg")
            return PagePicture(pixels.tobytes("png"), "image/png")

    def words(self, source: Source, page: int) -> Sequence[PageWord]:
        """See `PageViews.words`. `ocr` recognizes the words of a scanned page."""
        with shared(source.path, Use.DRAWING, password=self.password) as document:
            _check_page(document, page)
            words = list(_words(document[page - 1]))
        return words or self._recognized(source, page)

    def _recognized(self, source: Source, page: int) -> Sequence[PageWord]:
        if self.ocr is None:
            return []
        with opened(source.path, password=self.password) as document:
            if not is_blank_scan(document, page):
                return []
            found = PageRecognizer(self.ocr, source.size, self.index).page(document, page)
        return [] if found is None else list(recognized_words(found.lines))


def _size(document: Document, number: int) -> PageSize:
    """Return the size in points of the page with the 0-based `number`, or 1 by 1 if it is not positive and finite."""
    with exclusive() as pymupdf:
        area = pymupdf.mupdf.fz_bound_page(pymupdf.mupdf.fz_load_page(document.this, number))
    width, height = area.x1 - area.x0, area.y1 - area.y0
    sound = all(math.isfinite(edge) and edge > 0 for edge in (width, height))
    return PageSize(width, height) if sound else PageSize(1.0, 1.0)


def _check_page(document: Document, page: int) -> None:
    if not 1 <= page <= document.page_count:
        raise LocationOutside.beyond("page", page, "document", document.page_count)


def _words(page: Any) -> Iterator[PageWord]:
    """Yield the words of a page, except its hidden text."""
    with exclusive():
        hidden = hidden_text(page)
        turned, area = page.rotation_matrix, page.rect
        number = 0
        for block in page.get_text("rawdict", flags=text_flags())["blocks"]:
            for line in block.get("lines", ()):
                characters = [each for span in line["spans"] for each in span["chars"]]
                seen = [each for each in characters if not hidden or not hidden.holds(each["c"], each["origin"])]
                for word in _split(seen):
                    box = _box(word, turned, area)
                    if box is not None:
                        yield PageWord("".join(each["c"] for each in word), box, number)
                number += 1


def _split(characters: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    """Yield the characters of each word of a line."""
    word: list[Mapping[str, Any]] = []
    for each in characters:
        if not each["c"].isspace():
            word.append(each)
        elif word:
            yield word
            word = []
    if word:
        yield word


def _box(word: Sequence[Mapping[str, Any]], turned: Any, area: Any) -> Corners | None:
    """Return the box of a word as fractions of the upright page; None if it is outside the page or has no extent."""
    with exclusive() as pymupdf:
        whole = pymupdf.Rect(word[0]["bbox"])
        for each in word[1:]:
            whole |= pymupdf.Rect(each["bbox"])
        shown = whole * turned
    left, right = (min(max((edge - area.x0) / max(area.width, 1e-6), 0.0), 1.0) for edge in (shown.x0, shown.x1))
    top, bottom = (min(max((edge - area.y0) / max(area.height, 1e-6), 0.0), 1.0) for edge in (shown.y0, shown.y1))
    return (left, top, right, bottom) if left < right and top < bottom else None
