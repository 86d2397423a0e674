"""Headings whose numbers continue those of the sections that bookmarks or printed contents name."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pymupdf

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

NAMED = ["1 Waters", "1.1 Lakes", "1.2 Rivers", "2 Shores", "2.1 Reeds", "2.2 Birds"]


def document(path: Path, below: Mapping[str, Sequence[str]], *, bookmarks: bool) -> Path:
    """A page for each title of `NAMED`, with the bold lines `below` it in the size of the text, and with bookmarks
    without numbers or else a page of contents that names them.
    """
    marks: list[list[object]] = []
    with pymupdf.open() as made:
        if not bookmarks:
            page = made.new_page(width=400, height=700)
            page.insert_text((40, 60), "Contents", fontsize=16)
            for at, title in enumerate(NAMED):
                page.insert_text((40, 100 + 20 * at), f"{title} {'. ' * 20} {at + 2}", fontsize=10)
        for title in NAMED:
            page = made.new_page(width=400, height=700)
            page.insert_text((40, 60), title, fontname="hebo", fontsize=16)
            for at, line in enumerate(("", *below.get(title, ()))):
                page.insert_text((40, 90 + 90 * at), line, fontname="hebo", fontsize=10)
                for row in range(4):
                    text = f"Line {row} of the text is as plain as any other one."
                    page.insert_text((40, 110 + 90 * at + 13 * row), text, fontsize=10)
            marks.append([title.count(".") + 1, title.partition(" ")[2], len(made)])
        if bookmarks:
            made.set_toc(marks)
        made.save(path)
    return path


def below(path: Path, chapter: int, section: int) -> list[str]:
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    found = [each for each in PdfOutliner().outline(source, silent).items if each.title in NAMED]
    holder: OutlineItem = found[chapter].children[section]
    return [each.title for each in holder.children]


def test_numbers_that_count_up_below_a_bookmark_are_sections(tmp_path: Path) -> None:
    lines = {"1.2 Rivers": ["1.2.1 Springs", "1.2.2 Mouths"], "2.1 Reeds": ["2.1.1 Stems"]}

    path = document(tmp_path / "a.pdf", lines, bookmarks=True)

    assert below(path, 0, 1) == ["1.2.1 Springs", "1.2.2 Mouths"]
    assert below(path, 1, 0) == ["2.1.1 Stems"]


def test_other_numbers_and_statements_are_no_sections(tmp_path: Path) -> None:
    lines = {"1.1 Lakes": ["3.1.1 Springs", "1.1.4 Mouths"], "2.1 Reeds": ["2.1.1 Theorem of Reeds"]}

    path = document(tmp_path / "a.pdf", lines, bookmarks=True)

    assert below(path, 0, 0) == below(path, 1, 0) == []


def test_a_heading_whose_bookmark_lacks_its_number_is_there_once(tmp_path: Path) -> None:
    path = document(tmp_path / "a.pdf", {"1.2 Rivers": ["1.2.1 Springs"]}, bookmarks=True)
    with pymupdf.open(path) as made:
        page = next(at for at, each in enumerate(made, 1) if "1.2.1 Springs" in each.get_text())
        marks = made.get_toc()
        at = next(at for at, mark in enumerate(marks) if mark[1] == "Rivers")
        marks.insert(at + 1, [3, "Springs", page])
        made.set_toc(marks)
        made.save(tmp_path / "b.pdf")

    assert [each.removeprefix("1.2.1 ") for each in below(tmp_path / "b.pdf", 0, 1)] == ["Springs"]
