"""Run-in headings: numbered titles that begin a paragraph and are set off from its text by their style."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

driver: Any = pymupdf

Words = tuple[str, str]
"""A text and its font."""

PLAIN, BOLD, ITALIC = "helv", "hebo", "heit"
TEXT = "The parties agree on it"
NAMES = ["Services", "Fees", "Expenses", "Term", "Notices"]


def written(path: Path, pages: Sequence[Sequence[Sequence[Words]]]) -> Path:
    """Write pages of paragraphs that begin with the given words, each with five more lines of text."""
    with driver.open() as document:
        for paragraphs in pages:
            page = document.new_page(width=400, height=700)
            for row, words in enumerate(paragraphs):
                x, y = 60.0, 80.0 + 100 * row
                for text, font in words:
                    page.insert_text((x, y), text, fontname=font, fontsize=10)
                    x += driver.get_text_length(text, font, 10)
                for line in range(1, 6):
                    page.insert_text((40, y + 13 * line), f"As plain as line {line} of any of their texts", fontsize=10)
        document.save(path)
    return path


def leveled(path: Path) -> list[tuple[int, str]]:
    """Return the depth (0 is the top) and the title of each item of the outline."""
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])

    def walk(items: Sequence[OutlineItem], depth: int) -> Iterator[tuple[int, str]]:
        for item in items:
            yield depth, item.title
            yield from walk(item.children, depth + 1)

    return list(walk(PdfOutliner().outline(source, silent).items, 0))


def split(paragraphs: Sequence[Sequence[Words]]) -> list[Sequence[Sequence[Words]]]:
    return [paragraphs[:3], paragraphs[3:]]


@pytest.mark.parametrize(
    ("number", "title"),
    [
        pytest.param(("{}. {}. ", BOLD), ("", PLAIN), id="bold"),
        pytest.param(("{}. ", PLAIN), ("{}. ", BOLD), id="bold after a plain number"),
        pytest.param(("{}. ", PLAIN), ("{}. ", ITALIC), id="italic"),
        pytest.param(("{}.      ", PLAIN), ("{}: ", BOLD), id="after a wide gap, with a colon"),
        pytest.param(("{}. ", PLAIN), ("{}", BOLD), id="the period is plain"),
    ],
)
def test_numbered_titles_before_the_text_of_a_contract_are_its_sections(
    number: Words, title: Words, tmp_path: Path
) -> None:
    paragraphs = []
    for at, name in enumerate(NAMES, 1):
        filled = [(number[0].format(at, name), number[1]), (title[0].format(name), title[1])]
        end = "" if (title[0] or number[0]).rstrip().endswith((".", ":")) else ". "
        paragraphs.append([*filled, (end + TEXT, PLAIN)])

    found = leveled(written(tmp_path / "x.pdf", split(paragraphs)))

    assert found == [(0, f"{at}. {name}") for at, name in enumerate(NAMES, 1)]


def test_titles_in_capitals_are_set_off_from_text_in_small_letters(tmp_path: Path) -> None:
    paragraphs = [[(f"{at}. {name.upper()}. {TEXT}", PLAIN)] for at, name in enumerate(NAMES, 1)]

    found = leveled(written(tmp_path / "x.pdf", split(paragraphs)))

    assert found == [(0, f"{at}. {name.upper()}") for at, name in enumerate(NAMES, 1)]


def test_letters_are_below_the_numbers_of_the_same_style(tmp_path: Path) -> None:
    starts = ["1. ", "2. ", "(a) ", "(b) ", "3. ", "4. "]
    names = ["Purpose", "Definitions", "Of Terms", "Of Services", "Fees", "Notices"]
    paragraphs = [
        [(start, PLAIN), (f"{name}. ", BOLD), (TEXT, PLAIN)] for start, name in zip(starts, names, strict=True)
    ]

    found = leveled(written(tmp_path / "x.pdf", split(paragraphs)))

    assert found == [(int(start[0] == "("), start + name) for start, name in zip(starts, names, strict=True)]


def test_a_title_may_begin_on_the_line_above(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    with driver.open() as document:
        for at in range(1, 6):
            page = document.new_page(width=400, height=600)
            page.insert_text((60, 80), f"{at}. Services for Others than the Company, and", fontname=BOLD, fontsize=10)
            page.insert_text((40, 93), "for Competitors.", fontname=BOLD, fontsize=10)
            x = 43 + driver.get_text_length("for Competitors.", BOLD, 10)
            page.insert_text((x, 93), TEXT, fontsize=10)
            for line in range(1, 9):
                page.insert_text((40, 93 + 13 * line), f"As plain as line {line} of any of their texts", fontsize=10)
        document.save(path)

    assert leveled(path) == [
        (0, f"{at}. Services for Others than the Company, and for Competitors") for at in range(1, 6)
    ]


def test_the_heading_of_a_section_does_not_go_on_in_the_term_below_it(tmp_path: Path) -> None:
    titles = [f"{at}. {name}" for at, name in enumerate(NAMES, 1)]
    path = tmp_path / "x.pdf"
    with driver.open() as document:
        for title in titles:
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 80), title, fontname=BOLD, fontsize=10)
            page.insert_text((40, 93), "Term.", fontname=BOLD, fontsize=10)
            page.insert_text((75, 93), f"{TEXT}, and on all that follows", fontsize=10)
            for line in range(1, 9):
                page.insert_text((40, 93 + 13 * line), f"As plain as line {line} of any of their texts", fontsize=10)
        document.save(path)

    assert leveled(path) == [(0, title) for title in titles]


def test_items_of_a_list_in_a_section_are_no_sections(tmp_path: Path) -> None:
    titles = ["1 Motivation", "2 Approach", "3 Results", "4 Outlook"]
    pages: list[list[list[Words]]] = [[[(title, BOLD)]] for title in titles]
    pages[1] += [[(f"{at}. ", PLAIN), (f"{name}. ", ITALIC), (TEXT, PLAIN)] for at, name in enumerate(NAMES, 1)]

    assert leveled(written(tmp_path / "x.pdf", pages)) == [(0, title) for title in titles]


def test_items_of_a_short_list_are_no_sections_of_a_long_document(tmp_path: Path) -> None:
    titles = ["Motivation", "Approach", "Results", "Outlook"]
    pages: list[list[list[Words]]] = [[[(title, BOLD)]] for title in titles]
    pages[1] += [[(f"{at}. ", PLAIN), (f"{name}. ", BOLD), (TEXT, PLAIN)] for at, name in enumerate(NAMES, 1)]

    assert leveled(written(tmp_path / "x.pdf", pages)) == [(0, title) for title in titles]


@pytest.mark.parametrize("numbers", [[1, 2, 3, 1, 2], [2, 5, 3, 8, 1]])
def test_numbers_that_do_not_count_up_through_the_document_are_no_sections(numbers: list[int], tmp_path: Path) -> None:
    paragraphs = [
        [(f"{at}. ", PLAIN), (f"{name}. ", BOLD), (TEXT, PLAIN)] for at, name in zip(numbers, NAMES, strict=True)
    ]

    assert not any(
        name in title for name in NAMES for _, title in leveled(written(tmp_path / "x.pdf", split(paragraphs)))
    )


def test_dotted_numbers_in_italics_are_below_those_in_bold(tmp_path: Path) -> None:
    numbers = ["1.1", "1.1.1", "1.1.2", "1.2", "1.2.1"]
    paragraphs = [
        [(f"{number}. {name}. ", ITALIC if number.count(".") > 1 else BOLD), (TEXT, PLAIN)]
        for number, name in zip(numbers, NAMES, strict=True)
    ]

    found = leveled(written(tmp_path / "x.pdf", split(paragraphs)))

    assert found == [(number.count(".") - 1, f"{number}. {name}") for number, name in zip(numbers, NAMES, strict=True)]


def test_items_of_a_list_in_the_type_of_bookmarked_headings_are_not_added_to_the_bookmarks(tmp_path: Path) -> None:
    titles = ["Motivation", "Approach", "Results", "Outlook"]
    pages: list[list[list[Words]]] = [[[(title, BOLD)]] for title in titles]
    pages[1] += [[(f"{at}. ", PLAIN), (f"{name}. ", BOLD), (TEXT, PLAIN)] for at, name in enumerate(NAMES, 1)]
    path = written(tmp_path / "x.pdf", pages)
    with driver.open(path) as document:
        document.set_toc([[1, title, page] for page, title in enumerate(titles, 1)])
        document.saveIncr()

    assert leveled(path) == [(0, title) for title in titles]
