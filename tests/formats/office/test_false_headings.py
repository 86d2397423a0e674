"""Paragraphs with the style or the look of headings that are something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.office.office_files import paragraph, write_docx
from tests.formats.office.test_titles import BOLD, PROSE, core, outline, size

TOP, LOWER = "berschrift1", "berschrift2"


def titles(path: Path, body: str) -> list[str]:
    """The titles of the parts of a document, without those of openings."""
    found = []
    items = list(outline(write_docx(path / "a.docx", body, **{"docProps__core.xml": core("")})).items)
    while items:
        item = items.pop(0)
        found += [item.title] if item.type != "opening" else []
        items[:0] = item.children
    return found


@pytest.mark.parametrize(
    "text",
    [
        ".",
        ". The company has no debts",
        "any loans that the company made;",
        "any leases of the company; and",
        "The company has no debts to any of its directors or their families, except for the loans that are listed below.",
        "the lakes of the north and their shores " * 9,
        "Date: ________",
        "Name..........",
    ],
)
def test_text_with_the_style_of_a_heading_is_no_section(tmp_path: Path, text: str) -> None:
    body = paragraph("Debts", TOP) + PROSE + paragraph(text, LOWER) + paragraph("Leases", TOP) + PROSE

    assert titles(tmp_path, body) == ["Debts", "Leases"]


@pytest.mark.parametrize(
    "text", ["Sale of shares.", "The company has no debts.", "(b) Debts", "Debts: what is owed", "1.2"]
)
def test_short_headings_may_end_with_a_period(tmp_path: Path, text: str) -> None:
    body = paragraph("Debts", TOP) + PROSE + paragraph(text, LOWER) + PROSE + paragraph("Leases", TOP) + PROSE

    assert titles(tmp_path, body) == ["Debts", text, "Leases"]


def test_a_style_in_which_most_paragraphs_are_text_gives_no_sections(tmp_path: Path) -> None:
    clauses = (
        paragraph("The company has no debts to any of its directors or their families.", LOWER)
        + paragraph("The company has no leases, but for those that are listed below.", LOWER)
        + paragraph("The company has no subsidiaries, neither here nor in the north.", LOWER)
        + paragraph("All licenses are valid.", LOWER)
    )
    body = paragraph("Debts", TOP) + clauses + paragraph("Licenses", LOWER) + paragraph("Leases", TOP) + PROSE

    assert titles(tmp_path, body) == ["Debts", "Licenses", "Leases"]


def pages(head: str, numbers: list[str]) -> str:
    """Pages of a converted document: the page number, the running head of the next page, a heading, and text."""
    return "".join(
        paragraph(number)
        + paragraph(head, "", "", BOLD + size(16))
        + paragraph(f"How lake {at} grows", "", "", BOLD + size(14))
        + PROSE * 3
        for at, number in enumerate(numbers)
    )


def test_a_running_head_is_no_section(tmp_path: Path) -> None:
    headings = [f"How lake {at} grows" for at in range(5)]

    assert titles(tmp_path, pages("Lakes of the North", ["2", "3", "ends here 4", "5", "6"])) == ["2", *headings]


def test_a_repeated_heading_that_follows_text_is_a_section(tmp_path: Path) -> None:
    assert titles(tmp_path, pages("Exercise", ["Rain", "Ice", "In 7", "In 3", "Snow"])).count("Exercise") == 5


def test_lines_of_printed_contents_are_no_sections(tmp_path: Path) -> None:
    bold = BOLD + size(12)
    lines = ("Rain 3 Snow 4", "Ice......7", "The springs of the north 7", "The lakes 12")
    contents = "".join(paragraph(each, "", "", bold) for each in lines)
    body = paragraph("Contents", "", "", bold) + contents + paragraph("Chapter 1", "", "", bold) + PROSE * 9

    assert titles(tmp_path, body) == ["Contents", "Chapter 1"]


def test_blanks_of_forms_are_no_part_of_the_title(tmp_path: Path) -> None:
    title = paragraph("Lakes of the North", "", "", BOLD + size(22))
    blanks = paragraph("Model No.:_______", "", "", BOLD + size(20)) + paragraph("Date ____.", "", "", BOLD + size(20))
    body = title + blanks + title + paragraph("Introduction", TOP) + PROSE + paragraph("Rain", TOP) + PROSE

    found = outline(write_docx(tmp_path / "a.docx", body, **{"docProps__core.xml": core("")}))

    assert found.title == "Lakes of the North"
