"""Headings that a series of numbers or letters shows: `Item 1A`, `IV. Results`, `B. Method`, `a) Scope`."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.heading_numbers import series_of, starts_series
from citekit.adapters.formats.pdf.outline.outliner import BY_BOOKMARKS_AND_HEADINGS, PdfOutliner
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

BOLD, ITALIC, REGULAR = "hebo", "heit", "helv"

Piece = tuple[float, str, str, float]
"""Distance from the left in points, text, font, and size."""


def outline(path: Path) -> Outline:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return PdfOutliner().outline(source, silent)


def flat(items: Sequence[OutlineItem], level: int = 1) -> list[tuple[int, str]]:
    return [
        pair
        for item in items
        for pair in ((level, item.title), *flat(item.children, level + 1))
        if item.type != "pages"
    ]


def titles(path: Path) -> list[str]:
    return [title for _, title in flat(outline(path).items)]


def document(
    path: Path, pages: Sequence[Sequence[Sequence[Piece]]], *, toc: Sequence[tuple[int, str, int]] = (), table: int = 0
) -> Path:
    """A PDF with rows of pieces on each page, four lines of prose below each, and `table` rows of bold cells."""
    with pymupdf.open() as made:
        for number, rows in enumerate(pages, 1):
            page = made.new_page(width=400, height=700)
            y = 110.0
            for row in rows:
                for x, text, font, size in row:
                    page.insert_text((x, y), text, fontname=font, fontsize=size)
                for line in range(4):
                    page.insert_text(
                        (40, y + 26 + 13 * line),
                        f"Line {line} of page {number} is as plain as any other line is.",
                        fontsize=10,
                    )
                y += 90
            for cell in range(table):
                for x, word in ((40.0, "Year"), (140.0, "Sales"), (240.0, "Costs")):
                    page.insert_text((x, 400 + 16 * cell), f"{word} {cell}", fontname=BOLD, fontsize=10)
        made.set_toc([list(entry) for entry in toc])
        made.save(path)
    return path


def test_a_label_joins_the_title_in_its_row_though_tables_use_its_font(tmp_path: Path) -> None:
    names = ["Business", "Properties", "Legal Proceedings", "Market Risk"]
    rows = [[[(40, f"ITEM {n}A.", BOLD, 10), (100, name, BOLD, 10)]] for n, name in enumerate(names, 1)]
    path = document(tmp_path / "filing.pdf", [*rows, [], []], table=3)
    assert [title for title in titles(path) if title.startswith("ITEM")] == [
        f"ITEM {n}A. {name}" for n, name in enumerate(names, 1)
    ]


def test_a_part_does_not_swallow_the_numbered_heading_below_it(tmp_path: Path) -> None:
    with pymupdf.open() as made:
        for number in range(1, 5):
            page = made.new_page(width=400, height=600)
            page.insert_text((40, 90), f"PART {'I' * min(number, 3)}", fontname=BOLD, fontsize=10)
            page.insert_text((40, 104), f"Item {number}. What is told on page {number}", fontname=BOLD, fontsize=10)
            for line in range(12):
                page.insert_text((40, 140 + 13 * line), "A line of text that is as plain as any other.", fontsize=10)
        made.save(tmp_path / "parts.pdf")
    found = titles(tmp_path / "parts.pdf")
    assert [title for title in found if title.startswith("Item")] == [
        f"Item {number}. What is told on page {number}" for number in range(1, 5)
    ]


def test_small_capitals_with_roman_numbers_are_headings_and_letters_are_below_them(tmp_path: Path) -> None:
    pages: list[list[list[Piece]]] = []
    for roman, name in (("I", "NTRODUCTION"), ("II", "ETHODS"), ("III", "ESULTS")):
        first = {"NTRODUCTION": "I", "ETHODS": "M", "ESULTS": "R"}[name]
        start = 120.0
        width = pymupdf.get_text_length(f"{roman}. {first}", "helv", 10)
        pages.append(
            [
                [(start, f"{roman}. {first}", REGULAR, 10), (start + width, name, REGULAR, 8)],
                [(40, "A. What was done", ITALIC, 10)],
                [(40, "B. What was seen", ITALIC, 10)],
            ]
        )
    path = document(tmp_path / "paper.pdf", pages)
    with pymupdf.open(path) as made:  # the stamp that repositories print along the first page
        made[0].insert_text((20, 500), "arXiv:1234.5678v1 [cs.XX] 1 Jan 2026", rotate=90, fontsize=16)
        made.saveIncr()
    below = [(2, "A. What was done"), (2, "B. What was seen")]
    assert flat(outline(path).items) == [
        (1, "I. INTRODUCTION"), *below, (1, "II. METHODS"), *below, (1, "III. RESULTS"), *below,
    ]  # fmt: skip


def test_capitals_that_are_no_letters_do_not_cost_a_page_its_lines(tmp_path: Path) -> None:
    """The Roman numeral U+2163 is a capital, but no letter."""
    path = tmp_path / "numeral.pdf"
    with pymupdf.open() as made:
        page = made.new_page(width=400, height=600)
        page.insert_text((40, 90), "\u2163", fontname="japan", fontsize=14)
        page.insert_text((54, 90), " 4", fontname=BOLD, fontsize=10)
        page.insert_text((40, 130), "The text of this page stays readable in every case.", fontsize=10)
        made.save(path)
    assert outline(path).items[0].summary == "The text of this page stays readable in every case."


def test_numbers_that_the_file_draws_after_all_titles_join_them(tmp_path: Path) -> None:
    with pymupdf.open() as made:
        for first in (1, 3):
            page = made.new_page(width=400, height=600)
            for at in (0, 1):
                page.insert_text((60, 90 + 200 * at), f"The matter of year {first + at}", fontname=BOLD, fontsize=10)
                for line in range(10):
                    page.insert_text(
                        (40, 115 + 200 * at + 13 * line), "Some text that is plain, as is the rest.", fontsize=10
                    )
            for at in (0, 1):
                page.insert_text((40, 90 + 200 * at), f"{first + at}.", fontname=BOLD, fontsize=10)
        made.save(tmp_path / "late.pdf")
    assert titles(tmp_path / "late.pdf") == [f"{n}. The matter of year {n}" for n in range(1, 5)]


def test_two_labels_before_one_title_lose_no_text(tmp_path: Path) -> None:
    rows: list[list[list[Piece]]] = [
        [[(64, f"The matter of year {n}", BOLD, 10), (52, "A.", BOLD, 10), (40, f"{n}.", BOLD, 10)]]
        for n in range(1, 5)
    ]
    found = titles(document(tmp_path / "labels.pdf", rows))
    assert len(found) == 4
    assert all(f"The matter of year {n}" in title for n, title in enumerate(found, 1))


def test_kinds_of_numbers_in_one_style_are_levels(tmp_path: Path) -> None:
    def row(text: str) -> list[Piece]:
        return [(40, text, BOLD, 10)]

    pages = [
        [row("I. Origins"), row("A. First causes"), row("1. Of fire"), row("2. Of water")],
        [row("B. Second causes"), row("1. Of earth"), row("2. Of air")],
        [row("II. Outcomes"), row("A. Near ones"), row("B. Far ones")],
        [row("III. Closing words")],
    ]
    path = document(tmp_path / "law.pdf", pages)
    assert flat(outline(path).items) == [
        (1, "I. Origins"), (2, "A. First causes"), (3, "1. Of fire"), (3, "2. Of water"),
        (2, "B. Second causes"), (3, "1. Of earth"), (3, "2. Of air"),
        (1, "II. Outcomes"), (2, "A. Near ones"), (2, "B. Far ones"), (1, "III. Closing words"),
    ]  # fmt: skip


def test_appendixes_after_the_last_chapter_are_not_below_it(tmp_path: Path) -> None:
    names = ["1. Starting", "2. Going on", "3. Ending", "A. Proofs", "B. Tables", "C. Sources"]
    path = document(tmp_path / "book.pdf", [[[(40, name, BOLD, 10)]] for name in names])
    assert flat(outline(path).items) == [(1, name) for name in names]


MATTERS = [f"Matter of page {number}" for number in range(1, 17)]


def sparse(path: Path, *more: tuple[int, str, int]) -> Path:
    """A document of two chapters with bookmarks, the bookmarks `more`, and a heading without one on each page."""
    pages: list[list[list[Piece]]] = []
    for number, matter in enumerate(MATTERS, 1):
        chapter: list[list[Piece]] = [[(40, f"Chapter {number // 6 + 1} of all", BOLD, 18)]] if number in (1, 6) else []
        pages.append([*chapter, [(40, matter, BOLD, 12)]])
    return document(path, pages, toc=[(1, "Chapter 1 of all", 1), (1, "Chapter 2 of all", 6), *more])


def test_sparse_bookmarks_are_completed_with_the_headings_below_them(tmp_path: Path) -> None:
    found = outline(sparse(tmp_path / "sparse.pdf"))
    assert found.notes[0] == BY_BOOKMARKS_AND_HEADINGS
    assert flat(found.items) == [
        (1, "Chapter 1 of all"), *((2, each) for each in MATTERS[:5]),
        (1, "Chapter 2 of all"), *((2, each) for each in MATTERS[5:]),
    ]  # fmt: skip


def test_a_bookmark_in_the_style_of_other_headings_does_not_drop_them(tmp_path: Path) -> None:
    found = flat(outline(sparse(tmp_path / "sparse.pdf", (1, MATTERS[11], 12))).items)
    assert [title for _, title in found if title in MATTERS] == MATTERS
    assert (1, MATTERS[11]) in found


@pytest.mark.long
def test_a_bookmark_out_of_order_does_not_drop_the_headings(tmp_path: Path) -> None:
    path = tmp_path / "sparse.pdf"
    found = flat(outline(sparse(path, (1, "publication_1", 3))).items)
    assert [title for _, title in found if title in MATTERS] == []  # a third of three is too much
    many = document(
        path,
        [[[(40, f"Part {n}", BOLD, 18)], [(40, f"Matter {n}", BOLD, 12)]] for n in range(1, 31)],
        toc=[*((1, f"Part {n}", n) for n in range(1, 7)), (1, "publication_1", 3)],
    )
    found = flat(outline(many).items)
    assert [title for _, title in found if title.startswith("Matter")] == [f"Matter {n}" for n in range(1, 31)]
    assert found[-1] == (1, "publication_1")


@pytest.mark.parametrize(
    ("text", "series"),
    [
        ("Item 7A. Market Risk", ("item", "7A")),
        ("ITEM 1—Business", ("item", "1")),
        ("Note 3", ("note", "3")),
        ("Article IV Taxes", ("article", "IV")),
        ("IV. Results", ("I", "IV")),
        ("B. Method", ("A", "B")),
        ("a) Scope", ("a", "a")),
        ("(a) Scope", ("a", "a")),
        ("ARTICLE 9-1 :", ("article", "9-1")),
        ("Article premier - Nom", ("article", "PREMIER")),
        ("Artículo primero. Objeto", ("artículo", "PRIMERO")),
        ("IV – DISSOLUTION", ("I", "IV")),
        ("Article 9 of the plan", None),
        ("I –and more", None),
        ("item 7 of this report", None),
        ("Item 8 of this report", None),
        ("Section 4.2 Scope", None),
        ("Results", None),
    ],
)
def test_the_start_of_a_series(text: str, series: tuple[str, str] | None) -> None:
    assert series_of(text) == series


def test_a_series_of_letters_starts_with_the_first(tmp_path: Path) -> None:
    assert starts_series("A", {"A", "B"})
    assert not starts_series("A", {"J", "K", "M"})  # initials of authors
    assert starts_series("item", {"1", "1A", "2"})
    assert not starts_series("item", {"1", "2"})
