from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citekit.domain.numbers import read_decimal, read_whole, shortest


@given(st.floats(0, allow_infinity=False))
@example(5e-324)
@example(1.7976931348623157e308)
@example(0.1 + 0.2)
@example(2.0**53)
def test_a_number_reads_back_to_the_same_bits(value: float) -> None:
    text = shortest(value)

    assert value == read_decimal(text)
    assert re.fullmatch(r"0|[1-9]\d*|(?:0|[1-9]\d*)\.\d*[1-9]", text)


@pytest.mark.parametrize(
    ("value", "text"),
    [(145.0, "145"), (145.5, "145.5"), (1e-7, "0.0000001"), (1e22, "1" + "0" * 22), (-0.0, "0"), (3, "3")],
)
def test_numbers_have_one_plain_text(value: float, text: str) -> None:
    assert text == shortest(value)


@pytest.mark.parametrize("text", ["", ".", "-1", "+1", "1e3", "nan", "inf", "1_0", " 1", "1\n", "١", "1,5", "9" * 400])
def test_other_texts_are_no_numbers(text: str) -> None:
    assert read_decimal(text) is None
    assert read_whole(text) is None


@pytest.mark.parametrize(("text", "value"), [("12", 12.0), ("12.", 12.0), (".5", 0.5), ("007.250", 7.25)])
def test_unsigned_decimals_are_read(text: str, value: float) -> None:
    assert value == read_decimal(text)


def test_a_whole_number_has_at_most_twelve_digits() -> None:
    assert read_whole("9" * 12) == 10**12 - 1
    assert read_whole("9" * 13) is None
