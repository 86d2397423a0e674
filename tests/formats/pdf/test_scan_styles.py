"""Headings of scans: told by the ink of their letters, not by the loose boxes that a reader of text gives."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest
from attrs import evolve, field, frozen
from PIL import Image, ImageDraw, ImageFont

from citekit.adapters.formats.pdf.outline.glyph_metrics import join_numbers, measure_glyphs
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.pdf.outline.scan_styles import OcrPage, styled_pages
from citekit.adapters.formats.shared.ocr import OcrLine
from citekit.adapters.formats.shared.outline import Outline
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Box
from citekit.domain.progress import silent
from citekit.domain.source import Source

WIDTH, HEIGHT = 1275, 1650
BODY = "Most lines of a page are of this kind, and say something about it."


@frozen
class Drawn:
    """A page of lines (text, height of the type in pixels, thickness added to strokes), each in a box of 50 pixels."""

    lines: Sequence[tuple[str, int, int]]
    turned: float = 0.0
    image: Image.Image = field(init=False)

    @image.default
    def _drawn(self) -> Image.Image:
        image = Image.new("L", (WIDTH, HEIGHT), 255)
        draw = ImageDraw.Draw(image)
        for number, (text, size, more) in enumerate(self.lines):
            font = ImageFont.load_default(size)
            at = (150, 150 + 60 * number + 35)
            draw.text(at, text, fill=0, font=font, anchor="ls", stroke_width=more, stroke_fill=0)
        return image.rotate(self.turned, Image.Resampling.BICUBIC, fillcolor=255)

    def read(self) -> list[OcrLine]:
        rows = range(len(self.lines))
        boxes = [Box(0.1, (145 + 60 * row) / HEIGHT, 0.9, (195 + 60 * row) / HEIGHT) for row in rows]
        return [OcrLine(text, box, 0.99) for (text, _, _), box in zip(self.lines, boxes, strict=True)]

    def types(self) -> dict[str, tuple[float, bool]]:
        """Size in pixels and weight of each line."""
        page = OcrPage(self.read(), measure_glyphs(self.image, self.read()), WIDTH, HEIGHT, 1.0)
        return {line.text: (line.size, line.bold) for line in styled_pages({1: page})[1]}


@frozen
class Reads:
    """Reads the pages of a document one after the other."""

    pages: Sequence[Drawn]
    seen: list[int] = field(factory=list)

    def lines(self, image: Image.Image) -> Sequence[OcrLine]:
        self.seen.append(1)
        return self.pages[len(self.seen) - 1].read()


def outline(path: Path, pages: Sequence[Drawn]) -> Outline:
    with pymupdf.open() as document:
        for page in pages:
            stream = io.BytesIO()
            page.image.save(stream, "PNG")
            made = document.new_page(width=612, height=792)
            made.insert_image(made.rect, stream=stream.getvalue())
        document.save(path)
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return PdfOutliner(ocr=Reads(pages)).outline(source, silent)


@pytest.mark.parametrize("turned", [0.0, 0.5, -0.5])
def test_a_line_a_fifth_larger_than_the_text_is_larger_in_a_box_of_the_same_height(turned: float) -> None:
    page = Drawn([("Larger than the text", 36, 0), *((f"{BODY} {n}", 30, 0) for n in range(6))], turned)

    found = page.types()

    usual = found[f"{BODY} 3"][0]
    assert {usual} == {found[f"{BODY} {n}"][0] for n in range(6)}
    assert 1.13 * usual <= found["Larger than the text"][0] <= 1.3 * usual


def test_thicker_strokes_in_the_size_of_the_text_are_bold() -> None:
    page = Drawn([("As large as the text", 30, 1), *((f"{BODY} {n}", 30, 0) for n in range(6))])

    found = page.types()

    assert found["As large as the text"] == (found[f"{BODY} 1"][0], True)
    assert not any(found[f"{BODY} {n}"][1] for n in range(6))


def test_letters_without_ascenders_or_with_descenders_are_of_the_size_of_the_text() -> None:
    odd = ["sauce nor cream", "jpeg()", "page", "77 99", "are seen as on seas"]
    page = Drawn([*((text, 30, 0) for text in odd), *((f"{BODY} {n}", 30, 0) for n in range(6))])

    found = page.types()

    assert {found[f"{BODY} 1"]} == {found[text] for text in odd}


@pytest.mark.parametrize("end", ["th", "2"])
def test_a_few_raised_letters_do_not_make_a_line_larger(end: str) -> None:
    page = Drawn([("It will be held on Wednesday, March 5", 30, 0), *((f"{BODY} {n}", 30, 0) for n in range(6))])
    right = 150 + ImageFont.load_default(30).getlength("It will be held on Wednesday, March 5")
    ImageDraw.Draw(page.image).text((right, 172), end, fill=0, font=ImageFont.load_default(19), anchor="ls")

    found = page.types()

    assert found["It will be held on Wednesday, March 5"] == found[f"{BODY} 1"]


@pytest.mark.long
def test_headings_slightly_larger_than_the_text_are_sections_of_a_scan(tmp_path: Path) -> None:
    text = [(f"{BODY} {n}", 30, 0) for n in range(5)]
    one = Drawn([("1.1First steps", 36, 0), *text, ("1.2 Second thoughts", 36, 0), *text])
    two = Drawn([("1.3 Third time", 36, 0), *text, *text])

    found = outline(tmp_path / "x.pdf", [one, two])

    assert [outline_item.title for outline_item in found.items] == [
        "1.1 First steps",
        "1.2 Second thoughts",
        "1.3 Third time",
    ]


def test_a_number_that_was_read_apart_is_joined_to_its_heading() -> None:
    number = OcrLine("4.6", Box(0.09, 0.386, 0.16, 0.402), 1.0)
    heading = OcrLine("Authentication", Box(0.147, 0.385, 0.39, 0.4025), 1.0)
    below = OcrLine("Text below", Box(0.09, 0.41, 0.6, 0.42), 1.0)

    found = join_numbers([number, below, heading], 0.707)

    assert [below, evolve(heading, text="4.6 Authentication", box=Box(0.09, 0.385, 0.39, 0.4025))] == found


def test_a_page_of_one_shade_has_no_ink() -> None:
    lines = [OcrLine("nothing there", Box(0.1, 0.1, 0.9, 0.2), 0.9)]

    assert measure_glyphs(Image.new("L", (400, 500), 200), lines) == [None]
