"""Headings that the bookmarks leave out although they look like those that the bookmarks name, and printed numbers."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import BY_BOOKMARKS, BY_BOOKMARKS_AND_HEADINGS, PdfOutliner
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

CHAPTERS = ["Motivation", "Approach", "Experiments", "Conclusion"]
SECTIONS = ["Lakes", "Rivers", "Springs", "Shores", "Reeds", "Birds", "Fish", "Ice"]
Line = tuple[str, int]
"""The text of a line, and its size; lines larger than the text are bold."""


def document(path: Path, pages: Sequence[Sequence[Line]], left_out: Sequence[str] = ()) -> Path:
    """Pages whose `Line`s have three lines of text below each, with a bookmark for each line larger than the text.

    `left_out` have no bookmark. The bookmarks have no numbers.
    """
    marks: list[list[object]] = []
    with pymupdf.open() as made:
        for lines in pages:
            page, y = made.new_page(width=400, height=700), 60
            for text, size in lines:
                page.insert_text((40, y), text, fontname="hebo" if size > 10 else "helv", fontsize=size)
                for row in range(3):
                    page.insert_text((40, y + 20 + 13 * row), f"Line {row} is as plain as any other one.", fontsize=10)
                y += 90
                if size > 10 and text not in left_out:
                    marks.append([1 if size == 18 else 2, text.lstrip(".0123456789 "), len(made)])
        made.set_toc(marks)
        made.save(path)
    return path


def outline(path: Path) -> Outline:
    return PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent)


def titles(path: Path) -> list[tuple[int, str, int]]:
    def every(items: Sequence[OutlineItem], level: int) -> list[tuple[int, str, int]]:
        return [
            found
            for each in items
            for found in ((level, each.title, each.location.numbers[0]), *every(each.children, level + 1))  # type: ignore[union-attr]
        ]

    return every(outline(path).items, 1)


def thesis(*more: tuple[int, Line], numbered: bool = False) -> list[list[Line]]:
    """The pages of four chapters with two sections each, and `more` lines at the ends of pages."""
    pages = [
        [
            (f"{at + 1} {chapter}" if numbered else chapter, 18),
            *(
                (f"{at + 1}.{row + 1} {each}" if numbered else each, 14)
                for row, each in enumerate(SECTIONS[2 * at :][:2])
            ),
        ]
        for at, chapter in enumerate(CHAPTERS)
    ]
    for page, line in more:
        pages[page - 1].append(line)
    return pages


def test_a_heading_without_a_bookmark_in_the_look_of_a_level_has_that_level(tmp_path: Path) -> None:
    path = document(tmp_path / "x.pdf", thesis((2, ("Marshes", 14))), ["Marshes"])

    assert titles(path)[3:8] == [
        (1, "Approach", 2),
        (2, "Springs", 2),
        (2, "Shores", 2),
        (2, "Marshes", 2),
        (1, "Experiments", 3),
    ]
    assert outline(path).notes[0] == BY_BOOKMARKS_AND_HEADINGS


def test_parts_around_the_chapters_in_their_look_need_no_bookmarks(tmp_path: Path) -> None:
    pages = [[("Acknowledgments", 18)], *thesis(), [("Glossary", 18)], [("Bibliography", 18)]]
    path = document(tmp_path / "x.pdf", pages, ["Acknowledgments", "Glossary", "Bibliography"])

    found = titles(path)

    assert [found[0], *found[-2:]] == [(1, "Acknowledgments", 1), (1, "Glossary", 6), (1, "Bibliography", 7)]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([("Marshes", 16)], id="in another size"),
        pytest.param([("Example", 14)] * 3, id="again and again"),
        pytest.param([("Lakes and rivers", 14), *[(f"and {each},", 14) for each in SECTIONS]], id="as text"),
    ],
)
def test_other_lines_are_no_headings(lines: Sequence[Line], tmp_path: Path) -> None:
    pages = thesis(
        *((4, line) for line in lines[:3]), *((3, line) for line in lines[3:6]), *((2, line) for line in lines[6:])
    )
    path = document(tmp_path / "x.pdf", pages, [text for text, _ in lines])

    assert [title for _, title, _ in titles(path)] == [title for _, title, _ in titles(document(path, thesis()))]
    assert outline(path).notes[0] == BY_BOOKMARKS


def test_a_line_of_the_cover_is_no_chapter(tmp_path: Path) -> None:
    path = document(tmp_path / "x.pdf", [[("Waters of the North", 18)], *thesis()], ["Waters of the North"])

    assert titles(path)[:2] == [(1, "Page 1", 1), (1, "Motivation", 2)]


def test_the_label_above_a_chapter_is_no_section(tmp_path: Path) -> None:
    pages = thesis()
    path = document(tmp_path / "x.pdf", pages)
    with pymupdf.open(path) as made:
        for page in made:
            page.insert_text((200, 30), "NUMBERED SO", fontname="hebo", fontsize=14)
        made.saveIncr()

    assert [title for _, title, _ in titles(path)][:3] == ["Motivation", "Lakes", "Rivers"]


def test_titles_get_the_numbers_that_are_printed_before_them(tmp_path: Path) -> None:
    found = titles(document(tmp_path / "x.pdf", thesis(numbered=True)))

    assert found[:3] == [(1, "1 Motivation", 1), (2, "1.1 Lakes", 1), (2, "1.2 Rivers", 1)]
    assert found[-1] == (2, "4.2 Ice", 4)


def test_a_number_before_few_titles_of_a_level_is_not_added(tmp_path: Path) -> None:
    pages = thesis()
    pages[1][0] = ("2 Approach", 18)

    assert (1, "Approach", 2) in titles(document(tmp_path / "x.pdf", pages))


def test_a_bookmark_before_a_page_break_leads_to_the_heading_after_it(tmp_path: Path) -> None:
    path = document(tmp_path / "x.pdf", thesis())
    with pymupdf.open(path) as made:
        marks = made.get_toc()
        made.set_toc([[*mark[:2], 2] if mark[1] == "Experiments" else mark for mark in marks])
        made.saveIncr()

    assert (1, "Experiments", 3) in titles(path)


def test_a_bookmark_that_is_only_a_label_gets_the_title_below_it(tmp_path: Path) -> None:
    with pymupdf.open() as made:
        for label, title in zip(("Chapter 1", "Chapter 2", "Appendix A"), SECTIONS, strict=False):
            page = made.new_page(width=400, height=700)
            page.insert_text((40, 60), label, fontname="hebo", fontsize=30)
            page.insert_text((40, 90), title, fontname="hebo", fontsize=16)
            for row in range(9):
                page.insert_text((40, 130 + 13 * row), f"Line {row} is as plain as any other one.", fontsize=10)
        made.set_toc([[1, "Chapter 1", 1], [2, "Lakes", 1], [1, "Chapter 2", 2], [1, "Appendix A", 3]])
        made.save(tmp_path / "a.pdf")

    found = titles(tmp_path / "a.pdf")

    assert [title for _, title, _ in found] == ["Chapter 1", "Lakes", "Chapter 2 Rivers", "Appendix A Springs"]
