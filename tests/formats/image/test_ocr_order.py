from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.image.outliner import RecognizedText
from citekit.adapters.formats.shared.ocr import OcrLine, in_reading_order
from citekit.domain.locations import Box


def line(text: str, x1: float, y1: float, x2: float, height: float = 0.02, score: float = 0.99) -> OcrLine:
    return OcrLine(text, Box(x1, y1, x2, y1 + height), score)


def texts(lines: list[OcrLine]) -> list[str]:
    return [each.text for each in lines]


TWO_COLUMNS = [
    line("title", 0.1, 0.02, 0.9, 0.04),
    line("left 1", 0.05, 0.10, 0.45),
    line("left 2", 0.05, 0.13, 0.40),
    line("left 3", 0.05, 0.16, 0.47),
    line("right 1", 0.55, 0.10, 0.95),
    line("right 2", 0.55, 0.13, 0.93),
    line("right 3", 0.55, 0.16, 0.70),
    line("foot", 0.3, 0.95, 0.7),
]


@pytest.mark.parametrize("seed", range(5))
def test_a_column_is_read_before_the_next_in_any_order_of_lines(seed: int) -> None:
    mixed = random.Random(seed).sample(TWO_COLUMNS, len(TWO_COLUMNS))

    assert TWO_COLUMNS == in_reading_order(mixed)


def test_a_heading_across_both_columns_separates_the_lines_above_and_below() -> None:
    lines = [
        line("a1", 0.05, 0.1, 0.45),
        line("b1", 0.55, 0.1, 0.95),
        line("across", 0.05, 0.3, 0.95),
        line("a2", 0.05, 0.5, 0.45),
        line("b2", 0.55, 0.5, 0.95),
    ]

    assert ["a1", "b1", "across", "a2", "b2"] == texts(in_reading_order(lines[::-1]))


def test_parts_of_one_line_are_read_left_to_right() -> None:
    lines = [line("one", 0.1, 0.1, 0.3), line("two", 0.4, 0.101, 0.6), line("below", 0.1, 0.2, 0.6)]

    assert ["one", "two", "below"] == texts(in_reading_order(lines[::-1]))


fractions = st.integers(0, 99)


@given(st.lists(st.tuples(fractions, fractions, st.integers(1, 60), st.integers(1, 20)), max_size=25))
def test_every_line_comes_once_in_an_order_independent_of_the_input(places: list[tuple[int, int, int, int]]) -> None:
    lines = [
        OcrLine(str(n), Box(x / 100, y / 100, min(100, x + w) / 100, min(100, y + h) / 100), 0.9)
        for n, (x, y, w, h) in enumerate(places)
    ]

    ordered = in_reading_order(lines)

    assert sorted(texts(lines)) == sorted(texts(ordered))
    assert ordered == in_reading_order(lines[::-1])


def test_the_tallest_line_is_the_title_and_uncertain_lines_are_dropped() -> None:
    reading = RecognizedText.from_lines(
        [line("| ~", 0, 0, 0.5, 0.2), line("x", 0, 0.3, 0.1, 0.2, score=0.4), *TWO_COLUMNS]
    )

    assert "title" == reading.title() == reading.heading()
    assert TWO_COLUMNS == list(reading.lines)


def test_the_lines_of_a_box_have_their_center_in_it() -> None:
    found = RecognizedText(TWO_COLUMNS).within(Box(0.5, 0.08, 1, 0.15))

    assert ["right 1", "right 2"] == [each.text for each in found]


def test_without_a_taller_line_there_is_no_heading_and_the_first_line_is_the_title() -> None:
    assert None is RecognizedText(TWO_COLUMNS[1:]).heading()
    assert "left 1" == RecognizedText(TWO_COLUMNS[1:]).title()
    assert None is RecognizedText().title()
