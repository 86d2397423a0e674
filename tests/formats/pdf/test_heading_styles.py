"""Which fonts are those of headings in a PDF without bookmarks, by what their lines head."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

BOLD, REGULAR = "hebo", "helv"
TEXT = ["The text of this part is", "as plain as that of others."]

Row = tuple[str, str, float]
"""Text, font, and size."""


def titles(pages: Sequence[Sequence[Row]], folder: Path) -> list[str]:
    """Return the titles in the map of a document with these rows, 14 points apart, on its pages."""
    path = folder / "x.pdf"
    with pymupdf.open() as made:
        for rows in pages:
            page = made.new_page(width=400, height=900)
            for at, (text, font, size) in enumerate(rows):
                page.insert_text((40, 60 + 14 * at), text, fontname=font, fontsize=size)
        made.save(path)
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return all_titles(PdfOutliner().outline(source, silent).items)


def all_titles(found: Sequence[OutlineItem]) -> list[str]:
    return [title for item in found for title in (item.title, *all_titles(item.children))]


def headed(*names: str, count: int = 2) -> list[Row]:
    """Each name in bold, with `count` lines of text below."""
    text = [(line, REGULAR, 10) for line in (TEXT * count)[:count]]
    return [row for name in names for row in [(name, BOLD, 10), *text]]


NOTICES = ["Worship", "Greetings", "Obituary", "Holiday", "Exams", "Visits"]


def test_bold_lines_that_head_text_are_headings_although_they_are_many(tmp_path: Path) -> None:
    assert titles([headed(*NOTICES)], tmp_path) == NOTICES


def test_bold_lines_in_runs_are_no_headings(tmp_path: Path) -> None:
    entries = [(f"Somebody wrote a book of {name}", BOLD, 10.0) for name in NOTICES]
    pages = [headed("Opening", "Closing", count=8), [*entries, *[(line, REGULAR, 10.0) for line in TEXT * 5]]]

    assert not [title for title in titles(pages, tmp_path) if "wrote" in title]


def test_headings_in_capitals_and_others_in_one_font_are_both_headings(tmp_path: Path) -> None:
    names = ["NEW BUSINESS", "Transport", "Parks", "Giving", "ADJOURNMENT", "Roads"]

    assert titles([headed(*names, count=8)], tmp_path) == names


def test_a_short_bold_line_with_a_colon_heads_its_text(tmp_path: Path) -> None:
    names = ["General Instructions:", "Old Business:", "Reports:"]

    assert titles([headed(*names, count=8)], tmp_path) == names


def test_a_bold_paragraph_is_no_heading(tmp_path: Path) -> None:
    names = ["Opening", "Members", "Closing"]
    paragraph = [("Everybody who is here at that time may look", BOLD, 10.0), ("at all of it.", BOLD, 10.0)]

    assert titles([[*headed(*names, count=8), *paragraph, *headed(count=0)]], tmp_path) == names


def test_a_numbered_bold_sentence_is_no_heading(tmp_path: Path) -> None:
    names = ["1.1 Opening", "1.2 Members", "1.3 Closing"]
    clause = "1.4 Each of the members who is here at that time pays all of it at once."

    assert titles([headed(*names, clause, count=8)], tmp_path) == names


def test_a_signature_before_the_next_article_is_no_heading(tmp_path: Path) -> None:
    signers = ["Mark Bate", "Rachel Mann", "Simon Preece"]
    pages = [
        [(f"Article by {name}", BOLD, 12.0), *headed("Matters of " + name, count=8), (name, BOLD, 10.0)]
        for name in signers
    ]

    assert not {*signers} & {*titles(pages, tmp_path)}


def test_text_in_a_slightly_larger_font_that_fills_a_page_is_no_heading(tmp_path: Path) -> None:
    letter = [
        row for n in range(9) for row in ((f"This is said in letter {n} to you", "tiro", 12.0), (" ", REGULAR, 10.0))
    ]
    pages = [headed("Opening", "Members", count=14), headed("Reports", "Closing", count=14), letter]

    assert titles(pages, tmp_path) == ["Opening", "Members", "Reports", "Closing"]


def test_headings_on_a_first_page_of_short_lines_are_kept(tmp_path: Path) -> None:
    names = ["English", "Maths", "Physics", "Biology", "Music", "Art", "Sports", "History", "Latin", "Greek", "French"]

    assert titles([headed(name, count=12) for name in names], tmp_path) == names
