"""Figures and tables of PDFs as nodes: told by their captions, with the region that PDFium draws something in."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pypdfium2
import pytest

from citekit.adapters.formats.pdf.outline.captions import captions_among
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Box, Pages
from citekit.domain.progress import silent
from citekit.domain.source import Source


def outline(path: Path) -> Outline:
    return PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent)


def below(outline_item: OutlineItem) -> list[OutlineItem]:
    return [outline_item, *(each for child in outline_item.children for each in below(child))]


def told(path: Path) -> list[OutlineItem]:
    return [each for root in outline(path).items for each in below(root) if each.type in ("figure", "table")]


def region(outline_item: OutlineItem) -> Box:
    assert isinstance(outline_item.location, Pages)
    assert outline_item.location.region is not None
    return outline_item.location.region


def prose(page: Any, y: float, lines: int = 3) -> None:
    for line in range(lines):
        page.insert_text(
            (72, y + 14 * line), f"Line {line} is running text that fills the whole width of this page here."
        )


def picture(page: Any, *edges: float) -> None:
    page.draw_rect(pymupdf.Rect(edges), color=(0, 0, 1), fill=(0.2, 0.2, 0.9))


def is_drawn_in(path: Path, page: int, box: Box) -> bool:
    """Whether PDFium shows the blue of `picture` inside the box, and nowhere else."""
    image = pypdfium2.PdfDocument(path)[page - 1].render().to_pil().convert("RGB")
    blue = [
        (x / image.width, y / image.height)
        for y in range(0, image.height, 4)
        for x in range(0, image.width, 4)
        if image.getpixel((x, y))[2] > image.getpixel((x, y))[0] + 60
    ]
    return bool(blue) and all(box.x1 <= x <= box.x2 and box.y1 <= y <= box.y2 for x, y in blue)


@pytest.mark.parametrize(
    ("line", "kind", "number"),
    [
        ("Figure 3. Overview", "figure", "3"), ("Fig. 2: x", "figure", "2"), ("TABLE IV", "table", "IV"),
        ("Table A.1: Results", "table", "A.1"), ("Abbildung 4: Der Weg", "figure", "4"), ("Tabelle 2.1 – Werte", "table", "2.1"),
        ("Tableau 12 : valeurs", "table", "12"), ("Рис. 5. Схема", "figure", "5"), ("図1 全体", "figure", "1"),
        ("表 2-3 数据", "table", "2-3"), ("1. ábra: Egy", "figure", "1"), ("Table 1 Results of it", "table", "1"),
    ],
)  # fmt: skip
def test_captions_are_known_in_many_languages(line: str, kind: str, number: str) -> None:
    [found] = captions_among([StyledLine(line, 0, 0, 99, 9, 9, False, 0)])

    assert (found.kind, found.number, found.text) == (kind, number, line)


@pytest.mark.parametrize(
    "line",
    ["Figure 3 shows that", "Figure 3 (left) shows", "図1は", "图3所示", "Table of Contents", "image A is", "FIGS. 1 and 2 show",
     "Figure 1.1: Foo ..... 12"],
)  # fmt: skip
def test_running_text_and_lists_of_figures_are_no_captions(line: str) -> None:
    found = list(captions_among([StyledLine(line, 0, 0, 99, 9, 9, False, 0)]))

    assert found == []


@pytest.mark.parametrize("rotation", [0, 90])
def test_a_figure_is_its_picture_and_its_caption(tmp_path: Path, rotation: int) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        page = document.new_page(width=600, height=800)
        prose(page, 60)
        picture(page, 100, 200, 400, 400)
        page.insert_text((100, 420), "Figure 1: A blue field.")
        prose(page, 500)
        if rotation:
            page.set_rotation(rotation)
        document.save(path)

    [figure] = told(path)

    assert (figure.title, figure.type) == ("Figure 1: A blue field.", "figure")
    if not rotation:  # a turned page has its captions on their side
        assert region(figure).corners == pytest.approx((0.16, 0.245, 0.672, 0.533), abs=0.01)
        assert is_drawn_in(path, 1, region(figure))


def test_each_caption_has_its_own_picture_above_or_below(tmp_path: Path) -> None:
    for name, offset in (("below", 120), ("above", -10)):
        path = tmp_path / f"{name}.pdf"
        with pymupdf.open() as document:
            page = document.new_page(width=600, height=800)
            for number, top in enumerate((100, 260, 420), 1):
                picture(page, 100, top, 400, top + 100)
                page.insert_text((100, top + offset), f"Figure {number}: It.")
            document.save(path)

        found = told(path)

        assert [outline_item.title for outline_item in found] == ["Figure 1: It.", "Figure 2: It.", "Figure 3: It."]
        tops = [region(outline_item).y1 * 800 for outline_item in found]
        first = 97 if name == "below" else 79
        assert tops == pytest.approx([first, first + 160, first + 320], abs=5)


def test_a_table_lies_between_its_rules_or_in_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        page = document.new_page(width=600, height=800)
        page.insert_text((72, 100), "Table 1: Between rules.")
        for y in (110, 130, 300):
            page.draw_line((72, y), (500, y))
        page.insert_text((72, 125), "Name")
        prose(page, 380)
        page.insert_text((72, 500), "Table 2: Without rules.")
        for row in range(4):
            for column in range(3):
                page.insert_text((72 + 150 * column, 520 + 16 * row), f"cell {row}{column}")
        document.save(path)

    ruled, aligned = told(path)

    assert [ruled.type, aligned.type] == ["table", "table"]
    assert region(ruled).corners == pytest.approx((0.115, 0.105, 0.838, 0.379), abs=0.012)
    assert region(aligned).corners == pytest.approx((0.115, 0.605, 0.69, 0.718), abs=0.012)


def test_a_large_picture_without_caption_is_told_and_a_logo_is_not(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 200, 200))
    pixels.clear_with(90)
    with pymupdf.open() as document:
        for number in range(1, 7):
            page = document.new_page(width=600, height=800)
            prose(page, 120)
            page.insert_image(pymupdf.Rect(400, 700, 460, 760), pixmap=pixels)
            if number == 5:
                page.draw_line((72, 300), (73, 301))
                shown = pymupdf.Pixmap(pixels, 0)
                shown.set_pixel(5, 5, (1, 2, 3))
                page.insert_image(pymupdf.Rect(100, 200, 400, 500), pixmap=shown)
        document.save(path)

    [figure] = told(path)

    assert (figure.title, figure.type) == ("Picture on page 5", "figure")
    assert region(figure).corners == pytest.approx((100 / 600, 200 / 800, 400 / 600, 500 / 800), abs=0.005)


def test_a_figure_is_below_the_section_that_began_before_it(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        page = document.new_page(width=600, height=800)
        for number, top in enumerate((60, 400), 1):
            page.insert_text((72, top), ("First matters", "Second matters")[number - 1], fontsize=16)
            prose(page, top + 30)
            picture(page, 100, top + 100, 400, top + 200)
            page.insert_text((100, top + 220), f"Figure {number}: It.")
        document.set_toc([[1, "First matters", 1], [1, "Second matters", 1]])
        document.save(path)

    found = outline(path)

    assert [(outline_item.title, [child.title for child in outline_item.children]) for outline_item in found.items] == [
        ("First matters", ["Figure 1: It."]),
        ("Second matters", ["Figure 2: It."]),
    ]


def test_a_caption_in_the_text_yields_to_the_one_below_its_picture(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 100), "Figure 1: It.")
        page = document.new_page()
        picture(page, 100, 200, 400, 400)
        page.insert_text((100, 420), "Figure 1: It.")
        document.save(path)

    found = told(path)

    assert [outline_item.location.numbers for outline_item in found if isinstance(outline_item.location, Pages)] == [
        (2,)
    ]
