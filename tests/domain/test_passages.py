"""A chunk in passages."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.passages import passages
from citekit.domain.library.sentences import Sentence


def row(words: list[int]) -> list[Sentence]:
    return [Sentence(10 * place, 10 * place + 10, count) for place, count in enumerate(words)]


def words_of(spans: tuple[tuple[int, int], ...], words: list[int]) -> list[int]:
    return [sum(words[start // 10 : end // 10]) for start, end in spans]


def fewest(words: list[int], window: int) -> int:
    """How many passages are needed when each takes all that fits."""
    count, held = 0, window + 1
    for each in words:
        fits = held + each <= window
        held = held + each if fits else each
        count += not fits
    return count


lengths = st.lists(st.integers(1, 30), max_size=60)


@given(lengths, st.integers(1, 60))
def test_passages_cover_the_sentences_in_order(words: list[int], window: int) -> None:
    spans = passages(row(words), window)

    assert [0, 10 * len(words)] * bool(words) == [spans[0][0], spans[-1][1]] if words else spans == ()
    assert all(one[1] == other[0] for one, other in pairwise(spans))
    assert all(start < end for start, end in spans)


@given(lengths, st.integers(1, 60))
def test_only_a_single_sentence_is_longer_than_the_window(words: list[int], window: int) -> None:
    spans = passages(row(words), window)

    assert all(
        count <= window or end - start == 10 for (start, end), count in zip(spans, words_of(spans, words), strict=True)
    )


@given(lengths, st.integers(1, 60))
def test_there_are_as_few_as_can_be(words: list[int], window: int) -> None:
    assert fewest(words, window) == len(passages(row(words), window))


@given(st.integers(1, 200), st.integers(1, 60))
def test_passages_of_equal_sentences_are_equal_but_for_one(count: int, window: int) -> None:
    words = [1] * count

    sizes = words_of(passages(row(words), window), words)

    assert max(sizes) - min(sizes) <= 1


def test_a_short_tail_is_shared_out() -> None:
    words = [20, 20, 20, 20, 10]

    assert [40, 50] == words_of(passages(row(words), 80), words)


def test_no_sentences_have_no_passages() -> None:
    assert () == passages([], 80)
