"""What is a heading in a PDF without bookmarks and without a printed table of contents, and what is none."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.heading_numbers import (
    depth_of,
    is_label,
    number_parts,
    rank_of,
    roman_number_of,
    unnumbered,
    with_number_space,
)
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

HEADINGS = ["1 First matters", "2 Second matters", "3 Third matters", "4 Fourth matters"]


def outline_items(path: Path) -> Sequence[OutlineItem]:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return PdfOutliner().outline(source, silent).items


def titles(found: Sequence[OutlineItem]) -> list[str]:
    return [title for outline_item in found for title in (outline_item.title, *titles(outline_item.children))]


def written(path: Path, draw: Callable[[pymupdf.Page, int], None], count: int = 4) -> Path:
    """Pages with one heading of 16 points each, text, and what `draw` puts on them below a height of 300 points."""
    with pymupdf.open() as document:
        for number in range(1, count + 1):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 80), HEADINGS[number - 1], fontsize=16)
            prose(page, 40, 110)
            draw(page, number)
        document.save(path)
    return path


def prose(page: pymupdf.Page, x: float, y: float, lines: int = 10) -> None:
    for line in range(lines):
        page.insert_text((x, y + 13 * line), f"Line {line} of the text is as plain as any.", fontsize=10)


def test_a_section_sign_with_the_number_in_a_font_of_its_own_belongs_to_the_heading(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for number, title in enumerate(("Invariants", "Contractions", "Scattering", "Conclusion"), 1):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 80), f"\u00a7{number}", fontname="tiro", fontsize=14)
            page.insert_text((70, 80), title, fontname="helv", fontsize=14)
            prose(page, 40, 110)
        document.save(tmp_path / "x.pdf")

    found = titles(outline_items(tmp_path / "x.pdf"))

    assert found == ["\u00a71 Invariants", "\u00a72 Contractions", "\u00a73 Scattering", "\u00a74 Conclusion"]


def nothing(page: pymupdf.Page, number: int) -> None:
    """Draws nothing."""


def section_in_header(page: pymupdf.Page, number: int) -> None:
    names = ["of beginnings", "of what follows", "of later things", "of the end"]
    page.insert_text((40, 30), f"{number}.{number} A tale {names[number - 1]}", fontname="heit", fontsize=10)


def caption(page: pymupdf.Page, number: int) -> None:
    page.insert_text((40, 320), f"Figure {number}: What was seen", fontname="hebo", fontsize=10)


def code(page: pymupdf.Page, number: int) -> None:
    for line in range(6):
        page.insert_text((40, 320 + 12 * line), f"Let_{number} = Call({line})", fontname="cour", fontsize=9)


def table(page: pymupdf.Page, number: int) -> None:
    for row in range(4):
        for column, word in enumerate(("Name", "Size", "Weight")):
            page.insert_text((40 + 60 * column, 320 + 14 * row), f"{word} {row}", fontname="hebo", fontsize=10)


def bullets(page: pymupdf.Page, number: int) -> None:
    for row in range(4):
        page.insert_text((40, 320 + 14 * row), f"- Point {row} of page {number}", fontname="hebo", fontsize=10)


def run_in(page: pymupdf.Page, number: int) -> None:
    page.insert_text((40, 320), f"Remark {number}.", fontname="hebo", fontsize=10)
    page.insert_text((100, 320), "It goes on in the same row as its name,", fontsize=10)
    prose(page, 40, 333, 4)


def rubric(page: pymupdf.Page, number: int) -> None:
    for place in (300, 400, 500):
        page.insert_text((40, place), "See also", fontname="hebo", fontsize=10)
        prose(page, 40, place + 20, 4)


def references(page: pymupdf.Page, number: int) -> None:
    for row in range(5):
        page.insert_text((40, 320 + 14 * row), f"[{number}{row}] Somebody wrote a book", fontname="heit", fontsize=10)


def label(page: pymupdf.Page, number: int) -> None:
    page.insert_text((40, 320), f"Note {number}:", fontname="hebo", fontsize=10)
    prose(page, 40, 340, 4)


def pull_quote(page: pymupdf.Page, number: int) -> None:
    page.insert_text((60, 330), f'"What is said on page {number} is printed', fontname="hebo", fontsize=16)
    page.insert_text((60, 350), 'once more, in large letters."', fontname="hebo", fontsize=16)
    prose(page, 40, 390, 4)


def italic_bullets(page: pymupdf.Page, number: int) -> None:
    for row, name in enumerate(("Of the first", "Of the second", "And of the third")):
        page.insert_text((60, 320 + 20 * row), "*", fontname="helv", fontsize=10)
        page.insert_text((76, 320 + 20 * row), f"{name} on page {number}", fontname="heit", fontsize=10)


def axis(page: pymupdf.Page, number: int) -> None:
    for at in range(1, 6):
        page.insert_text((20 + 30 * at, 330), f"{10 * at}", fontname="hebo", fontsize=10)
    page.insert_text((200, 330), f"Cost of {number}", fontname="hebo", fontsize=10)


def terms(page: pymupdf.Page, number: int) -> None:
    for row in range(2):
        page.insert_text((40, 320 + 60 * row), f"upstream of {row} and {number}", fontname="hebo", fontsize=10)
        prose(page, 60, 335 + 60 * row, 2)


def algorithm(page: pymupdf.Page, number: int) -> None:
    for row, step in enumerate(("for each of them do", "look at it", "end for"), 1):
        page.insert_text((40, 320 + 14 * row), f"{number + row}: {step}", fontname="heit", fontsize=10)
        page.insert_text((40, 420 + 14 * row), "which is done", fontname="heit", fontsize=10)
        page.insert_text((40, 480 + 14 * row), "as long as there is anything", fontname="heit", fontsize=10)


def bold_beginning(page: pymupdf.Page, number: int) -> None:
    name = f"What is covered on page {number}"
    page.insert_htmlbox(pymupdf.Rect(40, 310, 360, 330), f"<p style='font-size:10px'><b>{name}</b>. It goes</p>")
    prose(page, 40, 340, 4)


@pytest.mark.parametrize(
    "draw",
    [
        nothing, section_in_header, caption, code, table, bullets, run_in, rubric, references, label, terms, algorithm,
        bold_beginning, pull_quote, italic_bullets, axis,
    ],
)  # fmt: skip
def test_what_is_no_heading_is_left_out(draw: Callable[[pymupdf.Page, int], None], tmp_path: Path) -> None:
    path = written(tmp_path / "x.pdf", draw)

    assert [title for title in titles(outline_items(path)) if not title.startswith(("Figure", "Table"))] == HEADINGS


def test_a_title_that_returns_in_every_part_is_a_heading_in_each(tmp_path: Path) -> None:
    countries = ["Austria", "Brazil", "Chile", "Denmark", "Egypt", "France", "Ghana", "Hungary", "India", "Japan"]
    with pymupdf.open() as document:
        for number in range(80):
            page = document.new_page(width=400, height=600)
            if number % 8 == 0:
                page.insert_text((40, 80), countries[number // 8], fontname="hebo", fontsize=16)
                prose(page, 40, 110)
                page.insert_text((40, 300), "Legal framework", fontname="hebo", fontsize=12)
            elif number % 8 == 4:
                page.insert_text((40, 300), f"Courts of {countries[number // 8]}", fontname="hebo", fontsize=12)
            for line in range(10):
                page.insert_text(
                    (40, 330 + 13 * line), f"Line {line} of page {number} tells how judges are appointed there."
                )
        document.save(tmp_path / "x.pdf")

    found = titles(outline_items(tmp_path / "x.pdf"))

    assert found == [title for country in countries for title in (country, "Legal framework", f"Courts of {country}")]


def test_headings_of_one_size_on_a_single_page_are_no_title(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        for row, title in enumerate(("Transparency", "Participation", "Collaboration")):
            page.insert_text((40, 80 + 170 * row), title, fontname="hebo", fontsize=10)
            prose(page, 40, 110 + 170 * row)
        document.save(tmp_path / "x.pdf")

    assert titles(outline_items(tmp_path / "x.pdf")) == ["Transparency", "Participation", "Collaboration"]


def test_addresses_are_no_headings_and_bold_numbers_with_parentheses_are(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        page.insert_text((40, 40), "ada@example.org", fontname="hebo", fontsize=10)
        for row, title in enumerate(("1) Transparency", "2) Participation", "3) Collaboration")):
            page.insert_text((40, 80 + 170 * row), title, fontname="hebo", fontsize=10)
            prose(page, 40, 110 + 170 * row)
        document.save(tmp_path / "x.pdf")

    assert titles(outline_items(tmp_path / "x.pdf")) == ["1) Transparency", "2) Participation", "3) Collaboration"]


def test_a_heading_that_the_next_page_repeats_at_its_place_is_there_once(tmp_path: Path) -> None:
    parts = ["Chair's statement", "Risks", "Risks", "Risks", "Viability", "Viability"]
    with pymupdf.open() as document:
        for number, part in enumerate(parts):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 140), part, fontname="hebo", fontsize=14)
            prose(page, 40, 80, 3)
            prose(page, 40, 170, 20 + number)
        document.save(tmp_path / "x.pdf")

    found = [title for title in titles(outline_items(tmp_path / "x.pdf")) if not title.startswith("Page")]
    assert found == ["Chair's statement", "Risks", "Viability"]


def test_each_slide_has_its_title(tmp_path: Path) -> None:
    """No size of text prevails on slides, and a long title is set in another size than a short one."""
    slides = ["Why logs matter", "What the law says", "How they are written", "What it costs", "Where it ends"]
    with pymupdf.open() as document:
        cover = document.new_page(width=720, height=405)
        cover.insert_text((120, 180), "Logs that nobody changes", fontsize=36)
        for number, title in enumerate(slides):
            slide = document.new_page(width=720, height=405)
            slide.insert_text((40, 50), title, fontsize=26)
            for row in range(4):
                size = 12 + 2 * ((number + row) % 5)
                slide.insert_text((60, 120 + 40 * row), f"Point {row} about slide {number}", fontsize=size)
        document.save(tmp_path / "x.pdf")

    assert titles(outline_items(tmp_path / "x.pdf")) == ["Logs that nobody changes", *slides]


def test_bold_titles_at_the_top_of_every_page_are_headings(tmp_path: Path) -> None:
    """They look like running headers that name the section, but none repeats; a caption needs a number."""
    items = [
        "Item 1. Business",
        "Item 2. Places",
        "Item 3. Courts",
        "Tables made of oak",
        "Item 4. Mines",
        "Item 5. Stock",
    ]
    with pymupdf.open() as document:
        for title in items:
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 40), title, fontname="hebo", fontsize=10)
            prose(page, 40, 80)
        document.save(tmp_path / "x.pdf")

    assert titles(outline_items(tmp_path / "x.pdf")) == items


def test_the_lines_of_a_long_heading_are_one(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page, number: int) -> None:
        page.insert_text((40, 320), f"{number}.1 What is told of the days when", fontname="hebo", fontsize=12)
        page.insert_text((40, 334), f"the river came for the {number}th time", fontname="hebo", fontsize=12)
        prose(page, 40, 360)

    found = outline_items(written(tmp_path / "x.pdf", draw))

    assert [outline_item.title for outline_item in found] == HEADINGS
    assert found[1].children[0].title == "2.1 What is told of the days when the river came for the 2th time"


def test_a_number_above_its_title_belongs_to_it(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for number, title in enumerate(("The Hill", "The Vale", "The Wood"), 1):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 120), f"Chapter {number}", fontsize=18)
            page.insert_text((40, 160), title, fontsize=22)
            prose(page, 40, 200)
        document.save(tmp_path / "x.pdf")

    found = outline_items(tmp_path / "x.pdf")

    assert titles(found) == ["Chapter 1 The Hill", "Chapter 2 The Vale", "Chapter 3 The Wood"]


@pytest.mark.parametrize(
    ("label", "size"), [("{}", 48), ("Chapter {}", 48), ("ARTICLE {}", 14)], ids=["number", "chapter", "article"]
)
def test_a_title_below_a_large_number_or_a_label_belongs_to_it(tmp_path: Path, label: str, size: int) -> None:
    with pymupdf.open() as document:
        for number, title in enumerate(("The Hill", "The Vale", "The Wood"), 1):
            page = document.new_page(width=400, height=600)
            page.insert_text((200, 120), label.format(number), fontname="hebo", fontsize=size)
            page.insert_text((220, 155), title, fontname="hebo", fontsize=size // 2 if size > 14 else size)
            prose(page, 40, 200)
        document.save(tmp_path / "x.pdf")

    found = titles(outline_items(tmp_path / "x.pdf"))

    assert found == [f"{label.format(1)} The Hill", f"{label.format(2)} The Vale", f"{label.format(3)} The Wood"]


def test_the_title_of_the_document_is_no_section(tmp_path: Path) -> None:
    with pymupdf.open(written(tmp_path / "plain.pdf", nothing)) as document:
        page = document.new_page(pno=0, width=400, height=600)
        page.insert_text((40, 200), "Many Matters", fontsize=30)
        page.insert_text((40, 240), "Told by Nobody", fontsize=18)
        document.save(tmp_path / "x.pdf")

    assert [outline_item.title for outline_item in outline_items(tmp_path / "x.pdf")] == ["Page 1", *HEADINGS]


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for number in (1, 2):
            page = document.new_page(width=500, height=600)
            for side, x in enumerate((40, 265)):
                for half, y in enumerate((80, 330)):
                    place = f"{number}.{2 * side + half + 1} Column {side} half {half}"
                    page.insert_text((x, y), place, fontname="hebo", fontsize=10)
                    prose(page, x, y + 17 + 5 * side, 16)
        document.save(tmp_path / "x.pdf")

    assert titles(outline_items(tmp_path / "x.pdf")) == [
        f"{number}.{2 * side + half + 1} Column {side} half {half}"
        for number in (1, 2)
        for side in (0, 1)
        for half in (0, 1)
    ]


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_turned_page_is_read_as_it_is_shown(turn: int, tmp_path: Path) -> None:
    with pymupdf.open() as document, pymupdf.open(written(tmp_path / "plain.pdf", nothing)) as upright:
        for page in upright:
            size = (600, 400) if turn % 180 else (400, 600)
            shown = document.new_page(width=size[0], height=size[1])
            shown.show_pdf_page(shown.rect, upright, page.number, rotate=turn)
            shown.set_rotation(turn)
        document.save(tmp_path / "x.pdf")

    assert titles(outline_items(tmp_path / "x.pdf")) == HEADINGS


def test_headings_in_japanese_are_found(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for number, name in enumerate(("一", "二", "三"), 1):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 80), f"第{name}章 川の流れ{number}", fontname="japan", fontsize=16)
            for line in range(8):
                page.insert_text(
                    (40, 120 + 15 * line), "これは本文の一行で、続いていく。", fontname="japan", fontsize=10
                )
        document.save(tmp_path / "x.pdf")

    assert titles(outline_items(tmp_path / "x.pdf")) == ["第一章 川の流れ1", "第二章 川の流れ2", "第三章 川の流れ3"]


def test_numbers_tell_headings_in_a_type_that_prints_other_things_too(tmp_path: Path) -> None:
    def counted(page: pymupdf.Page, number: int) -> None:
        page.insert_text((40, 300), f"{number}.1 Part {'abcd'[number - 1] * 4}", fontname="hebo", fontsize=10)
        prose(page, 40, 320, 4)
        for line in range(3):
            page.insert_text(
                (40, 400 + 30 * line), f"And bold words {line}, on page {number},", fontname="hebo", fontsize=10
            )
        page.insert_text((40, 500), f"Term {'abcd'[number - 1] * 4}", fontname="hebo", fontsize=10)

    found = titles(outline_items(written(tmp_path / "x.pdf", counted)))

    assert [title for at in range(4) for title in (HEADINGS[at], f"{at + 1}.1 Part {'abcd'[at] * 4}")] == found


@pytest.mark.parametrize("number", ["{}.", "{}"])
def test_capitals_that_count_up_are_headings_in_the_type_of_the_text(number: str, tmp_path: Path) -> None:
    names = ["INTRODUCTION", "RELATED WORK", "METHODS", "CONCLUSION"]
    with pymupdf.open() as document:
        for at, name in enumerate(names, 1):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 120), f"{number.format(at)} {name}", fontsize=10)
            prose(page, 40, 150)
            page.insert_text((40, 350), "SOMEBODY ELSE", fontsize=10)
        page.insert_text((40, 400), "REFERENCES", fontsize=10)
        document.save(tmp_path / "x.pdf")

    found = titles(outline_items(tmp_path / "x.pdf"))

    assert found == [*(f"{number.format(at)} {name}" for at, name in enumerate(names, 1)), "REFERENCES"]


def test_the_next_line_of_a_heading_may_begin_with_a_small_letter(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page, number: int) -> None:
        page.insert_text((40, 320), f"The {number} ways in which the river", fontname="heit", fontsize=11)
        page.insert_text((40, 333), "came to the sea", fontname="heit", fontsize=11)
        prose(page, 40, 360)

    found = outline_items(written(tmp_path / "x.pdf", draw))

    assert [each.title for each in found[1].children] == ["The 2 ways in which the river came to the sea"]


def test_what_chinese_documents_count_is_told_from_sentences_of_the_same_type(tmp_path: Path) -> None:
    rows = [
        (16, "第七章企业的信用"),
        (12, "一、过去的评级"),
        (12, "没有别的评级。"),
        (12, "二、授信的情况"),
        (12, "到三月为止，各类授信已经使用了一半，其余尚未使用。"),
        (12, "单位：万元"),
    ]
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=600)
        for row, (size, text) in enumerate(rows):
            page.insert_text((40, 90 + 40 * row), text, fontname="china-s", fontsize=size)
        for line in range(12):
            page.insert_text((40, 340 + 15 * line), "这是正文的一行，它一直继续下去", fontname="china-s", fontsize=10)
        document.save(tmp_path / "x.pdf")

    (chapter,) = outline_items(tmp_path / "x.pdf")

    assert ("第七章企业的信用", ["一、过去的评级", "二、授信的情况"]) == (chapter.title, titles(chapter.children))


@pytest.mark.long
def test_the_number_of_a_section_at_the_top_of_a_page_is_no_running_header(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for chapter in range(1, 9):
            page = document.new_page(width=400, height=600)
            at = 60 if chapter in (2, 4, 7) else 200
            prose(page, 40, 90, 7)
            page.insert_text((40, at), f"{chapter}.1", fontname="hebo", fontsize=12)
            page.insert_text((70, at), f"Of {'abcdefgh'[chapter - 1] * 5}", fontname="hebo", fontsize=12)
            prose(page, 40, 220, 20)
        for x, number in ((40, "A.1"), (70, "B.2")):
            page.insert_text((x, 30), number, fontname="hebo", fontsize=12)
        document.save(tmp_path / "x.pdf")

    expected = [f"{chapter}.1 Of {'abcdefgh'[chapter - 1] * 5}" for chapter in range(1, 9)]
    assert expected == [title for title in titles(outline_items(tmp_path / "x.pdf")) if " Of " in title]


@pytest.mark.parametrize(
    ("text", "depth", "parts"),
    [
        ("3 Results", 1, ("3",)),
        ("3.1. Method", 2, ("3", "1")),
        ("A.2 Proofs", 2, ("A", "2")),
        ("10.10Text", 2, ("10", "10")),
        ("A simple case", 0, ("A",)),
        ("Chapter 4 Roads", 1, ()),
        ("2024", 0, ()),
        ("Results", 0, ()),
        ("二、授信", 2, ()),
        ("（三）其他", 3, ()),
        ("一般", 0, ()),
    ],
)
def test_the_depth_of_a_number_is_that_of_its_heading(text: str, depth: int, parts: tuple[str, ...]) -> None:
    assert (depth_of(text), number_parts(text)) == (depth, parts)


def test_parts_chapters_and_sections_are_told_by_their_names() -> None:
    ranks = {
        text: rank_of(text)
        for text in (
            "Part II",
            "Chapter Two",
            "Kapitel 3",
            "Section 2",
            "第3部",
            "第十章 海",
            "第1節",
            "CHAPTER1",
            "Partial sums",
        )
    }

    assert ranks == {
        "Part II": 0,
        "Chapter Two": 1,
        "Kapitel 3": 1,
        "Section 2": 2,
        "第3部": 0,
        "第十章 海": 1,
        "第1節": 2,
        "CHAPTER1": 1,
        "Partial sums": None,
    }


def test_the_name_of_a_chapter_stands_apart_from_its_number() -> None:
    assert ("CHAPTER 1 Roads", "Part two") == (with_number_space("CHAPTER1 Roads"), with_number_space("Part two"))


def test_a_heading_without_its_number_is_its_words() -> None:
    found = [unnumbered(text) for text in ("2.1 Method", "Chapter 4: Roads", "第3章 海", "二、 海", "Method", "4")]

    assert found == ["Method", "Roads", "海", "海", "Method", "4"]
    assert (roman_number_of("IV Lakes"), roman_number_of("In a lake"), is_label("Appendix B"), is_label("Appendices")) == (
        "IV", "", True, False,
    )  # fmt: skip


def test_a_bold_title_with_a_bullet_that_no_other_bullet_is_next_to_is_a_heading(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        for number, name in enumerate(("one", "two", "three")):
            page = document.new_page(width=400, height=600)
            for row in range(2):
                question = f"\u2022 How is matter {name} - of part {row} - settled?"
                page.insert_htmlbox(
                    pymupdf.Rect(40, 60 + 250 * row, 360, 90 + 250 * row),
                    f"<p style='font-size:10px'><b>{question}</b></p>",
                )
                prose(page, 40, 100 + 250 * row, 10 + number)
        document.save(path)

    assert titles(outline_items(path)) == [
        f"How is matter {name} - of part {row} - settled?" for name in ("one", "two", "three") for row in range(2)
    ]


def test_bullets_of_a_symbol_font_are_no_letters_of_a_title(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        for number in range(1, 5):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 80), "n", fontname="zadb", fontsize=16)
            page.insert_text((56, 80), f"Matter of page {'abcd'[number - 1]}", fontname="hebo", fontsize=16)
            prose(page, 40, 110)
        document.save(path)

    assert titles(outline_items(path)) == [f"Matter of page {letter}" for letter in "abcd"]


def test_a_text_that_is_drawn_twice_for_a_shadow_is_one_heading(tmp_path: Path) -> None:
    def shadows(page: pymupdf.Page, number: int) -> None:
        page.insert_text((41.5, 81.5), HEADINGS[number - 1], fontsize=16)

    assert titles(outline_items(written(tmp_path / "x.pdf", shadows))) == HEADINGS


def test_numbered_titles_before_text_in_the_same_line_are_headings_but_theorems_are_not(tmp_path: Path) -> None:
    def beginnings(page: pymupdf.Page, number: int) -> None:
        for row, name in enumerate(("Tensor products", "Lemma")):
            title = f"{number}.{row + 1}. {name}."
            page.insert_text((40, 320 + 90 * row), title, fontname="hebo", fontsize=10)
            right = 43 + pymupdf.get_text_length(title, "hebo", 10)
            page.insert_text((right, 320 + 90 * row), "We denote it by", fontsize=10)
            prose(page, 40, 333 + 90 * row, 4)

    found = titles(outline_items(written(tmp_path / "x.pdf", beginnings)))

    assert found == [title for at, name in enumerate(HEADINGS, 1) for title in (name, f"{at}.1. Tensor products")]


def test_references_in_the_largest_type_are_no_title_of_the_document(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        for names in (["Motivation", "Approach"], ["Evaluation", "References"]):
            page = document.new_page(width=400, height=600)
            for row, name in enumerate(names):
                page.insert_text((40, 80 + 250 * row), name, fontsize=18 if name == "References" else 14)
                prose(page, 40, 110 + 250 * row)
        document.save(path)

    assert "References" in titles(outline_items(path))


def test_numbers_of_the_lines_of_a_manuscript_hide_no_heading(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with pymupdf.open() as document:
        for number, name in enumerate(("Motivation", "Approach", "Evaluation"), 1):
            page = document.new_page(width=400, height=800)
            page.insert_text((40, 140), str(number), fontname="hebo", fontsize=12)
            page.insert_text((64, 140), name, fontname="hebo", fontsize=12)
            prose(page, 40, 170, 45)
            for row in range(45):
                page.insert_text((22, 170 + 13 * row), str(45 * number + row), fontname="tiro", fontsize=5)
            page.insert_text((22, 144), str(45 * number - 1), fontname="tiro", fontsize=5)
        document.save(path)

    assert titles(outline_items(path)) == ["1 Motivation", "2 Approach", "3 Evaluation"]


def test_authors_before_the_abstract_are_no_headings(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    names = ["Abstract", "Motivation", "Approach", "Evaluation"]
    with pymupdf.open() as document:
        for name in names:
            page = document.new_page(width=400, height=600)
            if name == "Abstract":
                for row, author in enumerate(("Ada Lovelace", "Emmy Noether", "Grace Hopper")):
                    page.insert_text((40, 40 + 24 * row), author, fontname="hebo", fontsize=12)
            page.insert_text((40, 150), name, fontname="hebo", fontsize=12)
            prose(page, 40, 180, 20)
        document.save(path)

    assert titles(outline_items(path)) == names


def test_theorems_and_lines_of_code_in_bold_type_are_no_headings(tmp_path: Path) -> None:
    def lines(page: pymupdf.Page, number: int) -> None:
        page.insert_text((40, 320), f"Theorem {number}.1. Everything is as it seems", fontname="hebo", fontsize=10)
        prose(page, 40, 333, 4)
        page.insert_text((40, 420), f"{number + 3}: for each of them do", fontname="hebo", fontsize=10)
        prose(page, 40, 433, 4)

    assert titles(outline_items(written(tmp_path / "x.pdf", lines))) == HEADINGS


def flowing(path: Path, lines: Sequence[tuple[str, str]]) -> Path:
    """A page with `lines` (text, font) of 10 points, one below the other without a gap."""
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=800)
        for row, (text, font) in enumerate(lines):
            page.insert_text((40, 80 + 13 * row), text, fontname=font, fontsize=10)
        document.save(path)
    return path


PROSE = ("What was said then goes on here, to the right edge of the text and", "helv")
END = ("ends soon", "helv")


def test_bold_numbered_headings_directly_below_the_short_last_line_of_a_paragraph_are_found(tmp_path: Path) -> None:
    names = ["1. Opening", "2. Review of the minutes", "3. Mailing list", "4. Survey of members"]
    lines = [line for name in names for line in ((name, "hebo"), PROSE, PROSE, END)]

    assert titles(outline_items(flowing(tmp_path / "x.pdf", lines))) == names


def test_a_bold_line_after_a_full_line_of_its_sentence_is_no_heading(tmp_path: Path) -> None:
    bold = ("2. Something is meant", "hebo")
    lines = [("1. Opening", "hebo"), PROSE, END, ("3. Closing", "hebo"), PROSE, bold, PROSE, END]

    assert "2. Something is meant" not in titles(outline_items(flowing(tmp_path / "x.pdf", lines)))


SPEAKERS = [(f"Jane Doe, {number} Main Road, Springfield.", "hebo") for number in range(3)]
CAPITALS = ["CALL TO ORDER", "UNFINISHED BUSINESS", "CONSENT AGENDA", "ADJOURNMENT"]


def test_bold_capitals_are_headings_although_other_bold_lines_are_text(tmp_path: Path) -> None:
    spoken = [line for speaker in SPEAKERS for line in (speaker, PROSE, END)]
    lines = [line for name in CAPITALS for line in ((" ", "helv"), (name, "hebo"), PROSE, END, *spoken)]

    assert titles(outline_items(flowing(tmp_path / "x.pdf", lines))) == CAPITALS


def test_bold_capitals_that_are_mostly_text_are_no_headings(tmp_path: Path) -> None:
    spoken = [line for speaker in SPEAKERS for line in ((speaker[0].upper(), "hebo"), PROSE, END)]
    lines = [line for name in CAPITALS for line in ((" ", "helv"), (name, "hebo"), PROSE, END, *spoken)]

    assert titles(outline_items(flowing(tmp_path / "x.pdf", lines))) == ["Page 1"]


def test_a_heading_may_end_in_three_dots(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page, number: int) -> None:
        page.insert_text((40, 320), f"What belongs to page {number}...", fontname="hebo", fontsize=10)
        prose(page, 40, 340, 4)

    assert "What belongs to page 2..." in titles(outline_items(written(tmp_path / "x.pdf", draw)))


def test_a_numbered_heading_whose_first_line_ends_in_a_comma_continues_below(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page, number: int) -> None:
        first = f"{number}.1 Is what has been found out so far, enough,"
        page.insert_text((40, 320), first, fontname="hebo", fontsize=10)
        page.insert_text((40, 332), "and is it right?", fontname="hebo", fontsize=10)
        prose(page, 40, 360, 4)

    found = titles(outline_items(written(tmp_path / "x.pdf", draw)))

    assert "2.1 Is what has been found out so far, enough, and is it right?" in found


@pytest.mark.parametrize("text", ["www.example.org", "#OPENDATA #OPENLAW"])
def test_addresses_and_hashtags_are_no_headings(tmp_path: Path, text: str) -> None:
    def draw(page: pymupdf.Page, number: int) -> None:
        page.insert_text((40, 320), text.replace("A", "A" * number), fontname="hebo", fontsize=14)

    assert titles(outline_items(written(tmp_path / "x.pdf", draw))) == HEADINGS
