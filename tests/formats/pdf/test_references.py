"""Which lists of references become sections of a map although the bookmarks leave them out."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

CHAPTERS = [(1, "Motivation", 1), (1, "Approach", 2), (2, "Details", 3), (1, "Conclusion", 3), (1, "Proofs", 5)]


def titles(path: Path) -> list[tuple[str, int]]:
    def every(items: Sequence[OutlineItem]) -> list[tuple[str, int]]:
        return [pair for each in items for pair in ((each.title, each.location.numbers[0]), *every(each.children))]  # type: ignore[union-attr]

    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return every(PdfOutliner().outline(source, silent).items)


def thesis(path: Path, lines: Mapping[int, str], *, bold: bool = True, number: str = "") -> Path:
    """A document of five pages with bookmarks for `CHAPTERS`, and a line at the middle of some pages."""
    with pymupdf.open() as document:
        for at in range(1, 6):
            page = document.new_page(width=400, height=600)
            for row, name in enumerate(name for _, name, begins in CHAPTERS if begins == at):
                page.insert_text((40, 60 + 60 * row), name, fontname="hebo", fontsize=12)
            for line in range(24):
                if line != 12 or at not in lines:
                    page.insert_text((40, 160 + 13 * line), f"Line {line} is as plain as any other one.", fontsize=10)
            if at in lines:
                page.insert_text((40, 316), lines[at], fontname="hebo" if bold else "helv", fontsize=10)
                page.insert_text((340, 316), number, fontsize=10)
        document.set_toc([list(each) for each in CHAPTERS])
        document.save(path)
    return path


BOOKMARKED = [(name, page) for _, name, page in CHAPTERS]
BEFORE_THE_APPENDIX = [*BOOKMARKED[:4], ("References", 4), BOOKMARKED[4]]


def test_references_that_the_bookmarks_leave_out_are_a_section(tmp_path: Path) -> None:
    assert BEFORE_THE_APPENDIX == titles(thesis(tmp_path / "x.pdf", {4: "References"}))


def test_references_at_the_end_are_a_section(tmp_path: Path) -> None:
    assert [*BOOKMARKED, ("LITERATUR", 5)] == titles(thesis(tmp_path / "x.pdf", {5: "LITERATUR"}, bold=False))


@pytest.mark.parametrize(
    ("lines", "bold", "number"),
    [
        pytest.param({1: "References", 3: "References", 5: "References"}, True, "", id="of each chapter"),
        pytest.param({2: "References"}, True, "", id="before a section of a chapter"),
        pytest.param({4: "References"}, True, "4", id="in a table of contents"),
        pytest.param({4: "References"}, False, "", id="as text"),
        pytest.param({4: "References to plain lines"}, True, "", id="with other words"),
    ],
)
def test_other_lines_are_no_references(lines: Mapping[int, str], bold: bool, number: str, tmp_path: Path) -> None:
    assert BOOKMARKED == titles(thesis(tmp_path / "x.pdf", lines, bold=bold, number=number))
