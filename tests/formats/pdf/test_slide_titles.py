"""Titles of slides in PDFs, below the bookmarks of sections and without bookmarks."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

TITLES = ["Lakes", "Rain", "Ice and Snow", "Ice and Snow", "Springs", "Rivers", "Shores", "Fish", "Birds", "Reeds"]

TOO_COMPLEX = b"BT /helv 9 Tf " + b"(a) Tj " * 300_000 + b"ET"
"""The content of a page whose pieces of text would take too long to read."""


def presentation(path: Path, bookmarks: list[tuple[int, str, int]]) -> Path:
    """A presentation with a running head in small type, a title in large type, and three lines on each slide."""
    with pymupdf.open() as made:
        for number, title in enumerate(TITLES, 1):
            page = made.new_page(width=640, height=480)
            page.insert_text((40, 20), "Waters of the North, a course", fontsize=8)
            page.insert_text((40, 70), title, fontsize=24)
            for row in range(3):
                page.insert_text(
                    (40, 200 + 30 * row), f"What slide {number} says in row {row} of its text", fontsize=14
                )
        made.set_toc([list(each) for each in bookmarks])
        made.save(path)
    return path


def tree(found: tuple[OutlineItem, ...]) -> list[object]:
    return [(each.title, tree(tuple(each.children))) for each in found]


def items(path: Path) -> tuple[OutlineItem, ...]:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return tuple(PdfOutliner().outline(source, silent).items)


def test_bookmarks_of_a_few_sections_hold_a_node_for_each_slide(tmp_path: Path) -> None:
    found = tree(items(presentation(tmp_path / "a.pdf", [(1, "What falls", 2), (1, "Rivers", 6)])))

    assert found == [
        ("Lakes", []),
        ("What falls", [("Rain", []), ("Ice and Snow", []), ("Springs", [])]),
        ("Rivers", [("Shores", []), ("Fish", []), ("Birds", []), ("Reeds", [])]),
    ]


def test_slides_without_bookmarks_are_titled_by_the_largest_lines_at_their_top(tmp_path: Path) -> None:
    found = [each.title for each in items(presentation(tmp_path / "a.pdf", []))]

    assert found == ["Lakes", "Rain", "Ice and Snow", "Springs", "Rivers", "Shores", "Fish", "Birds", "Reeds"]


@pytest.mark.parametrize("bookmarks", [[], [(1, "What falls", 2), (1, "Rivers", 6)]])
def test_a_slide_that_is_too_complex_is_left_out_with_a_note(
    bookmarks: list[tuple[int, str, int]], tmp_path: Path
) -> None:
    path = presentation(tmp_path / "a.pdf", bookmarks)
    with pymupdf.open(path) as made:
        made.update_stream(made[0].get_contents()[0], TOO_COMPLEX)
        made.saveIncr()

    found = PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent)

    assert "Springs" in str(tree(tuple(found.items)))
    assert any("Page 1 was not read, because the pages of the file are too complex" in note for note in found.notes)


def test_a_title_that_was_shrunk_to_fit_is_larger_than_all_other_text_of_its_slide(tmp_path: Path) -> None:
    sizes = {2: 20, 4: 20, 5: 15, 8: 20}  # points; 24 on the other slides
    with pymupdf.open() as made:
        for number in range(1, 10):
            page = made.new_page(width=640, height=480)
            size = sizes.get(number, 24)
            page.insert_text((40, 70), f"What is said of {number}", fontsize=size)
            if number == 2:
                page.insert_text((40, 70 + size * 1.3), "and of much else", fontsize=size)
            for row in range(3):
                page.insert_text((40, 200 + 30 * row), f"Row {row} of {number}", fontsize=20 if number == 4 else 14)
        made.set_toc([[1, "What is said", 1]])
        made.save(tmp_path / "a.pdf")

    found = [each.title for each in items(tmp_path / "a.pdf")[0].children]

    assert found == [
        f"What is said of {each}" + (" and of much else" if each == 2 else "") for each in (1, 2, 3, 6, 7, 8, 9)
    ]


def test_slides_with_only_the_labels_of_a_diagram_need_no_title(tmp_path: Path) -> None:
    with pymupdf.open() as made:
        for number in range(1, 9):
            page = made.new_page(width=640, height=480)
            if number % 3 == 1:
                page.insert_text((40, 70), f"What is said of {number}", fontname="hebo", fontsize=32 - number)
                for row in range(3):
                    page.insert_text((40, 200 + 30 * row), f"Row {row} of {number}", fontsize=20)
            else:
                for row in range(40):
                    page.insert_text((100 + 5 * row, 40 + 10 * row), f"label {row} of the diagram {number}", fontsize=4)
        made.save(tmp_path / "a.pdf")

    assert [each.title for each in items(tmp_path / "a.pdf")] == [f"What is said of {each}" for each in (1, 4, 7)]
