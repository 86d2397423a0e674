"""Words of a text: texts with few non-ASCII characters are divided faster, but into the same words."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.lexical import tokens
from citekit.domain.words import words_of

CHARACTERS = st.one_of(
    st.characters(exclude_categories=["Cs"]), st.sampled_from("aZ09_-.' \n\u2019\u00e9\u0301\u3099\u304b\u2122")
)
TEXTS = st.lists(CHARACTERS, max_size=12).map("".join)
FILLER = " plain words that are long enough for one character of another script to be rare in the whole text" * 4


def folded(text: str) -> str:
    """The rule of `words_of`, one character at a time."""
    plain = ""
    for character in text.casefold():
        decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
        plain += "".join(each if each.isalnum() else " " for each in decomposed if not unicodedata.combining(each))
    return plain


@given(TEXTS)
def test_words_are_folded_character_by_character(text: str) -> None:
    assert folded(text + FILLER).split() == words_of(text + FILLER)
    assert folded(text).split() == words_of(text)


@given(TEXTS)
def test_tokens_do_not_depend_on_how_many_characters_are_not_ascii(text: str) -> None:
    among_few, among_many = tokens(f"{text} ;{FILLER}"), tokens(f"{text} ;{FILLER}" + " \u0434\u0430" * 400)
    assert among_many[: len(among_few)] == among_few
