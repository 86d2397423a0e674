"""Headings of by-laws and other rules: bold capitals, articles with a title below, and sections that bookmarks count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

driver: Any = pymupdf

Line = tuple[str, str, float]
"""Words, font, and size."""

TEXT = "Every warrant is served by posting copies of it in the post offices of the town,"


def written(path: Path, pages: Sequence[Sequence[Line]], marks: Sequence[Sequence[object]] = ()) -> Path:
    """Pages with centered lines and a paragraph below each, and bookmarks."""
    with driver.open() as document:
        for lines in pages:
            page, y = document.new_page(), 60.0
            for text, font, size in lines:
                width = driver.get_text_length(text, font, size)
                page.insert_text((300 - width / 2, y), text, fontname=font, fontsize=size)
                for row in range(4):
                    page.insert_text((72, y + 30 + 12 * row), TEXT, fontname="tiro", fontsize=10)
                y += 100
        document.set_toc([list(mark) for mark in marks])
        document.save(path)
    return path


def told(path: Path) -> list[tuple[int, str]]:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return list(_flat(PdfOutliner().outline(source, silent).items, 1))


def _flat(items: Sequence[OutlineItem], level: int) -> list[tuple[int, str]]:
    return [each for item in items for each in ((level, item.title), *_flat(item.children, level + 1))]


OFFICES = ["TOWN CLERK", "TREASURER", "ASSESSORS", "AUDITORS", "SCHOOL COMMITTEE", "BOARD OF HEALTH"]


def test_a_bookmark_far_from_the_first_heading_does_not_hide_those_before_it(tmp_path: Path) -> None:
    pages = [[(office, "tibo", 10.0)] for office in OFFICES]
    pages[-1].append(("Section 3: Right to farm", "tiro", 10.0))
    pages += [[("Nothing", "tiro", 10.0)]] * 3
    path = written(tmp_path / "x.pdf", pages, [[1, "Section 3: Right to farm", 6]])

    assert told(path) == [*((1, office) for office in OFFICES), (2, "Section 3: Right to farm")]


def test_an_article_begins_a_heading_of_its_own(tmp_path: Path) -> None:
    pages = [[(office, "tibo", 10.0)] for office in OFFICES]
    text = [("BY-LAWS OF THE TOWN", "tibo", 10.0)]
    path = written(tmp_path / "x.pdf", [text, *pages])
    with driver.open(path) as document:
        page = document[0]
        for row, words in enumerate(("ARTICLE II", "FINANCES AND TAXES")):
            page.insert_text((250, 76 + 16 * row), words, fontname="tibo", fontsize=10)
        document.saveIncr()

    assert told(path)[:3] == [(1, "BY-LAWS OF THE TOWN"), (1, "ARTICLE II FINANCES AND TAXES"), (1, "TOWN CLERK")]


def test_italic_capitals_among_upright_ones_are_headings_too(tmp_path: Path) -> None:
    offices = [f"{office} {ward}" for ward in ("NORTH", "SOUTH", "EAST", "WEST") for office in OFFICES]
    pages = [[("Nothing above", "tiro", 10.0), (office, "tibo", 10.0)] for office in offices]
    pages[5][1] = (offices[5], "tibi", 10.0)
    path = written(tmp_path / "x.pdf", pages)

    assert offices[5] in [title for _, title in told(path)]


def test_large_titles_in_small_letters_are_headings_among_more_in_capitals(tmp_path: Path) -> None:
    titles = ["VISITS", "Cycles", "TREES", "FORESTS", "Lemma", "DEPTH", "GRAPHS", "Roots", "LEAVES", "ORDERS"]
    pages = [[(title, "tibo", 14.0) for title in titles[at : at + 5]] for at in (0, 5)]
    path = written(tmp_path / "x.pdf", [[("Graphs of all kinds", "tibo", 20.0)], *pages])

    assert [title for _, title in told(path)][-len(titles) :] == titles


def test_sections_that_bookmarks_count_go_on_in_another_font(tmp_path: Path) -> None:
    own = [[(f"Chapter {part}", "hebo", 16.0), *((f"Section {n}.", "hebo", 12.0) for n in (1, 2))] for part in (1, 2)]
    other = [[("Chapter 3", "hebo", 16.0), ("Section 1 Scope", "tibo", 11.0), ("Section 2 Aim", "tibo", 11.0)]]
    other[0].append(("Section 7 of the Act", "tibo", 11.0))
    named = [(at, text) for at, page in enumerate(own, 1) for text, _, _ in page]
    marks = [[1 if text.startswith("Chapter") else 2, text, at] for at, text in [*named, (3, "Chapter 3")]]
    path = written(tmp_path / "x.pdf", [*own, *other], marks)

    assert told(path)[-3:] == [(1, "Chapter 3"), (2, "Section 1 Scope"), (2, "Section 2 Aim")]


def test_titles_that_are_only_a_word_and_a_number_differ_by_the_number(tmp_path: Path) -> None:
    pages = [
        [(f"Chapter {part}", "hebo", 16.0), *((f"Section {n}.", "hebo", 12.0) for n in (1, 2, 3))] for part in (1, 2)
    ]
    marks = [
        [1 if text.startswith("Ch") else 2, text, at + 1]
        for at, page in enumerate(pages)
        for text, _, _ in page
        if (text, at) != ("Section 2.", 1)
    ]
    path = written(tmp_path / "x.pdf", pages, marks)

    assert told(path)[-4:] == [(1, "Chapter 2"), (2, "Section 1."), (2, "Section 2."), (2, "Section 3.")]


def test_a_heading_above_the_contents_on_the_page_of_the_title_is_no_cover(tmp_path: Path) -> None:
    first = [("Logic of Circuits", "tibo", 20.0), ("Learning Outcomes", "tibo", 14.0), ("Contents", "tibo", 14.0)]
    chapters = [(f"{at} {title}", "tibo", 14.0) for at, title in enumerate(("Resources", "Discussion", "Summary"), 1)]
    entries = [(f"{text} ........ {at}", "tiro", 10.0) for at, (text, _, _) in enumerate(chapters, 1)]
    path = written(
        tmp_path / "x.pdf",
        [[*first, *entries, chapters[0]], *[[chapter] for chapter in chapters[1:]]],
        [[1, text, at] for at, (text, _, _) in enumerate(chapters, 1)],
    )

    assert [title for _, title in told(path)][:3] == ["Learning Outcomes", "Contents", "1 Resources"]


def act(path: Path, notes: Sequence[str], size: float = 7.0) -> Path:
    """An act with a cover, whose sections have `notes` at alternate sides; "" stands for no note."""
    with driver.open() as document:
        cover = document.new_page(width=420, height=600)
        for row, words in enumerate(("PARLIAMENT OF THE ISLES", "MINIMUM WAGE ACT", "Certified in July")):
            cover.insert_text((120, 200 + 60 * row), words, fontname="tibo", fontsize=14)
        for number, note in enumerate(notes, 1):
            page = document.new_page(width=420, height=600)
            page.insert_text((120, 80), f"{number}. (1) This section may be cited as an", fontname="tiro", fontsize=10)
            for row in range(8):
                page.insert_text(
                    (110, 92 + 12 * row), "Act of the isles, and is read as one.", fontsize=10, fontname="tiro"
                )
            for row, words in enumerate(note.split("/")):
                page.insert_text((350 if number % 2 else 20, 79 + 9 * row), words, fontname="tiro", fontsize=size)
        document.save(path)
    return path


def test_marginal_notes_are_the_titles_of_the_sections_of_an_act(tmp_path: Path) -> None:
    found = told(act(tmp_path / "x.pdf", ["Short title/and date", "Wages", "", "Orders of/the court"]))

    assert found == [(1, "Page 1"), (1, "1. Short title and date"), (1, "2. Wages"), (1, "4. Orders of the court")]


def test_notes_as_large_as_the_text_or_in_small_letters_are_no_titles(tmp_path: Path) -> None:
    notes = ["Short title", "Wages", "Orders", "Courts"]

    assert not any(title.startswith("1.") for _, title in told(act(tmp_path / "x.pdf", notes, size=10)))
    assert not any(
        title.startswith("1.") for _, title in told(act(tmp_path / "y.pdf", [note.lower() for note in notes]))
    )
