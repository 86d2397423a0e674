"""Headings on colored bars and boxes: of safety data sheets, whose changed sections have marks, and of posters."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.pdf.outline.rows import columns_of
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

BLUE, WHITE = (0.1, 0.2, 0.6), (1, 1, 1)
NAMES = ("Identification", "Hazards", "Composition", "First Aid", "Fire", "Release", "Handling", "Exposure")


def outline_of(path: Path) -> list[tuple[int, str]]:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return flat(PdfOutliner().outline(source, silent).items)


def flat(items: Sequence[OutlineItem], level: int = 1) -> list[tuple[int, str]]:
    return [pair for item in items for pair in ((level, item.title), *flat(item.children, level + 1))]


def bar(page: pymupdf.Page, x: float, y: float, text: str, *, width: float, size: float = 12) -> None:
    """White text on a blue bar, with its baseline at `y`."""
    page.draw_rect(pymupdf.Rect(x - 5, y - size, x + width, y + size / 3), fill=BLUE, color=BLUE)
    page.insert_text((x, y), text, fontname="hebo", fontsize=size, color=WHITE)


def prose(page: pymupdf.Page, x: float, y: float, *, lines: int, size: float = 10) -> None:
    for line in range(lines):
        page.insert_text(
            (x, y + 1.3 * size * line), f"Line {line} of it is as plain as any other line in here.", fontsize=size
        )


def test_sections_of_a_safety_data_sheet_are_headings_beside_marks_of_changes(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for at, name in enumerate(NAMES, 1):
            page = document.new_page(width=400, height=600)
            y = 100 + 13 * (at % 3)
            page.insert_text((20, y), "*", fontsize=10)
            bar(page, 40, y, f"SECTION {at}: {name}", width=320)
            for part in (1, 2):
                top = y + 170 * part - 140
                page.insert_text(
                    (40, top), f"\u00b7 {at}.{part} Part {part} of {name.lower()}:", fontname="hebo", fontsize=10
                )
                page.insert_text((40, top + 13), "\u00b7 Name of the product", fontname="hebo", fontsize=10)
                prose(page, 40, top + 26, lines=10)
        document.save(tmp_path / "sheet.pdf")

    assert outline_of(tmp_path / "sheet.pdf") == [
        pair
        for at, name in enumerate(NAMES, 1)
        for pair in (
            (1, f"SECTION {at}: {name}"),
            (2, f"{at}.1 Part 1 of {name.lower()}:"),
            (2, f"{at}.2 Part 2 of {name.lower()}:"),
        )
    ]


def test_numbered_headings_stay_where_more_than_six_headings_are_on_a_page(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for at, name in enumerate(NAMES, 1):
            page = document.new_page(width=400, height=800)
            bar(page, 40, 60 + 13 * (at % 3), f"SECTION {at}: {name}", width=320, size=13)
            for part in range(1, 7):
                y = 110 + 100 * (part - 1)
                page.insert_text((40, y), f"{at}.{part} Part {part} of {name.lower()}", fontname="hebo", fontsize=10)
                prose(page, 40, y + 16, lines=5)
        document.save(tmp_path / "many.pdf")

    found = outline_of(tmp_path / "many.pdf")

    assert [title for level, title in found if level == 1] == [
        f"SECTION {at}: {each}" for at, each in enumerate(NAMES, 1)
    ]
    assert sum(level == 2 for level, _ in found) == 6 * len(NAMES)


def test_headings_of_a_poster_with_four_columns(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=1200, height=900)
        page.insert_text((300, 50), "What a poster is good for in all its columns", fontname="hebo", fontsize=30)
        for at, name in enumerate(NAMES):
            x, y = 30 + 290 * (at // 2), 120 + 390 * (at % 2)
            bar(page, x, y, f"{at + 1}. {name}", width=260, size=16)
            prose(page, x, y + 40, lines=15, size=13)
        document.save(tmp_path / "poster.pdf")

    assert outline_of(tmp_path / "poster.pdf") == [(1, f"{at}. {name}") for at, name in enumerate(NAMES, 1)]


def test_white_headings_without_bars_stay_hidden(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for at, name in enumerate(NAMES, 1):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 100), f"{at}. {name}", fontname="hebo", fontsize=16, color=WHITE)
            prose(page, 40, 130, lines=20)
        document.save(tmp_path / "hidden.pdf")

    assert all(title.startswith("Page") for _, title in outline_of(tmp_path / "hidden.pdf"))


def test_bold_lines_in_cells_beside_names_are_no_headings(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for at, name in enumerate(NAMES, 1):
            page = document.new_page(width=500, height=600)
            page.insert_text((40, 100 + 13 * (at % 3)), f"Part {at}: {name}", fontname="hebo", fontsize=15)
            page.insert_text((40, 160), f"D.{at}", fontsize=10)
            page.insert_text((90, 160), "Persons involved", fontsize=10)
            prose(page, 200, 160, lines=4)
            page.insert_text((200, 225), f"Markets of {name.lower()}", fontname="hebo", fontsize=10)
            prose(page, 200, 240, lines=8)
            prose(page, 40, 420, lines=8)
        document.save(tmp_path / "table.pdf")

    assert outline_of(tmp_path / "table.pdf") == [(1, f"Part {at}: {name}") for at, name in enumerate(NAMES, 1)]


@pytest.mark.parametrize(("starts", "gutters"), [((30, 320, 610), (317, 607)), ((30, 190, 610), ())])
def test_three_columns_have_one_width_unlike_those_of_a_table(
    starts: Sequence[float], gutters: Sequence[float]
) -> None:
    lines = [
        StyledLine("A line of text", start, 20.0 * row, start + 150, 20.0 * row + 12, 10.0, bold=False, block=0)
        for start in starts
        for row in range(10)
    ]
    lines.append(StyledLine("Across", 30, 220, 860, 232, 10.0, bold=False, block=0))

    assert tuple(columns_of(lines).gutters) == gutters
