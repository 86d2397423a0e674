"""The other forms of English words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.text_search.inflections import forms_of, number_forms


@pytest.mark.parametrize(
    "family",
    [
        ("lease", "leases", "leased", "leasing"),
        ("policy", "policies"),
        ("carry", "carries", "carried", "carrying"),
        ("box", "boxes"),
        ("stop", "stops", "stopped", "stopping"),
        ("agree", "agrees", "agreed", "agreeing"),
        ("building", "buildings"),
        ("pass", "passes", "passed", "passing"),
    ],
    ids=lambda family: family[0],
)
def test_each_form_of_a_word_leads_to_the_others(family: tuple[str, ...]) -> None:
    for word in family:
        if len(word) > 3:
            assert set(family) - {word} <= set(forms_of(word)), word


@pytest.mark.parametrize("word", ["2021", "the", "str\xe4\xdfe", "q4sales", ""])
def test_numbers_short_words_and_words_of_other_letters_have_none(word: str) -> None:
    assert forms_of(word) == []


@given(st.text("abcdefghilmnoprstuyz", max_size=12))
def test_forms_are_distinct_other_words_of_letters_and_few(word: str) -> None:
    forms = forms_of(word)

    assert word not in forms
    assert len(set(forms)) == len(forms) <= 24
    assert all(form.isalpha() for form in forms)


@given(st.integers(0, 30))
def test_numbers_in_words_and_digits_lead_to_each_other(number: int) -> None:
    forms = number_forms(str(number))

    assert (1 if 1 <= number <= 20 else 0) == len(forms)
    assert all(number_forms(form) == [str(number)] for form in forms)
