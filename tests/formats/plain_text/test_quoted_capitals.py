"""Lines in capitals that are no headings: dialog, names of authors, and what a text quotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from citekit.adapters.formats.plain_text.outliner import PlainTextOutliner
from citekit.domain.progress import silent
from tests.formats.texts import source

PROSE = "".join(f"Line {number} of the story of the lake, which goes on.\n" for number in range(30)) + "\n"
SECTIONS = [f"\n{name}\n\n{PROSE}" for name in ("THE LAKE", "THE RAIN", "THE ICE")]


def titles(path: Path, content: str) -> list[str]:
    return [each.title for each in PlainTextOutliner().outline(source(path, content), silent).items]


@pytest.mark.parametrize(
    "quoted",
    [
        '\n"BALLARAT."\n\n',
        "\n                  THE LEAGUE OF THE LAKE\n\n                        IS DISSOLVED.\n\n",
        "\nby\n\nNADIA NEMO\n\n",
    ],
)
def test_dialog_signs_and_authors_are_no_headings(tmp_path: Path, quoted: str) -> None:
    content = SECTIONS[0] + quoted + PROSE + "".join(SECTIONS[1:])

    assert titles(tmp_path / "a.txt", content) == ["THE LAKE", "THE RAIN", "THE ICE"]


def test_a_quotation_below_the_number_of_a_chapter_is_its_title(tmp_path: Path) -> None:
    content = f'\nCHAPTER I.\n\n"THE LAKE"\n\n{PROSE}\nCHAPTER II.\n\nTHE RAIN\n\n{PROSE}'

    assert titles(tmp_path / "a.txt", content) == ['CHAPTER I. "THE LAKE"', "CHAPTER II. THE RAIN"]


def test_centered_headings_are_headings(tmp_path: Path) -> None:
    content = "".join(SECTIONS).replace("THE ", "                  THE ")

    assert titles(tmp_path / "a.txt", content) == ["THE LAKE", "THE RAIN", "THE ICE"]
