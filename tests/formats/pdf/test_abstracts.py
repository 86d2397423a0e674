"""Which abstracts of papers become sections of a map, and which lines above them do not."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

NAMES = ["1 Motivation", "2 Approach", "3 Evaluation"]


def items(path: Path) -> Sequence[OutlineItem]:
    return PdfOutliner().outline(Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"]), silent).items


def titles(found: Sequence[OutlineItem]) -> list[str]:
    return [title for each in found for title in (each.title, *titles(each.children))]


def paper(path: Path, above: Sequence[str], *, bookmarks: Sequence[str] = (), bold: Sequence[str] = ()) -> Path:
    """A paper with `NAMES` as headings, one on a page, and on its first page the lines `bold` and `above` before the first."""
    with pymupdf.open() as document:
        for number, name in enumerate(NAMES):
            page = document.new_page(width=400, height=600)
            for row, text in enumerate((*bold, *above) if not number else ()):
                page.insert_text((40, 40 + 20 * row), text, fontname="hebo" if text in bold else "helv", fontsize=10)
            page.insert_text((40, 250), name, fontname="hebo", fontsize=12)
            for line in range(12):
                page.insert_text((40, 280 + 13 * line), f"Line {line} of the text is as plain as any.", fontsize=10)
        document.set_toc([[1, name, 1 + NAMES.index(name)] for name in bookmarks])
        document.save(path)
    return path


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("Abstract", "Abstract"),
        ("ABSTRACT:", "ABSTRACT"),
        ("A B S T R A C T", "ABSTRACT"),
        ("Abstract. We show that matters are plain.", "Abstract"),
        ("ABSTRACT Matters are plain, as this paper shows here.", "ABSTRACT"),
        ("Abstract Matters are plain, as this paper shows here.", "Abstract"),
        ("Zusammenfassung - Alles ist einfach.", "Zusammenfassung"),
    ],
)
def test_an_abstract_is_a_section_however_it_is_set(line: str, title: str, tmp_path: Path) -> None:
    assert titles(items(paper(tmp_path / "x.pdf", [line, "Plain is what has no parts."]))) == [title, *NAMES]


def test_an_abstract_that_the_bookmarks_leave_out_is_a_section(tmp_path: Path) -> None:
    assert titles(items(paper(tmp_path / "x.pdf", ["Abstract"], bookmarks=NAMES))) == ["Abstract", *NAMES]


@pytest.mark.parametrize(
    "line", ["Abstract Algebra", "Abstract art is older than it looks.", "An abstract follows.", "Summary"]
)
def test_other_lines_are_no_abstract(line: str, tmp_path: Path) -> None:
    assert "Abstract" not in titles(items(paper(tmp_path / "x.pdf", [line], bookmarks=NAMES)))


def test_an_entry_of_the_contents_is_no_abstract(tmp_path: Path) -> None:
    path = paper(tmp_path / "x.pdf", [], bookmarks=NAMES)
    with pymupdf.open(path) as document:
        document[0].insert_text((40, 120), "Abstract", fontsize=10)
        document[0].insert_text((340, 120), "ii", fontsize=10)
        document.saveIncr()

    assert titles(items(path)) == NAMES


def test_names_above_the_abstract_are_no_sections(tmp_path: Path) -> None:
    found = items(paper(tmp_path / "x.pdf", ["Abstract. All is plain."], bold=["Ada Lovelace", "University of London"]))

    assert titles(found) == ["Abstract", *NAMES]
