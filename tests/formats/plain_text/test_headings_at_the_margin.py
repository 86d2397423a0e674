"""Texts whose headings alone are at the margin, as in specifications, RFCs, and manual pages."""

from __future__ import annotations

from pathlib import Path

from citekit.adapters.formats.plain_text.outliner import PlainTextOutliner
from citekit.domain.progress import silent
from tests.formats.texts import source

TEXT = "    The extension counts events of the hardware, and\n    returns the counts in a buffer.\n"


def titles(path: Path, text: str) -> list[str]:
    path.write_text(text)
    return [each.title for each in PlainTextOutliner().outline(source(path), silent).items]


def test_are_its_headings(tmp_path: Path) -> None:
    sections = ("Name", "Overview", "New Procedures and Functions", "Errors")
    text = "".join(f"{each}\n\n{TEXT * 4}\n" for each in sections)

    assert list(sections) == titles(tmp_path / "a.txt", text)


def test_are_followed_by_text_with_or_without_a_blank_line(tmp_path: Path) -> None:
    text = "".join(f"{each}\n{TEXT * 4}\n" for each in ("NAME", "SYNOPSIS", "DESCRIPTION"))

    assert ["NAME", "SYNOPSIS", "DESCRIPTION"] == titles(tmp_path / "a.txt", text)


def test_are_the_only_ones_so_that_numbered_items_of_the_text_are_none(tmp_path: Path) -> None:
    issues = "".join(f"    {number}. Should the counts be {each}\n\n{TEXT}\n" for number, each in enumerate("abcd", 1))
    text = f"Name\n\n{TEXT * 8}\nIssues\n\n{issues}Errors\n\n{TEXT * 8}"

    assert ["Name", "Issues", "Errors"] == titles(tmp_path / "a.txt", text)


def test_are_no_headings_if_much_text_is_at_the_margin_too(tmp_path: Path) -> None:
    prose = "The lake is deep, and its shores are high.\nNobody has seen its ground.\n\n"
    text = "".join(f"{prose}For example\n\n{TEXT}\n" for _ in range(4))

    assert "For example" not in titles(tmp_path / "a.txt", text)
