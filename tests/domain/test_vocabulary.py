"""The words of headings, captions, and tables of contents: one table for all formats."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

import citekit
from citekit.adapters.formats.pdf.outline.heading_numbers import is_label, rank_of, with_number_space
from citekit.domain import vocabulary
from citekit.domain.vocabulary import APPENDIX, CHAPTER, PART, SECTION, TOC_HEADING, any_of

SOURCES = Path(citekit.__file__).parent
TABLES = {name: value for name, value in vars(vocabulary).items() if name.isupper() and isinstance(value, tuple)}
DISTINCTIVE = re.compile(r"kapitel|chapitre|hoofdstuk|capitolo|inhalt\b|sommaire|abbildung|tabelle\b", re.IGNORECASE)


@pytest.mark.parametrize("name", TABLES)
def test_words_are_lowercase_and_listed_once(name: str) -> None:
    words = TABLES[name]

    assert words
    assert list(words) == [word.lower().strip() for word in words]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("name", TABLES)
def test_an_expression_matches_each_word_in_any_case_and_without_accents(name: str) -> None:
    pattern = re.compile(any_of(TABLES[name]), re.IGNORECASE)

    for word in TABLES[name]:
        bare = unicodedata.normalize("NFD", word).encode("ascii", "ignore").decode()
        assert pattern.fullmatch(word)
        assert pattern.fullmatch(word.upper()) or "ß" in word
        assert pattern.fullmatch(bare) or len(bare) < len(word)


def test_the_longest_word_matches_first() -> None:
    found = re.match(any_of(TOC_HEADING), "inhaltsverzeichnis")

    assert found is not None
    assert "inhaltsverzeichnis" == found[0]


@pytest.mark.parametrize(("words", "rank"), [(PART, 0), (CHAPTER, 1), (APPENDIX, 1), (SECTION, 2)])
def test_a_pdf_ranks_numbered_headings_in_every_language(words: tuple[str, ...], rank: int) -> None:
    assert [rank] * len(words) == [rank_of(f"{word} 3") for word in words]


@pytest.mark.parametrize("word", [*PART, *CHAPTER, *APPENDIX])
def test_a_pdf_recognizes_labels_in_every_language(word: str) -> None:
    assert is_label(f"{word.capitalize()} 4")
    assert f"{word} 4" == with_number_space(f"{word}4")


def test_no_format_has_a_word_list_of_its_own() -> None:
    own = [
        f"{path.relative_to(SOURCES)}: {line.strip()}"
        for path in sorted((SOURCES / "adapters" / "formats").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if DISTINCTIVE.search(line)
    ]

    assert [] == own
