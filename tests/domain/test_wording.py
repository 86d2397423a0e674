"""The words of a quote are compared with those of a similar passage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.quotes.wording import COMPARED, compared_wording


@pytest.mark.parametrize(
    ("quote", "passage", "changed"),
    [
        ("Sales rose by 12 % in 2023", "Sales rose by 21 % in 2023", [("12", "21")]),
        ("The law does not apply", "The law does apply", [("not", "")]),
        ("the law applies", "The law, however, “applies”.", [("", "however,")]),
        ("data manipulation is well-known.", "data manipu-\nlation\nis “well-\nknown”", []),
        ("how long precisely - having no coin", "how long precisely—having no money", [("coin", "money")]),
        ("no money in my purse", "precisely--having no money in my purse", [("", "precisely--having")]),
        ("a fall of -5 degrees", "a fall of 5 degrees", [("of -5", "of 5")]),
        ("法律不适用", "法律适用", [("不", "")]),
    ],
)
def test_only_words_that_mean_something_else_differ(quote: str, passage: str, changed: list[tuple[str, str]]) -> None:
    found = compared_wording(quote, passage)
    assert changed == [(each.quote, each.passage) for each in found if not each.is_same]


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_word_is_lost_and_a_text_equals_itself(quote: str, passage: str) -> None:
    found = compared_wording(quote, passage)
    for text, sides in ((quote, [each.quote for each in found]), (passage, [each.passage for each in found])):
        assert {each for each in text if each.isascii() and each.isalnum()} <= set("".join(sides))
    assert all(each.is_same for each in compared_wording(quote, quote))


def test_long_texts_are_compared_to_a_limit() -> None:
    found = compared_wording("word " * (COMPARED + 2), "word " * COMPARED)
    assert [(True, COMPARED), (False, 2)] == [(each.is_same, len(each.quote.split())) for each in found]
