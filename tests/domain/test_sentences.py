"""A text in sentences, and its words counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.sentences import Sentence, count_words, sentences

TEXTS = st.text("ab ,;.\n\t我、。ไทยក😀", max_size=200) | st.text(max_size=80)


@st.composite
def split_texts(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A text and where its sentences begin."""
    text = draw(TEXTS)
    inside = draw(st.sets(st.integers(1, max(1, len(text) - 1)))) if len(text) > 1 else set()
    return text, [0, *sorted(inside)] if text else []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("Call me Ishmael.", 3),
        ("one - two", 3),
        ("...", 1),
        ("我是学生。", 2),
        ("吾輩は猫である。名前はまだ無い。", 7),
        ("。", 1),
        ("2024年に Tokyo へ", 4),
        ("สวัสดีครับ", 2),
        ("안녕하세요 세계", 2),
        ("x" * 100, 1),
        ("x" * 101, 2),
        ("x" * 1000 + " y", 11),
        ("Index . . . . . . . . . 12", 3),
    ],
)
def test_words_are_what_white_space_parts_or_as_many_characters_as_a_word_has(text: str, words: int) -> None:
    assert words == count_words(text)


@given(TEXTS)
def test_only_white_space_has_no_words(text: str) -> None:
    assert bool(text.strip()) == bool(count_words(text))


@given(split_texts(), st.integers(1, 12))
def test_sentences_cover_every_character_once(split: tuple[str, list[int]], most: int) -> None:
    text, starts = split

    found = sentences(text, starts, most)

    assert text == "".join(text[each.start : each.end] for each in found)
    assert all(each.start < each.end for each in found)


@given(split_texts(), st.integers(1, 12))
def test_no_sentence_has_more_words_than_allowed_and_each_says_how_many(
    split: tuple[str, list[int]], most: int
) -> None:
    text, starts = split

    found = sentences(text, starts, most)

    assert all(each.words <= most for each in found)
    assert [count_words(text[each.start : each.end]) for each in found] == [each.words for each in found]


@given(split_texts(), st.integers(1, 12))
def test_no_sentence_is_white_space_alone_unless_all_is(split: tuple[str, list[int]], most: int) -> None:
    text, starts = split

    found = sentences(text, starts, most)

    assert not text.strip() or all(text[each.start : each.end].strip() for each in found)


@given(split_texts())
def test_sentences_that_are_short_enough_begin_where_they_were_said_to(split: tuple[str, list[int]]) -> None:
    text, starts = split

    found = sentences(text, starts, 10**9)

    assert {each.start for each in found} <= {0, *starts}


def test_an_empty_text_has_no_sentence() -> None:
    assert () == sentences("", [], 10)


def test_white_space_alone_is_one_sentence_without_words() -> None:
    assert (Sentence(0, 3, 0),) == sentences(" \n ", [0], 10)


def test_white_space_between_sentences_belongs_to_the_one_before() -> None:
    assert (Sentence(0, 6, 1), Sentence(6, 8, 1)) == sentences("One.  B.", [0, 4, 6], 10)


def test_white_space_before_the_first_sentence_belongs_to_it() -> None:
    assert (Sentence(0, 6, 1),) == sentences("  One.", [0, 2], 10)


@pytest.mark.parametrize(
    ("text", "most", "pieces"),
    [
        ("one two three, four five six", 4, ["one two three, ", "four five six"]),
        ("one two three\nfour five six", 4, ["one two three\n", "four five six"]),
        ("one two three four", 2, ["one two ", "three four"]),
        ("x" * 300, 2, ["x" * 200, "x" * 100]),
        ("我们学习，他们工作", 3, ["我们学习，", "他们工作"]),
    ],
)
def test_an_over_long_sentence_is_cut_at_clauses_else_lines_else_spaces_else_anywhere(
    text: str, most: int, pieces: list[str]
) -> None:
    found = sentences(text, [0], most)

    assert pieces == [text[each.start : each.end] for each in found]


@pytest.mark.long
@pytest.mark.parametrize("text", ["word " * 400_000, "x" * 2_000_000, "我" * 1_000_000, ", " * 500_000])
def test_a_sentence_of_a_whole_book_is_cut_evenly(text: str) -> None:
    found = sentences(text, [0], 1000)

    assert (len(text), True) == (found[-1].end, max(each.words for each in found) <= 1000)
    assert min(each.words for each in found) >= 500
