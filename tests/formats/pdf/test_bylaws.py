"""Headings of by-laws and other rules: bold capitals, articles with a title below, and sections that bookmarks count."""

from __future__ import annotations

from collections.abc import Sequence
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

Line = tuple[str, str, float]
"""Words, font, and size."""

TEXT = "Every warrant is served by posting copies of it in the post offices of the town,"


def written(path: Path, pages: Sequence[Sequence[Line]], marks: Sequence[Sequence[object]] = ()) -> Path:
    """Pages with centered lines and a paragraph below each; a line that begins with `+` is close to the one above."""
    with driver.open() as document:
        for lines in pages:
            page, y = document.new_page(), 60.0
            for words, font, size in lines:
                text = words.removeprefix("+")
                y += 0.0 if text == words else -80.0
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
