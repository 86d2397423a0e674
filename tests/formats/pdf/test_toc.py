"""The structure of PDFs that have a printed table of contents and no bookmarks."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pymupdf
import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.pdf.document.links import LinkReader
from citekit.adapters.formats.pdf.outline.outliner import BY_HEADINGS, BY_TOC, PdfOutliner
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.adapters.formats.shared.roman_numbers import from_roman
from citekit.adapters.libraries.mupdf.engine import exclusive
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.locations import Pages
from citekit.domain.progress import silent
from citekit.domain.source import Source

Entry = tuple[float, str, int]
"""Indent in points, title, physical page."""

BOOK: list[Entry] = [
    (0, "Preface", 3),
    (0, "1 Rivers", 4),
    (15, "1.1 Springs", 4),
    (15, "1.2 Mouths", 5),
    (30, "1.2.1 Deltas", 5),
    (0, "2 Lakes", 6),
    (15, "2.1 Shores", 7),
]
NESTED = [
    ("Preface", 3, 3, []),
    ("1 Rivers", 4, 5, [("1.1 Springs", 4, 4, []), ("1.2 Mouths", 5, 5, [("1.2.1 Deltas", 5, 5, [])])]),
    ("2 Lakes", 6, 7, [("2.1 Shores", 7, 7, [])]),
]


def outline(path: Path) -> Outline:
    return PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent)


def tree(outline_items: Sequence[OutlineItem]) -> list[Any]:
    return [
        (outline_item.title, *ends(outline_item), tree(outline_item.children))
        for outline_item in outline_items
        if outline_item.type != "pages"
    ]


def ends(outline_item: OutlineItem) -> tuple[int, int]:
    assert isinstance(outline_item.location, Pages)
    return outline_item.location.numbers[0], outline_item.location.numbers[-1]


def plain(page: int) -> str:
    return str(page - 2)


def book(path: Path, entries: Sequence[Entry], *, linked: bool = False, number: Callable[[int], str] = plain) -> Path:
    """A title, contents on page 2, headings in the size of the text where `entries` say, four lines below each."""
    with pymupdf.open() as document:
        pages = max(page for _, _, page in entries)
        for _ in range(pages):
            document.new_page(width=400, height=600)
        document[0].insert_text((80, 200), "The Waters of the Land", fontsize=24)
        document[1].insert_text((40, 80), "Contents", fontsize=16)
        below = dict.fromkeys(range(1, pages + 1), 100.0)
        for row, (indent, title, page) in enumerate(entries):
            print_entry(document[1], 40 + indent, 110 + 16 * row, title, number(page), page if linked else None)
            document[page - 1].insert_text((40, below[page]), title, fontsize=10)
            for line in range(4):
                place = (40, below[page] + 30 + 13 * line)
                document[page - 1].insert_text(
                    place, f"Line {line} tells of what flows there and goes on.", fontsize=10
                )
            below[page] += 110
        document.save(path)
    return path


def print_entry(page: pymupdf.Page, x: float, y: float, title: str, number: str, target: int | None) -> None:
    page.insert_text((x, y), f"{title} " + ". " * (50 - len(title)), fontsize=10)
    page.insert_text((350, y), number, fontsize=10)
    if target is not None:
        place = pymupdf.Point(40, 80)
        page.insert_link(
            {"kind": pymupdf.LINK_GOTO, "from": pymupdf.Rect(x, y - 10, 370, y + 3), "page": target - 1, "to": place}
        )


def test_links_of_the_contents_lead_to_the_sections(tmp_path: Path) -> None:
    found = outline(book(tmp_path / "x.pdf", BOOK, linked=True, number=lambda page: "7"))

    assert tree(found.items) == NESTED
    assert found.notes[0] == BY_TOC


def test_where_a_link_of_the_contents_is_wrong_the_printed_number_tells_the_page(tmp_path: Path) -> None:
    path = tmp_path / "wrong.pdf"
    with pymupdf.open(book(tmp_path / "x.pdf", BOOK, linked=True)) as document:
        link = document[1].get_links()[5]
        document[1].update_link({**link, "page": 2, "to": pymupdf.Point(40, 80)})
        document.save(path)

    assert NESTED == tree(outline(path).items)


def test_printed_numbers_are_matched_to_the_pages_that_bear_the_titles(tmp_path: Path) -> None:
    found = outline(book(tmp_path / "x.pdf", BOOK))

    assert tree(found.items) == NESTED


def test_another_tool_finds_each_title_on_its_page(tmp_path: Path) -> None:
    path = book(tmp_path / "x.pdf", BOOK)

    found = [
        outline_item
        for root in outline(path).items
        for outline_item in (root, *root.children)
        if outline_item.type != "pages"
    ]

    shown = pypdfium2.PdfDocument(path)
    assert all(
        outline_item.title in shown[ends(outline_item)[0] - 1].get_textpage().get_text_range() for outline_item in found
    )


def test_page_labels_tell_the_pages_of_printed_numbers(tmp_path: Path) -> None:
    path = book(tmp_path / "plain.pdf", BOOK, number=lambda page: str(page + 97))
    with pymupdf.open(path) as document:
        document.set_page_labels([{"startpage": 0, "style": "D", "firstpagenum": 98}])
        document.save(tmp_path / "x.pdf")

    found = outline(tmp_path / "x.pdf")

    assert tree(found.items) == NESTED
    assert found.facts["page_labels"] == [{"first_page": 1, "style": "D", "start": 98}]


def test_a_title_over_two_lines_of_the_contents_is_one_entry(tmp_path: Path) -> None:
    """The second line has no indent: the number, or a small letter after it, tells that it continues."""
    path = tmp_path / "x.pdf"
    wrapped = ["1 Where the Rivers of the Land Begin", "3 Lakes,"]
    with pymupdf.open(
        book(tmp_path / "plain.pdf", [(0, "Preface", 3), (0, "2 Mouths", 6), (0, "4 Seas", 8)])
    ) as document:
        contents = document[1]
        contents.add_redact_annot(pymupdf.Rect(0, 90, 400, 600))
        contents.apply_redactions()
        rows = [("Preface", 3), (wrapped[0], None), ("Springs in the Hills", 4), ("2 Mouths", 6), (wrapped[1], None)]
        for row, (title, page) in enumerate([*rows, ("and what they hold", 7), ("4 Seas", 8)]):
            if page is None:
                contents.insert_text((40, 110 + 16 * row), title, fontsize=10)
            else:
                print_entry(contents, 40, 110 + 16 * row, title, plain(page), None)
        for page, title in ((4, f"{wrapped[0]} Springs in the Hills"), (7, f"{wrapped[1]} and what they hold")):
            document[page - 1].insert_text((40, 100), title, fontsize=10)
            document[page - 1].insert_text((40, 130), "What flows there goes on and on.", fontsize=10)
        document.save(path)

    assert [title for title, *_ in tree(outline(path).items)] == [
        "Preface",
        "1 Where the Rivers of the Land Begin Springs in the Hills",
        "2 Mouths",
        "3 Lakes, and what they hold",
        "4 Seas",
    ]


def test_page_labels_that_the_titles_contradict_are_not_followed(tmp_path: Path) -> None:
    """The last title is not printed as the contents have it, so that only the other titles tell its page."""
    path = book(tmp_path / "plain.pdf", [*BOOK[:-1], (15, "2.1 Shores of the Land", 7), (0, "3 Seas", 8)])
    with pymupdf.open(path) as document:
        rules = [{"startpage": 0, "style": "r", "firstpagenum": 1}, {"startpage": 3, "style": "D", "firstpagenum": 1}]
        document.set_page_labels(rules)
        document[6].add_redact_annot(pymupdf.Rect(0, 80, 400, 105))
        document[6].apply_redactions()
        document.save(tmp_path / "x.pdf")

    *_, lakes, _ = tree(outline(tmp_path / "x.pdf").items)

    assert lakes[3] == [("2.1 Shores of the Land", 7, 7, [])]


def test_a_title_is_found_without_the_roman_number_of_the_contents(tmp_path: Path) -> None:
    entries: list[Entry] = [(0, "I. Rivers", 3), (0, "II. Lakes", 5), (0, "III. Seas", 6), (0, "IV. Rain", 8)]
    with pymupdf.open(book(tmp_path / "plain.pdf", entries)) as document:
        for _, title, page in entries:
            document[page - 1].add_redact_annot(pymupdf.Rect(0, 80, 400, 105))
            document[page - 1].apply_redactions()
            document[page - 1].insert_text((40, 100), title.split()[1], fontsize=10)
        document.save(tmp_path / "x.pdf")

    found = outline(tmp_path / "x.pdf")

    assert found.notes[0] == BY_TOC
    assert [(title, first) for title, first, *_ in tree(found.items)] == [(title, page) for _, title, page in entries]


def test_entries_without_numbers_are_nested_by_their_indent(tmp_path: Path) -> None:
    entries = [(0, "Rivers", 3), (12, "Springs", 3), (12, "Mouths", 4), (24, "Deltas", 4), (0, "Lakes", 5)]

    found = outline(book(tmp_path / "x.pdf", entries))

    assert tree(found.items) == [
        ("Rivers", 3, 4, [("Springs", 3, 3, []), ("Mouths", 4, 4, [("Deltas", 4, 4, [])])]),
        ("Lakes", 5, 5, []),
    ]


def test_parts_with_roman_numbers_hold_their_chapters(tmp_path: Path) -> None:
    entries = [
        (0, "I Running water", 3),
        (0, "1 Rivers", 3),
        (0, "2 Brooks", 4),
        (0, "II Still water", 5),
        (0, "3 Lakes", 5),
    ]

    found = outline(book(tmp_path / "x.pdf", entries, linked=True))

    assert [(title, [child[0] for child in children]) for title, _, _, children in tree(found.items)] == [
        ("I Running water", ["1 Rivers", "2 Brooks"]),
        ("II Still water", ["3 Lakes"]),
    ]


def test_a_list_of_figures_is_no_table_of_contents(tmp_path: Path) -> None:
    with pymupdf.open(book(tmp_path / "plain.pdf", BOOK)) as document:
        page = document.new_page(pno=2, width=400, height=600)
        page.insert_text((40, 80), "List of Figures", fontsize=16)
        for row, name in enumerate(("1.1 A spring", "1.2 A mouth", "2.1 A shore", "2.2 A storm")):
            print_entry(page, 40, 110 + 16 * row, name, str(row + 2), None)
        document.save(tmp_path / "x.pdf")

    found = outline(tmp_path / "x.pdf")

    assert [outline_item.title for outline_item in found.items if outline_item.type != "pages"] == [
        "Preface",
        "1 Rivers",
        "2 Lakes",
    ]


def test_a_table_of_numbers_is_no_table_of_contents(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for number in range(1, 5):
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 60), f"{number} Findings of group {number}", fontsize=16)
            for row, name in enumerate(("thin", "light", "normal", "medium", "bold", "black")):
                page.insert_text((60, 100 + 14 * row), name, fontsize=10)
                page.insert_text((200, 100 + 14 * row), str(row * 40), fontsize=10)
            for line in range(12):
                page.insert_text((40, 220 + 14 * line), f"Line {line} weighs what the table says of it.", fontsize=10)
        document.save(tmp_path / "x.pdf")

    found = outline(tmp_path / "x.pdf")

    assert found.notes[0] == BY_HEADINGS
    assert [title for title, *_ in tree(found.items)] == [f"{n} Findings of group {n}" for n in range(1, 5)]


def test_contents_that_stand_far_in_are_found_by_their_leaders(tmp_path: Path) -> None:
    path = tmp_path / "book.pdf"
    with pymupdf.open(book(tmp_path / "short.pdf", BOOK)) as document:
        for _ in range(45):
            document.new_page(pno=1, width=400, height=600)
        document.save(path)

    found = outline(path)

    assert BY_TOC in found.notes
    assert shifted(NESTED, 45) == tree(found.items)


def shifted(nested: Sequence[Any], pages: int) -> list[Any]:
    return [(title, first + pages, last + pages, shifted(below, pages)) for title, first, last, below in nested]


@pytest.mark.parametrize(("number", "deeper"), [("", True), ("1.", False)])
def test_headings_below_contents_are_added_where_no_numbers_tell_that_they_are_whole(
    number: str, deeper: bool, tmp_path: Path
) -> None:
    names = ["Springs", "Brooks", "Rivers", "Mouths"]
    titles = [f"{number}{place} {name}" if number else name for place, name in enumerate(names, 1)]
    with pymupdf.open() as document:
        for _ in range(5):
            document.new_page(width=400, height=600)
        document[0].insert_text((40, 60), "Contents", fontsize=16)
        for row, title in enumerate(titles):
            print_entry(document[0], 40, 110 + 16 * row, title, str(row + 2), row + 2)
            page = document[row + 1]
            page.insert_text((40, 80), title, fontsize=18)
            page.insert_text((40, 300), f"How {names[row].lower()} are made", fontsize=13)
            for line in (*range(100, 280, 13), *range(320, 500, 13)):
                page.insert_text((40, line), "A line tells of what flows there and goes on", fontsize=10)
        document.save(tmp_path / "x.pdf")

    found = [outline_item for outline_item in outline(tmp_path / "x.pdf").items if outline_item.type != "pages"]

    below = [[f"How {name.lower()} are made"] if deeper else [] for name in names]
    assert list(zip(titles, below, strict=True)) == [
        (outline_item.title, [child.title for child in outline_item.children]) for outline_item in found
    ]


def test_a_list_of_figures_after_the_contents_is_told_from_them_in_any_language(tmp_path: Path) -> None:
    path = tmp_path / "figures.pdf"
    with pymupdf.open(book(tmp_path / "x.pdf", BOOK)) as document:
        document[1].insert_text((40, 300), "Wykaz rysunków", fontsize=14)
        for row in range(6):
            print_entry(document[1], 40, 330 + 16 * row, f"A drawing of water {row}", str(1 + row // 2), None)
        document.save(path)

    assert NESTED == tree(outline(path).items)


def test_leaders_below_a_long_title_belong_to_it(tmp_path: Path) -> None:
    titles = ["1 Springs", "2 Brooks and whatever lives in them", "3 Rivers", "4 Mouths"]
    with pymupdf.open() as document:
        for _ in range(5):
            document.new_page(width=400, height=600)
        document[0].insert_text((40, 60), "Contents", fontsize=16)
        for row, title in enumerate(titles):
            y = 110 + 30 * row
            document[row + 1].insert_text((40, 80), title, fontsize=18)
            if row == 1:
                document[0].insert_text((40, y), title, fontsize=10)
                document[0].insert_text((40, y + 12), ". " * 40 + str(row + 2), fontsize=10)
            else:
                print_entry(document[0], 40, y, title, str(row + 2), None)
        document.save(tmp_path / "x.pdf")

    found = outline(tmp_path / "x.pdf")

    assert BY_TOC == found.notes[0]
    assert titles == [title for title, *_ in tree(found.items)]


def test_where_the_contents_are_sparse_headings_below_their_entries_are_added(tmp_path: Path) -> None:
    with pymupdf.open(
        book(tmp_path / "plain.pdf", [(0, "1 Rivers", 3), (0, "2 Lakes", 14), (0, "3 Seas", 25)])
    ) as document:
        for number in (5, 8, 16, 20):
            page = document[number - 1]
            page.insert_text((40, 80), f"View from place {number}", fontname="hebo", fontsize=10)
            for line in range(6):
                page.insert_text((40, 110 + 13 * line), f"Line {line} tells what is seen from there.", fontsize=10)
        document.save(tmp_path / "x.pdf")

    found = outline(tmp_path / "x.pdf")

    assert [(title, [child[0] for child in children]) for title, _, _, children in tree(found.items)] == [
        ("1 Rivers", ["View from place 5", "View from place 8"]),
        ("2 Lakes", ["View from place 16", "View from place 20"]),
        ("3 Seas", []),
    ]


@pytest.mark.parametrize(
    ("destination", "height"), [("/XYZ 0 700 0", 142), ("/FitH 700", 142), ("/Fit", math.nan), ("/XYZ", math.nan)]
)
def test_a_link_to_a_whole_page_has_no_height(destination: str, height: float) -> None:
    document: Any = pymupdf.open()
    here, there = document.new_page().xref, document.new_page().xref
    link = document.get_new_xref()
    document.update_object(
        link, f"<</Type /Annot /Subtype /Link /Rect [10 10 50 50] /Dest [{there} 0 R {destination}]>>"
    )
    document.xref_set_key(here, "Annots", f"[{link} 0 R]")

    with exclusive():
        ((_, (page, found)),) = LinkReader(document).links_of(document[0], 10)

    assert (1, True) == (page, found == height or (math.isnan(found) and math.isnan(height)))


@given(number=st.integers(1, 3999))
def test_roman_numbers_are_read(number: int) -> None:
    signs = ["m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"]
    values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
    rest, text = number, ""
    for sign, value in zip(signs, values, strict=True):
        text += sign * (rest // value)
        rest %= value

    assert from_roman(text) == number


@pytest.mark.parametrize("text", ["", "a", "12", "mixed"])
def test_other_words_are_no_roman_numbers(text: str) -> None:
    assert from_roman(text) == 0


def contents(path: Path, entries: Sequence[tuple[str, str, str]], *, heading: str = "Contents") -> Path:
    """Contents with the rows `listed` on page 1, and each title on a page of its own, with smaller headings."""
    with pymupdf.open() as document:
        front = document.new_page(width=500, height=600)
        front.insert_text((40, 80), heading, fontname="hebo", fontsize=16)
        for row, (listed, _, _) in enumerate(entries):
            front.insert_text((40, 120 + 18 * row), listed, fontname="hebo", fontsize=11)
        for _, title, inner in entries:
            page = document.new_page(width=500, height=600)
            for words, y, size in ((title, 100, 16), (inner, 250, 13)):
                if words:
                    page.insert_text((40, y), words, fontname="hebo", fontsize=size)
                for line in range(6):
                    page.insert_text((40, y + 30 + 13 * line), "Here it tells of what flows there.", fontsize=10)
        document.save(path)
    return path


def test_hyphens_fill_the_lines_of_contents_and_the_page_has_the_letter_case(tmp_path: Path) -> None:
    names = ["Rivers", "Lakes", "Ponds", "Wells"]
    entries = [(f"{n} {name.upper()} {'-' * 30} {n + 1}", f"{n} {name}", "") for n, name in enumerate(names, 1)]
    found = outline(contents(tmp_path / "a.pdf", entries))
    assert BY_TOC in found.notes
    assert [title for title, *_ in tree(found.items)] == [f"{n} {name}" for n, name in enumerate(names, 1)]


def test_contents_without_leaders_and_gaps_are_no_sections(tmp_path: Path) -> None:
    names = ["RIVERS", "LAKES", "PONDS", "WELLS", "BROOKS", "SEAS"]
    entries = [
        (f"{name} IN SPAIN {n}", f"{name} IN SPAIN", f"What {name.lower()} are") for n, name in enumerate(names, 2)
    ]
    found = outline(contents(tmp_path / "a.pdf", entries, heading="CONTENTS"))
    assert tree(found.items) == [
        (f"{name} IN SPAIN", n, n, [(f"What {name.lower()} are", n, n, [])]) for n, name in enumerate(names, 2)
    ]


LECTURES: list[Entry] = [
    (0, "Preface", 3),
    (0, "Chapter 1. Rivers", 4),
    (0, "1. Springs", 4),
    (0, "2. Mouths", 5),
    (0, "Chapter 2. Lakes", 6),
    (0, "1. Shores", 7),
]


def test_chapters_hold_the_sections_that_are_counted_in_them(tmp_path: Path) -> None:
    found = outline(book(tmp_path / "a.pdf", LECTURES))

    assert tree(found.items) == [
        ("Preface", 3, 3, []),
        ("Chapter 1. Rivers", 4, 5, [("1. Springs", 4, 4, []), ("2. Mouths", 5, 5, [])]),
        ("Chapter 2. Lakes", 6, 7, [("1. Shores", 7, 7, [])]),
    ]


def test_contents_of_the_top_level_keep_an_entry_that_looks_like_text(tmp_path: Path) -> None:
    names = ["Rivers", "Lakes", "Ponds", "Wells", "Brooks", "Seas"]
    path = contents(
        tmp_path / "a.pdf",
        [(f"{name} of Spain {n}", f"{name} of Spain", f"On {name}") for n, name in enumerate(names, 2)],
    )
    with pymupdf.open(path) as document:
        front, last = document[0], document[-1]
        front.insert_text((40, 120 + 18 * len(names)), f"Creeks of Spain {len(document)}", fontname="hebo", fontsize=11)
        last.insert_text((40, 500), "Creeks of Spain", fontsize=10)
        for _ in range(10):
            page = document.new_page(width=500, height=600)
            for line in range(20):
                page.insert_text((40, 80 + 13 * line), "Here it tells of what flows there.", fontsize=10)
        document.save(tmp_path / "b.pdf")

    assert [title for title, *_ in tree(outline(tmp_path / "b.pdf").items)] == [
        f"{name} of Spain" for name in (*names, "Creeks")
    ]


def titled_pages(path: Path, titles: dict[int, str], count: int, contents: dict[int, list[tuple[str, int]]]) -> Path:
    """Pages with a running header, the bold `titles` in the size of the text, and prose or the rows of `contents`."""
    with pymupdf.open() as document:
        for number in range(1, count + 1):
            page = document.new_page(width=500, height=600)
            page.insert_text((40, 30), "Table of Contents", fontsize=10)
            if number in titles:
                page.insert_text((40, 80), titles[number], fontname="hebo", fontsize=10)
            for row, (title, target) in enumerate(contents.get(number, [])):
                page.insert_text((40, 130 + 16 * row), title, fontsize=10)
                page.insert_text((400, 130 + 16 * row), str(target), fontsize=10)
            for row in range(0 if number in contents else 20):
                page.insert_text((40, 130 + 14 * row), f"Row {row} of the text is as plain as any other.", fontsize=10)
        document.save(path)
    return path


def test_a_heading_above_contents_below_a_running_header_is_found(tmp_path: Path) -> None:
    titles = {page: f"What flows in {page}" for page in range(1, 30)} | {5: "An index of the statements of waters"}
    listed = [(titles[page], page) for page in range(6, 12)]

    found = outline(titled_pages(tmp_path / "a.pdf", titles, 29, {5: listed})).items

    assert [each.title for each in found] == [titles[page] for page in range(1, 30)]


def test_a_short_bold_entry_before_long_leaders_has_the_level_of_the_others(tmp_path: Path) -> None:
    titles = [
        "The rivers and the brooks of Spain",
        "Dew",
        "The lakes and the ponds of Spain",
        "The wells and seas of Spain",
    ]
    with pymupdf.open() as document:
        front = document.new_page(width=500, height=600)
        front.insert_text((40, 80), "Contents", fontname="hebo", fontsize=16)
        for row, title in enumerate(titles):
            front.insert_text((40, 120 + 18 * row), title, fontname="hebo", fontsize=11)
            after = 40 + pymupdf.get_text_length(title, "hebo", 11)
            leaders = " ." * round((300 - after) / 6)
            front.insert_text((after, 120 + 18 * row), f"{leaders} {row + 2}", fontsize=11)
        for title in titles:
            page = document.new_page(width=500, height=600)
            page.insert_text((40, 80), title, fontname="hebo", fontsize=16)
            for line in range(20):
                page.insert_text((40, 110 + 13 * line), "Here it tells of what flows there.", fontsize=10)
        document.save(tmp_path / "a.pdf")

    assert tree(outline(tmp_path / "a.pdf").items) == [(title, n, n, []) for n, title in enumerate(titles, 2)]
