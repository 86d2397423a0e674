"""Phrases of messages."""

from __future__ import annotations

import pytest

from citekit.domain.phrases import counted, series


def test_a_number_has_a_noun_in_the_singular_or_plural() -> None:
    assert ["0 maps", "1 map", "2 maps"] == [counted(number, "map") for number in range(3)]
    assert ["1 match", "2 matches"] == [counted(number, "match", "matches") for number in (1, 2)]


@pytest.mark.parametrize(
    ("items", "text"),
    [("", ""), ("a", "a"), ("ab", "a and b"), ("abc", "a, b, and c"), ("abcd", "a, b, c, and d")],
)
def test_a_series_has_a_comma_before_the_conjunction_from_three_items(items: str, text: str) -> None:
    assert text == series(items)
    assert text.replace("and", "or") == series(items, "or")
