"""A few hostile words through some commands and tools; `python -m tests.faults words` tries thousands."""

from __future__ import annotations

import pytest

from tests.faults import words
from tests.faults.table import BRIEF


def test_words_of_files_steer_no_terminal_and_no_agent() -> None:
    rows = words.run(BRIEF)

    assert [True, True] == [row.kept for row in rows], rows


@pytest.mark.parametrize("word", ["\x1b[2J", "\u202e", "\r", "a\nFAKE  entry"])
def test_words_that_come_through_are_noticed(word: str) -> None:
    assert words.faults_of_screen(f"\x1b[1mtitle\x1b[0m {word}\n")
    assert words.faults_of_text(word)


@pytest.mark.parametrize("text", ["![x](http://e.test)", "<IMG src=x>", "[safe](http://e.test)"])
def test_what_loads_something_is_noticed(text: str) -> None:
    assert words.faults_of_text(text)


def test_the_words_of_a_number_are_always_the_same_and_of_many_kinds() -> None:
    made = [words.words_of(number) for number in range(60)]

    assert made == [words.words_of(number) for number in range(60)]
    assert 60 == len(set(made))
    assert words.LONGEST == max(map(len, made))
