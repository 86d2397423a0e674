"""Scanned pages: said to be scans, their invisible text used, or read by a machine where there is one."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf
from attrs import define, field

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.ocr import OcrLine
from citekit.adapters.formats.shared.outline import Outline
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Box
from citekit.domain.progress import silent
from citekit.domain.source import Source

if TYPE_CHECKING:
    from PIL.Image import Image


@define
class Reads:
    """Sees a heading and five lines below it on every page."""

    sizes: list[tuple[int, int]] = field(factory=list)

    def lines(self, image: Image) -> Sequence[OcrLine]:
        self.sizes.append(image.size)
        number = len(self.sizes)
        text = [
            OcrLine("This line is of the running text.", Box(0.1, y / 100, 0.9, y / 100 + 0.015), 0.9)
            for y in range(20, 40, 4)
        ]
        return [
            OcrLine(f"Chapter {number}", Box(0.1, 0.1, 0.5, 0.14), 0.9),
            *text,
            OcrLine("noise", Box(0.1, 0.9, 0.2, 0.95), 0.1),
        ]


def scan(path: Path, pages: int, hidden: str = "", last: str = "") -> Path:
    """Pages that are pictures, which show the text that is `hidden` over them; and a page of text."""
    with pymupdf.open() as paper:
        shown = paper.new_page(width=400, height=500)
        shown.insert_text((40, 60), hidden)
        pixels = shown.get_pixmap(colorspace=pymupdf.csGRAY)
    with pymupdf.open() as document:
        for _ in range(pages):
            page = document.new_page(width=400, height=500)
            page.insert_image(page.rect, pixmap=pixels)
            page.insert_text((40, 60), hidden, render_mode=3)
        if last:
            document.new_page(width=400, height=500).insert_text((40, 60), last)
        document.save(path)
    return path


def outline(path: Path, ocr: Reads | None = None) -> Outline:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return PdfOutliner(ocr=ocr).outline(source, silent)


def test_pages_that_are_pictures_are_called_scans(tmp_path: Path) -> None:
    found = outline(scan(tmp_path / "x.pdf", 2, last="A page with text on it."))

    assert [(outline_item.title, outline_item.type) for outline_item in found.items] == [
        ("Page 1", "scan"),
        ("Page 2", "scan"),
        ("Page 3", "page"),
    ]
    assert any("2 of 3 pages are scans without a text layer" in note and "'ocr'" in note for note in found.notes)


def test_a_scan_that_is_too_complex_is_left_out_with_a_note(tmp_path: Path) -> None:
    path = scan(tmp_path / "a.pdf", 3, last="Nothing but this line is printed here.")
    with pymupdf.open(path) as document:
        shown = document.xref_stream(document[1].get_contents()[0])
        document.update_stream(document[1].get_contents()[0], shown + b" BT /helv 9 Tf " + b"(a) Tj " * 300_000 + b"ET")
        document.saveIncr()

    found = outline(path)

    assert found.facts["scanned_pages"] == 2
    assert any("Page 2 was not read, because the pages of the file are too complex" in note for note in found.notes)


def test_a_note_about_one_scan_is_about_one(tmp_path: Path) -> None:
    assert any(
        "Its text was not read, because OCR is off" in note for note in outline(scan(tmp_path / "x.pdf", 1)).notes
    )


def test_invisible_text_over_a_scan_is_used(tmp_path: Path) -> None:
    found = outline(scan(tmp_path / "x.pdf", 1, hidden="This sentence was recognised some time ago by somebody."))

    [outline_item] = found.items
    assert (outline_item.type, outline_item.summary) == (
        "scan",
        "This sentence was recognised some time ago by somebody.",
    )
    assert any("a text layer from earlier OCR" in note for note in found.notes)


def test_a_machine_reads_the_headings_of_scans(tmp_path: Path) -> None:
    reads = Reads()

    found = outline(scan(tmp_path / "x.pdf", 3), reads)

    assert [outline_item.title for outline_item in found.items] == ["Chapter 1", "Chapter 2", "Chapter 3"]
    assert reads.sizes == [(889, 1112)] * 3
    assert any("OCR recognized the text of 3 pages" in note for note in found.notes)
