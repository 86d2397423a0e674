"""The quotes and addresses of an answer are found where they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.quotes.quoted_passages import quoted_passages


@given(st.text('ab1 \n>"“”«»doc://x#pages=3.,()[]', max_size=200))
def test_places_are_inside_the_text_and_in_order(text: str) -> None:
    found = quoted_passages(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert [each.start for each in found] == sorted(each.start for each in found)
    assert all(each.quote or each.address for each in found)
    assert all(each.address in text for each in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('It says "one two three" (doc://a#pages=8).', [("one two three", "doc://a#pages=8")]),
        ("In doc://a#pages=1 it says “one two three”.", [("one two three", "doc://a#pages=1")]),
        ("> one two\n> three four\n\nSee doc://a#pages=3.", [("one two\nthree four", "doc://a#pages=3")]),
        ('> "one two three" doc://a#pages=2\n', [("one two three", "doc://a#pages=2")]),
        ("«un deux trois» „eins zwei drei“", [("un deux trois", ""), ("eins zwei drei", "")]),
        ("only doc://a#chapter=1, and text://b#lines=1-2.", [("", "doc://a#chapter=1"), ("", "text://b#lines=1-2")]),
        (
            '"one two three" and "four five six" doc://a#pages=1',
            [("one two three", ""), ("four five six", "doc://a#pages=1")],
        ),
        ('an "unclosed quote of words', []),
        ('a "short one"', []),
        ('"5 %" doc://a#pages=1', [("5 %", "doc://a#pages=1")]),
        ("[the page](doc://a#pages=2-3)", [("", "doc://a#pages=2-3")]),
        ("", []),
    ],
)
def test_quotes_get_the_address_that_belongs_to_them(text: str, expected: list[tuple[str, str]]) -> None:
    assert expected == [(each.quote, each.address) for each in quoted_passages(text)]
