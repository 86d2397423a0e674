"""The text of scanned pages: OCR recognizes it once per picture, and readers, evidence, and quotes use it."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf
import pytest
from attrs import define, field

from citekit import CiteKit
from citekit.adapters.formats.pdf.document.scanned_pages import PAGES_LEAST
from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor
from citekit.adapters.formats.pdf.text_reader import PyMuPdfTextReader
from citekit.adapters.formats.shared.ocr import OcrLine
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.quotes import stored_form
from citekit.application.verify_quote import RECOGNIZED
from citekit.domain.digest import Digest
from citekit.domain.errors import MapperUnavailable
from citekit.domain.evidence import Form, Options
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.locations import Box, Pages
from citekit.domain.progress import silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.source import Source
from citekit.wire.worker_protocol import extracted_text_from, plain_extracted_text

if TYPE_CHECKING:
    from PIL.Image import Image

TYPED = "The last page has text of its own."


@define
class Counted:
    """An OCR reader for the pages of `scanned`: it measures how wide the bar on the page is, and names that."""

    images: int = 0
    broken_after: int = 1 << 30
    seen: list[int] = field(factory=list)

    def lines(self, image: Image) -> Sequence[OcrLine]:
        if self.images >= self.broken_after:
            raise MapperUnavailable("Text recognition failed.")
        self.images += 1
        dark = sum(image.convert("L").point(lambda value: 255 if value < 128 else 0).histogram()[255:])
        name = round(dark / (image.width * image.height) * 100)
        self.seen.append(name)
        return [
            OcrLine(f"The bar of this page covers {name} percent", Box(0.1, 0.1, 0.9, 0.12), 0.9),
            OcrLine("of it, and the page says so.", Box(0.1, 0.13, 0.7, 0.15), 0.9),
            OcrLine("A footnote at the bottom.", Box(0.1, 0.9, 0.5, 0.92), 0.9),
            OcrLine("noise", Box(0.1, 0.95, 0.2, 0.97), 0.1),
        ]


def scanned(path: Path, widths: Sequence[int], *, typed: bool = True) -> Source:
    """A PDF whose pages are pictures: white with a black bar of a width in percent. `typed` adds a page of text."""
    with pymupdf.open() as document:
        for width in widths:
            page = document.new_page(width=400, height=500)
            pixels = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 400, 500), False)
            pixels.clear_with(255)
            if width:
                pixels.set_rect(pymupdf.IRect(0, 0, 4 * width, 500), (0,))
            page.insert_image(page.rect, pixmap=pixels)
        if typed:
            document.new_page(width=400, height=500).insert_text((40, 60), TYPED)
        document.save(path)
    return Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])


def text_of(source: Source, ocr: Counted | None, index: Index | None = None) -> ExtractedText:
    return PyMuPdfTextReader(ocr=ocr, index=index).read(source)


def test_the_text_of_scanned_pages_is_that_of_their_pictures(tmp_path: Path) -> None:
    found = text_of(scanned(tmp_path / "x.pdf", [10, 40]), Counted())

    pages = [found.text[unit.start : unit.end] for unit in found.units]
    assert pages == [
        "The bar of this page covers 10 percent\nof it, and the page says so.\n\nA footnote at the bottom.",
        "The bar of this page covers 40 percent\nof it, and the page says so.\n\nA footnote at the bottom.",
        TYPED,
    ]
    assert found.recognized == (1, 2)


def test_without_ocr_scanned_pages_are_empty(tmp_path: Path) -> None:
    found = text_of(scanned(tmp_path / "x.pdf", [10]), None)

    assert found.text.strip() == TYPED
    assert found.recognized == ()


@pytest.mark.long
def test_each_picture_is_read_once(tmp_path: Path) -> None:
    index, first, second = Index(tmp_path / "cache"), Counted(), Counted()
    source = scanned(tmp_path / "x.pdf", [10, 40, 10])

    once = text_of(source, first, index)
    again = text_of(source, second, index)

    assert (first.images, second.images) == (2, 0)
    assert once == again


@pytest.mark.long
def test_an_interrupted_run_continues_where_it_ended(tmp_path: Path) -> None:
    index, source = Index(tmp_path / "cache"), scanned(tmp_path / "x.pdf", [10, 20, 30, 40])
    with pytest.raises(MapperUnavailable):
        text_of(source, Counted(broken_after=3), index)
    rest = Counted()

    found = text_of(source, rest, index)

    assert rest.images == 1
    assert found.recognized == (1, 2, 3, 4)


@pytest.mark.long
def test_a_small_file_of_many_pages_does_not_take_hours(tmp_path: Path) -> None:
    source, ocr = (
        scanned(tmp_path / "x.pdf", [number % 100 for number in range(3 * PAGES_LEAST)], typed=False),
        Counted(),
    )

    found = text_of(source, ocr)

    assert PAGES_LEAST <= ocr.images <= PAGES_LEAST + source.size // 1000
    assert len(found.recognized) == ocr.images


@pytest.mark.parametrize("ocr", [Counted(), None], ids=["with OCR", "without OCR"])
def test_text_evidence_says_that_ocr_recognized_it(ocr: Counted | None, tmp_path: Path) -> None:
    source, target = scanned(tmp_path / "x.pdf", [10]), tmp_path / "made.txt"

    made = PyMuPdfExtractor(ocr=ocr).extract(source, Pages((1, 2)), Options(Form.TEXT), target)

    assert ("covers 10 percent" in target.read_text()) is (ocr is not None)
    assert any("OCR" in note and "(page 1)" in note for note in made.notes) is (ocr is not None)


def test_the_text_of_a_region_has_only_its_lines(tmp_path: Path) -> None:
    source, target = scanned(tmp_path / "x.pdf", [10]), tmp_path / "made.txt"

    PyMuPdfExtractor(ocr=Counted()).extract(source, Pages((1,), Box(0, 0.5, 1, 1)), Options(Form.TEXT), target, silent)

    assert target.read_text() == "A footnote at the bottom.\n"


def test_recognized_pages_survive_the_worker_protocol_and_the_cache(tmp_path: Path) -> None:
    found = text_of(scanned(tmp_path / "x.pdf", [10]), Counted())

    quotable = stored_form.from_plain(stored_form.to_plain(Quotable.of(found)))

    assert extracted_text_from(plain_extracted_text(found)) == found
    assert isinstance(quotable.placed, ExtractedText)
    assert quotable.placed.recognized == (1,)


def test_a_quote_from_a_scanned_page_says_so(tmp_path: Path) -> None:
    class Texts:
        def version(self, _: Source) -> str:
            return "1"

        def reader_version(self) -> str:
            return "1"

        def read(self, source: Source, progress: object = None) -> Sequence[Quotable]:
            return [Quotable.of(text_of(source, Counted()))]

        def region(self, source: Source, place: Pages) -> Quotable:
            raise NotImplementedError

        def drawn(self, source: Source, pages: Sequence[int]) -> Mapping[int, str]:
            return {number: "" for number in pages if number == 1}  # the page has a picture alone

    path = scanned(tmp_path / "x.pdf", [10]).path
    kit = CiteKit(tmp_path, quotable=Texts())
    kit.ingest(path, resource_id="x")

    scan = kit.verify_quote("x", "covers 10 percent of it, and the page says so")
    typed = kit.verify_quote("x", "text of its own")

    assert (scan.holds, scan.places[0].note) == (True, RECOGNIZED)
    assert (typed.holds, typed.places[0].note) == (True, "")
