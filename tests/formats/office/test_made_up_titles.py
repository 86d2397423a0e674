"""Titles that programs write into Office files to which nobody gave a title."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook

from citekit.adapters.formats.shared.office_metadata import core_facts


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Microsoft Word - Document1", None),
        ("Document1", None),
        ("PowerPoint Presentation", None),
        ("Présentation PowerPoint", None),
        ("PowerPoint-Präsentation", None),
        ("Presentazione standard di PowerPoint", None),
        ("Презентация PowerPoint", None),
        ("PowerPoint 演示文稿", None),
        ("How to present with PowerPoint", "How to present with PowerPoint"),
        ("Untitled", None),
        ("Document 12 of the Inquiry", "Document 12 of the Inquiry"),
        ("Untitled Lives", "Untitled Lives"),
        ("Microsoft Office for Historians", "Microsoft Office for Historians"),
    ],
)
def test_a_title_that_a_program_made_up_is_no_title(tmp_path: Path, written: str, title: str | None) -> None:
    document = Workbook()
    document.properties.title = written
    document.save(tmp_path / "a.xlsx")

    assert core_facts(tmp_path / "a.xlsx").title == title
