"""Words as sparse vectors."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.lexical import (
    AVERAGE_LENGTH,
    SATURATION,
    STOP_WORDS,
    document_words,
    query_words,
    without_repetition,
)
from citekit.domain.library.vectors import SparseVector


def shared(question: str, text: str) -> float:
    """The sum of the products of the weights that both have: the score where all words are as rare."""
    weights = dict(zip(*_columns(document_words(text)), strict=True))
    return sum(weight * weights.get(index, 0.0) for index, weight in zip(*_columns(query_words(question)), strict=True))


def _columns(words: SparseVector) -> tuple[Iterable[int], Iterable[float]]:
    return words.indices, words.values


@given(st.text())
def test_every_text_has_rising_indices_of_32_bits_and_weights_above_zero(text: str) -> None:
    for words in (document_words(text), query_words(text)):
        assert list(words.indices) == sorted(set(words.indices))
        assert all(0 <= index < 2**32 for index in words.indices)
        assert all(weight > 0 for weight in words.values)


@given(st.text(min_size=1))
def test_every_word_of_a_question_is_one_of_the_text_that_it_quotes(text: str) -> None:
    assert set(query_words(text).indices) <= set(document_words(text).indices)


@pytest.mark.parametrize("text", ["", " ", "...", "\u0301", "🎵!", "__"])
def test_a_question_without_letters_and_digits_has_no_words(text: str) -> None:
    assert not query_words(text)


def test_no_weight_passes_that_of_a_word_said_without_end() -> None:
    often = document_words("lute " * 100_000)

    assert max(often.values) < SATURATION + 1


def test_a_word_in_a_chunk_of_average_length_weighs_what_bm25_says() -> None:
    # half of the terms are words, half the pairs of neighbours
    text = " ".join(["lute", *(f"f{number}" for number in range(AVERAGE_LENGTH // 2))])

    weights = dict(zip(*_columns(document_words(text)), strict=True))

    assert pytest.approx(1.0, abs=0.002) == weights[query_words("lute").indices[0]]


def test_the_same_words_weigh_less_in_a_longer_text() -> None:
    short, long = "a lute in tune", "a lute in tune " + " ".join(f"x{number}" for number in range(1000))

    assert shared("lute", short) > shared("lute", long) > 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("composer", "Of Compositions"),
        ("REPONSE", "une Réponse naïve"),
        ("réponse", "REPONSE"),
        ("Strasse", "die STRAẞE"),
        ("first", "the ﬁrst page"),
        ("compilation", "the com-\npilation of files"),
        ("compilation", "the compi\u00adlation of files"),
        ("Ёлка", "елка"),
        ("שלום", "שָׁלוֹם"),
        ("हिन्दी", "यह हिन्दी में है"),
        ("图书馆", "北京图书馆很大"),
        ("猫", "黒猫がいる"),
        ("ｶﾒﾗ", "カメラ"),
        ("한국어", "한국어를 배우다"),
        ("ภาษาไทย", "ผมเรียนภาษาไทย"),
        ("2024", "In the year 2024."),
        ("C", "vitamin C"),
        ("die", "I do not want to die"),
        ("war", "the war of the worlds"),
    ],
)
def test_a_question_finds_the_text_that_says_it_in_other_letters(question: str, text: str) -> None:
    assert shared(question, text) > 0


@pytest.mark.parametrize(
    ("question", "text"),
    [("number 123456", "123457"), ("lute", "flute"), ("图书", "书图"), ("and the", "of an"), ("हिन्दी", "हमारा")],
)
def test_a_question_does_not_find_a_text_without_its_words(question: str, text: str) -> None:
    assert shared(question, text) == 0


def test_words_side_by_side_count_more_than_apart() -> None:
    together, apart = "green tea and black coffee", "black tea and green coffee"

    assert shared("green tea", together) > shared("green tea", apart) > 0


def test_a_long_word_as_it_stands_counts_more_than_one_that_begins_alike() -> None:
    assert shared("compilation", "compilation") > shared("compilation", "compiler") > 0


def test_stop_words_are_not_looked_for_beside_others() -> None:
    assert query_words("lute") == query_words("what is a lute")


@pytest.mark.parametrize("question", ["to be or not to be", "The who", "was ist das", "it", "où est-il", "и не то"])
def test_a_question_of_stop_words_alone_still_finds_what_it_quotes(question: str) -> None:
    assert query_words(question)
    assert shared(question, f"He said: {question}, and left.") > 0


def test_to_be_or_not_to_be_finds_hamlet_first() -> None:
    hamlet = "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer"
    other = "It is to the king that he was not to go, or to be of the court; that is what it is to be a lord, or a fool"

    assert shared("to be or not to be", hamlet) > shared("to be or not to be", other)


def test_a_word_said_twice_in_a_question_counts_once() -> None:
    assert 1.0 == max(query_words("lute! Lute? A lute.").values)


def test_a_lone_surrogate_does_no_harm() -> None:
    assert document_words("a\ud800b lute")


def test_stop_words_are_written_as_words_are_read() -> None:
    assert all(word == word.casefold().strip() and query_words(word) for word in STOP_WORDS)
    assert not {"war", "die", "sin", "son", "door", "ai", "mit", "c", "r"} & STOP_WORDS


_SOME_WORDS = st.lists(
    st.sampled_from(["queen", "bee", "hive", "egg", "wax", "comb", "the", "of", "in", "honey", "summer", "drone"]),
    min_size=1,
)


@given(_SOME_WORDS, st.integers(2, 5), st.sampled_from([" ", ". ", "\n\n"]))
def test_repeating_a_text_raises_the_weight_of_none_of_its_words(words: list[str], times: int, between: str) -> None:
    once = document_words(" ".join(words))
    often = document_words(between.join([" ".join(words)] * times))

    weights = dict(zip(often.indices, often.values, strict=True))
    assert all(weights[index] <= weight + 1e-9 for index, weight in zip(once.indices, once.values, strict=True))


@given(_SOME_WORDS, st.integers(2, 5))
def test_words_of_a_repeated_text_are_kept_once(words: list[str], times: int) -> None:
    kept = without_repetition(words * times)

    assert set(words) == set(kept)
    assert len(kept) <= len(words)
