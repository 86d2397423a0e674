"""Lines of headings: justified ones, whose words are pieces, and marks of footnotes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner
from citekit.domain.digest import Digest
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from citekit.domain.source import Source

driver: Any = pymupdf

TITLES = ["1.1. Wells", "1.2. Springs", "1.3. Rivers", "1.4. Lakes"]


def titles(path: Path, draw: Callable[[Any], None]) -> list[str]:
    """Return the titles of four pages with one bold heading each in the size of text, and what `draw` adds to the last."""
    with driver.open() as document:
        for title in TITLES:
            page = document.new_page(width=400, height=600)
            page.insert_text((40, 80), title, fontname="hebo", fontsize=10)
            for line in range(10):
                page.insert_text((40, 110 + 13 * line), f"Line {line} of the text is as plain as any.", fontsize=10)
        draw(page)
        document.save(path)
    source = Source(path, Digest("0" * 64), path.stat().st_size, BY_SUFFIX[".pdf"])
    return [item.title for item in PdfOutliner().outline(source, silent).items]


def row(page: Any, words: str, gaps: list[float]) -> None:
    x = 40.0
    for word, gap in zip(words.split(), [*gaps, 0.0], strict=True):
        page.insert_text((x, 300), word, fontname="hebo", fontsize=10)
        x += driver.get_text_length(word, "hebo", 10) + gap


def test_the_words_of_a_justified_line_are_one_heading_with_the_next_line(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        row(page, "1.5. Which costs does the required", [8, 14, 14, 14, 14])
        page.insert_text((64, 312), "paper have?", fontname="hebo", fontsize=10)

    assert titles(tmp_path / "x.pdf", draw)[-1] == "1.5. Which costs does the required paper have?"


def test_the_column_names_of_a_table_are_no_justified_line(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        row(page, "Lake Depth Width Length", [14, 40, 22])
        page.insert_text((40, 312), "in feet", fontname="hebo", fontsize=10)

    assert titles(tmp_path / "x.pdf", draw)[:4] == TITLES
    assert not any("Depth Width" in title for title in titles(tmp_path / "y.pdf", draw))


@pytest.mark.parametrize(
    ("words", "title"),
    [("1.5. Keywords", "1.5. Keywords"), ("1.5. Area in m", "1.5. Area in m2")],
    ids=["note", "unit"],
)
def test_the_number_of_a_footnote_is_no_part_of_a_title(words: str, title: str, tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        page.insert_text((40, 300), words, fontname="hebo", fontsize=10)
        page.insert_text((40 + driver.get_text_length(words, "hebo", 10), 296), "2", fontname="hebo", fontsize=6)

    assert titles(tmp_path / "x.pdf", draw)[-1] == title


def test_a_word_that_a_soft_hyphen_splits_is_joined(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        page.insert_font("cjk", fontbuffer=driver.Font("cjk").buffer)
        for at, words in enumerate(("2.1 FINDING THE RIGHT PRO\u00ad", "CEDURES")):
            page.insert_text((40, 300 + 17 * at), words, fontname="cjk", fontsize=16)

    assert "2.1 FINDING THE RIGHT PROCEDURES" in titles(tmp_path / "a.pdf", draw)
