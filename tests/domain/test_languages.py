"""Codes of languages, and texts as they are compared."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.folding import folded
from citekit.domain.library.languages import iso_639_3, two_letters


@pytest.mark.parametrize(
    ("code", "long", "short"),
    [
        ("en", "eng", "en"),
        ("eng", "eng", "en"),
        ("en-US", "eng", "en"),
        ("pt_BR", "por", "pt"),
        ("ger", "deu", "de"),
        ("fre", "fra", "fr"),
        ("hrv", "hrv", "hr"),
        ("cmn", "cmn", "zh"),
        ("haw", "haw", "haw"),
        ("unknown", "unknown", "unknown"),
    ],
)
def test_a_language_has_one_code_of_each_length(code: str, long: str, short: str) -> None:
    assert (long, short) == (iso_639_3(code), two_letters(code))


@given(st.text())
def test_folding_does_not_know_how_an_accent_is_encoded(text: str) -> None:
    assert folded(unicodedata.normalize("NFD", text)) == folded(unicodedata.normalize("NFC", text))


@given(st.text(st.characters(max_codepoint=0x24F)))
def test_folding_knows_no_case(text: str) -> None:
    assert folded(text) == folded(folded(text))


def test_accents_count() -> None:
    assert (True, False) == (folded("STRASSE") == folded("straße"), folded("cafe") == folded("café"))
