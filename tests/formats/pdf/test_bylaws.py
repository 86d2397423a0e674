"""Headings of bylaws, contracts, and regulations: articles without titles, justified capitals, annexes, and bookmarks."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf

from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_numbers import is_appendix
from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.pdf.outline.section_numbers import nested_by_numbers
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

BOLD, REGULAR = "hebo", "helv"

Row = Sequence[tuple[float, str, str]]
"""Distance from the left in points, text, and font of the pieces of a line of 10 points."""


def flat(items: Sequence[OutlineItem], level: int = 1) -> list[tuple[int, str]]:
    return [
        pair
        for item in items
        for pair in ((level, item.title), *flat(item.children, level + 1))
        if item.type != "pages"
    ]


def outline_of(path: Path) -> list[tuple[int, str]]:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return flat(PdfOutliner().outline(source, silent).items)


def document(path: Path, pages: Sequence[Sequence[Sequence[Row]]], lines: int = 4) -> Path:
    """Pages with headings of one or several rows, and a paragraph of `lines` lines below each heading."""
    with pymupdf.open() as made:
        for number, headings in enumerate(pages, 1):
            page = made.new_page(width=400, height=700)
            y = 110.0 + 17 * (number % 5)  # not at one height, as running headers are
            for rows in headings:
                for row in rows:
                    for x, text, font in row:
                        page.insert_text((x, y), text, fontname=font, fontsize=10)
                    y += 13
                for line in range(lines):
                    y += 13
                    page.insert_text((40, y), f"Line {line} of page {number} is as plain as any other.", fontsize=10)
                y += 30
        made.save(path)
    return path


def alone(text: str, font: str = BOLD, x: float = 40) -> Sequence[Row]:
    return [[(x, text, font)]]


def test_labels_of_articles_without_titles_are_headings_below_titles_with_roman_numerals(tmp_path: Path) -> None:
    pages = [
        [alone("I - PURPOSE AND MEMBERS", REGULAR), alone("ARTICLE PREMIER : name and seat"), alone("ARTICLE 2 :")],
        [alone("II - ADMINISTRATION", REGULAR), alone("ARTICLE 3 :"), alone("ARTICLE 4-1 :")],
        [alone("III - RESOURCES", REGULAR), alone("ARTICLE 5 : RESOURCES", REGULAR), alone("ARTICLE 6 :")],
    ]

    assert outline_of(document(tmp_path / "statutes.pdf", pages)) == [
        (1, "I - PURPOSE AND MEMBERS"),
        (2, "ARTICLE PREMIER : name and seat"),
        (2, "ARTICLE 2 :"),
        (1, "II - ADMINISTRATION"),
        (2, "ARTICLE 3 :"),
        (2, "ARTICLE 4-1 :"),
        (1, "III - RESOURCES"),
        (2, "ARTICLE 5 : RESOURCES"),
        (2, "ARTICLE 6 :"),
    ]


def justified(*words: str, left: float = 40, right: float = 240) -> Row:
    """The words of a line with equal spaces between them, each of which is a piece of its own."""
    widths = [pymupdf.get_text_length(word, BOLD, 10) for word in words]
    space = (right - left - sum(widths)) / (len(words) - 1)
    return [(left + sum(widths[:at]) + at * space, word, BOLD) for at, word in enumerate(words)]


def test_justified_capitals_with_wide_spaces_are_one_heading(tmp_path: Path) -> None:
    pages = [
        [
            [justified(f"ISSUES OF {name},", "RESULTS,", "AND"), [(40, "TRANSFER OF SHARES", BOLD)]],
            alone(f"MEETINGS OF THE {name}"),
        ]
        for name in ("CLASSES", "HOLDERS", "MANAGERS")
    ]

    found = outline_of(document(tmp_path / "shares.pdf", pages, lines=12))

    assert (1, "ISSUES OF CLASSES, RESULTS, AND TRANSFER OF SHARES") in found


def test_cells_at_unequal_distances_are_no_heading(tmp_path: Path) -> None:
    cells = [[(40, "YEAR", BOLD), (90, "SALES", BOLD), (142, "COSTS IN ALL", BOLD), (240, "REST", BOLD)]]
    pages = [[alone("MEETINGS OF THE HOLDERS"), cells] for _ in range(3)]

    assert all("SALES" not in title for _, title in outline_of(document(tmp_path / "t.pdf", pages, lines=12)))


def test_sections_of_an_annex_are_below_it_if_their_numbers_begin_again(tmp_path: Path) -> None:
    names = ("SCOPE", "MEMBERS", "FEES", "ORGANS", "MEETINGS", "ACCOUNTS", "RISKS", "NOTICES", "DISPUTES")
    own = [[alone(f"{at}. {name}")] for at, name in enumerate(names, 1)]
    pages = [*own, [alone("ANEXO I")], *own]

    assert outline_of(document(tmp_path / "annex.pdf", pages, lines=5)) == [
        *((1, f"{at}. {name}") for at, name in enumerate(names, 1)),
        (1, "ANEXO I"),
        *((2, f"{at}. {name}") for at, name in enumerate(names, 1)),
    ]


def test_numbers_that_begin_again_are_headings_though_they_crowd_a_page(tmp_path: Path) -> None:
    names = ("SCOPE", "MEMBERS", "FEES", "ORGANS", "MEETINGS", "ACCOUNTS", "RISKS", "NOTICES")
    own = [[alone(f"{at}. {name}"), alone(f"{at + 1}. {names[at]}")] for at, name in enumerate(names, 1) if at % 2]
    crowd = [[(40, f"A WARNING IN BOLD CAPITALS, LINE {line}", BOLD)] for line in range(9)]
    pages = [*own, [alone("ANEXO I", x=170)], *([*page, crowd] for page in own)]

    found = [title for _, title in outline_of(document(tmp_path / "crowd.pdf", pages, lines=5))]

    assert [title for title in found if title[0].isdigit()] == [f"{at}. {name}" for at, name in enumerate(names, 1)] * 2


def test_only_numbered_appendixes_hold_sections() -> None:
    assert is_appendix("Annex II Forms")
    assert not is_appendix("Annexes")
    assert not is_appendix("Chapter 2")


def test_bookmarks_are_below_the_bookmarks_that_their_numbers_name() -> None:
    sections = [
        Section(level, title, 1)
        for level, title in (
            (1, "Bylaw 4"),
            (2, "4.1 Duties"),
            (2, "4.1.1 President"),
            (3, "Oath"),
            (2, "4.1.1.1 Deputy"),
            (2, "4.2 Elections"),
            (2, "Forms"),
            (2, "4.2.1 Ballots"),
            (1, "5.1 Others"),
        )
    ]

    assert [section.level for section in nested_by_numbers(sections)] == [1, 2, 3, 4, 4, 2, 2, 2, 1]
