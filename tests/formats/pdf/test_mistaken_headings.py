"""Lines that look like headings but belong to a heading, to a picture, to a paragraph, or to all pages."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

TITLES = ["Of Lakes", "Of Rivers", "Of Springs", "Of Shores"]


def prose(page: pymupdf.Page, top: float, rows: int, words: str = "of the text is as plain as any other.") -> None:
    for row in range(rows):
        page.insert_text((40, top + 14 * row), f"Line {row} {words}", fontsize=10)


def titles(path: Path) -> list[str]:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])

    def every(items: Sequence[OutlineItem]) -> list[str]:
        return [found for each in items for found in (each.title, *every(each.children))]

    return [each for each in every(PdfOutliner().outline(source, silent).items) if not each.startswith("Page")]


@pytest.mark.parametrize(
    ("line", "is_heading"),
    [
        ("By Ann Lee", False),
        ("BY ANN LEE AND BO VAN DER BERG", False),
        ("Von Ann Lee und Bo Berg", False),
        ("By Region", True),
        ("By Plain Text", True),  # words of the page
        ("How Lakes Grow", True),
    ],
)
def test_the_names_of_authors_below_a_heading_are_no_heading(tmp_path: Path, line: str, is_heading: bool) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as made:
        for title in TITLES:
            page = made.new_page(width=400, height=600)
            page.insert_text((40, 80), title, fontname="hebo", fontsize=18)
            if title == TITLES[2]:
                page.insert_text((40, 102), line, fontname="hebo", fontsize=13)
            prose(page, 130, 20)
        made.save(path)

    assert (line in titles(path)) == is_heading
    assert set(TITLES) <= set(titles(path))


@pytest.mark.parametrize("with_pictures", [True, False])
def test_numbered_captions_below_pictures_are_no_headings(tmp_path: Path, with_pictures: bool) -> None:
    path, picture = tmp_path / "a.pdf", pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 300, 200))
    captions = [f"{number}. The window with the list {'abcde'[number]}" for number in range(1, 5)]
    with pymupdf.open() as made:
        for title, caption in zip(["Of Waters", *TITLES], ["", *captions], strict=True):
            page = made.new_page(width=400, height=600)
            page.insert_text((40, 80), title, fontname="hebo", fontsize=18)
            prose(page, 110, 8)
            if with_pictures and caption:
                page.insert_image((100, 220, 300, 350), pixmap=picture)
            else:
                prose(page, 240, 8)
            page.insert_text((110, 368), caption, fontname="tiit", fontsize=10)
            prose(page, 400, 10)
        made.save(path)

    assert bool(set(captions) & set(titles(path))) != with_pictures


def test_the_widely_spaced_lines_of_a_foreword_are_no_headings(tmp_path: Path) -> None:
    path, marks = tmp_path / "a.pdf", list[list[object]]()
    with pymupdf.open() as made:
        for number, title in enumerate(["Of Waters", *TITLES, "Foreword"], 1):
            page = made.new_page(width=400, height=600)
            page.insert_text((40, 60), title, fontname="hebo", fontsize=18)
            if title == "Foreword":
                for row, word in enumerate(("Wells", "Seas", "Creeks", "Brooks", "Ponds", "Dew")):
                    words = f"{word} are in a line of this foreword, and whoever reads"
                    page.insert_text((40, 100 + 31 * row), words[: 30 if word == "Dew" else None], fontsize=12)
            else:
                page.insert_text((40, 90), f"How {title.lower()} came", fontsize=12)
                prose(page, 120, 30)
                marks += [[1, title, number], [2, f"How {title.lower()} came", number]]
        made.set_toc(marks)
        made.save(path)

    assert not [title for title in titles(path) if "line" in title]


def test_a_bookmark_of_a_running_footer_is_no_section(tmp_path: Path) -> None:
    path, footer = tmp_path / "a.pdf", "Waters of the North in January"
    with pymupdf.open() as made:
        for title in TITLES:
            page = made.new_page(width=400, height=600)
            page.insert_text((40, 80), title, fontname="hebo", fontsize=18)
            prose(page, 110, 30)
            page.insert_text((40, 580), footer, fontsize=8)
        made.set_toc([*([1, title, page] for page, title in enumerate(TITLES, 1)), [1, footer, 2]])
        made.save(path)

    assert titles(path) == TITLES


def test_a_running_header_may_have_other_spaces_on_each_page(tmp_path: Path) -> None:
    path, headers = tmp_path / "a.pdf", ["APPROVED: May 4", "APPROVED:May 4", "APPROVED: May4", "APPROVED:May4"]
    with pymupdf.open() as made:
        for title, header in zip(TITLES, headers, strict=True):
            page = made.new_page(width=400, height=600)
            page.insert_text((220, 40), header, fontname="hebo", fontsize=18)
            page.insert_text((40, 90), title, fontname="hebo", fontsize=18)
            prose(page, 120, 30)
        made.save(path)

    assert titles(path) == TITLES


def test_a_line_of_a_heading_is_no_section_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as made:
        for title in TITLES:
            page = made.new_page(width=400, height=600)
            page.insert_text((40, 80), "EXHIBIT A", fontname="hebo", fontsize=18)
            page.insert_text((40, 104), title.upper(), fontname="hebo", fontsize=18)
            page.insert_text((40, 140), title, fontname="hebo", fontsize=14)
            prose(page, 160, 20)
        marks: list[list[object]] = []
        for page, title in enumerate(TITLES, 1):
            marks += [[1, f"EXHIBIT A {title.upper()}", page], [2, "EXHIBIT A", page], [2, title.upper(), page]]
        made.set_toc(marks)
        made.save(path)

    assert titles(path) == [f"EXHIBIT A {title.upper()}" for title in TITLES]
