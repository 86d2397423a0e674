"""Sentences gathered into chunks."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.errors import RequestRefused
from citekit.domain.library.chunking import Chunk, ChunkingParams, Reason, chunked, sentences_of, timed_chunks
from citekit.domain.library.sentences import Sentence

Row = tuple[tuple[Sentence, ...], tuple[float, ...]]


def row(words: list[int], similarities: list[float] | None = None) -> Row:
    """Sentences of so many words, ten characters each."""
    found = tuple(Sentence(10 * place, 10 * place + 10, count) for place, count in enumerate(words))
    return found, tuple(similarities or [1.0] * (len(words) - 1))


def shape(chunks: tuple[Chunk, ...]) -> list[tuple[int, Reason]]:
    return [(chunk.words, chunk.reason) for chunk in chunks]


@st.composite
def rows(draw: st.DrawFn, longest: int = 12) -> Row:
    words = draw(st.lists(st.integers(1, longest), max_size=60))
    levels = st.integers(0, 10).map(lambda tenths: tenths / 10)
    return row(words, draw(st.lists(levels, min_size=max(0, len(words) - 1), max_size=max(0, len(words) - 1))))


@st.composite
def params(draw: st.DrawFn, least_max: int = 1) -> ChunkingParams:
    smallest = draw(st.integers(1, 30))
    largest = draw(st.integers(max(smallest, least_max), 60))
    return ChunkingParams(draw(st.integers(0, 10)) / 10, smallest, largest)


@given(rows(longest=100), params())
def test_joined_chunks_are_the_text(some: Row, given_params: ChunkingParams) -> None:
    found, similarities = some

    chunks = chunked(found, similarities, given_params)

    assert [each.start for each in found[:1]] == [each.start for each in chunks[:1]]
    assert [each.end for each in found[-1:]] == [each.end for each in chunks[-1:]]
    assert all(one.end == other.start for one, other in pairwise(chunks))
    assert sum(each.words for each in found) == sum(each.words for each in chunks)


@given(rows(), params(least_max=12))
def test_no_chunk_is_above_the_maximum_where_no_sentence_is(some: Row, given_params: ChunkingParams) -> None:
    chunks = chunked(*some, given_params)

    assert all(chunk.words <= given_params.max_words for chunk in chunks)


@given(rows(longest=100), params())
def test_a_chunk_above_the_maximum_is_one_sentence(some: Row, given_params: ChunkingParams) -> None:
    chunks = chunked(*some, given_params)

    long = [chunk for chunk in chunks if chunk.words > given_params.max_words]
    assert [1] * len(long) == [len(sentences_of(chunk, some[0])) for chunk in long]


@given(rows(longest=100), params(), st.integers(0, 10))
def test_a_higher_threshold_never_gives_fewer_chunks(some: Row, given_params: ChunkingParams, tenths: int) -> None:
    low, high = sorted([given_params.threshold, tenths / 10])

    counts = [len(chunked(*some, evolve(given_params, threshold=each))) for each in (low, high)]

    assert counts == sorted(counts)


@given(rows(), params(least_max=12))
def test_a_short_chunk_is_next_to_one_that_it_would_make_too_long(some: Row, given_params: ChunkingParams) -> None:
    chunks = chunked(*some, given_params)

    for one, other in pairwise(chunks):
        if one.words < given_params.min_words:  # the next sentence did not fit
            first = sentences_of(other, some[0])[0]
            assert one.words + first.words > given_params.max_words
        if other is chunks[-1] and other.words < given_params.min_words:
            assert one.words + other.words > given_params.max_words


@given(rows(), params(least_max=12))
def test_a_break_says_why_it_is_there(some: Row, given_params: ChunkingParams) -> None:
    found, similarities = some

    chunks = chunked(found, similarities, given_params)

    starts = [each.start for each in found]
    assert all(
        chunk.similarity == similarities[starts.index(chunk.start) - 1]
        and (chunk.reason is Reason.SEMANTIC) == (chunk.similarity < given_params.threshold)
        for chunk in chunks[1:]
    )
    assert [(Reason.START, None)] * bool(chunks) == [(chunk.reason, chunk.similarity) for chunk in chunks[:1]]


@given(rows(longest=100), params())
def test_every_sentence_is_in_the_chunk_it_is_looked_up_in(some: Row, given_params: ChunkingParams) -> None:
    chunks = chunked(*some, given_params)

    assert list(some[0]) == [each for chunk in chunks for each in sentences_of(chunk, some[0])]


def test_a_chunk_ends_where_the_subject_changes_once_it_is_long_enough() -> None:
    some = row([5, 5, 5, 5, 5, 5], [0.1, 0.9, 0.1, 0.9, 0.9])

    chunks = chunked(*some, ChunkingParams(0.5, 10, 100))

    assert [(15, Reason.START), (15, Reason.SEMANTIC)] == shape(chunks)


def test_a_chunk_that_is_full_ends_anywhere() -> None:
    chunks = chunked(*row([5] * 6), ChunkingParams(0.5, 5, 15))

    assert [(15, Reason.START), (15, Reason.MAX_SIZE)] == shape(chunks)


def test_a_similarity_at_the_threshold_is_no_break() -> None:
    chunks = chunked(*row([5, 5], [0.5]), ChunkingParams(0.5, 1, 100))

    assert [(10, Reason.START)] == shape(chunks)


def test_a_short_tail_joins_the_chunk_before_it() -> None:
    chunks = chunked(*row([10, 10, 3], [0.9, 0.1]), ChunkingParams(0.5, 10, 100))

    assert [(23, Reason.START)] == shape(chunks)


def test_a_tail_that_does_not_fit_is_made_longer_where_the_texts_are_least_alike() -> None:
    some = row([5, 5, 5, 5, 5], [0.9, 0.8, 0.6, 0.9])

    chunks = chunked(*some, ChunkingParams(0.5, 8, 20))

    assert [(15, Reason.START), (10, Reason.MAX_SIZE)] == shape(chunks)


def test_a_tail_stays_short_where_nothing_else_can_be() -> None:
    chunks = chunked(*row([10, 10, 3]), ChunkingParams(0.5, 10, 20))

    assert [(10, Reason.START), (13, Reason.MAX_SIZE)] == shape(chunks)
    assert [(20, Reason.START), (3, Reason.MAX_SIZE)] == shape(chunked(*row([20, 3]), ChunkingParams(0.5, 10, 20)))


def test_a_text_without_sentences_has_no_chunks() -> None:
    assert () == chunked((), (), ChunkingParams())


def test_a_short_text_is_one_chunk() -> None:
    assert [(7, Reason.START)] == shape(chunked(*row([7]), ChunkingParams()))


def test_similarities_that_do_not_fit_the_sentences_are_a_mistake() -> None:
    with pytest.raises(ValueError, match=r"number of sentences \(3\)"):
        chunked(row([1, 1, 1])[0], [0.5], ChunkingParams())


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((1.01, 200, 1200), "threshold must be a number from 0 to 1, not 1.01"),
        ((-0.1, 200, 1200), "threshold"),
        ((math.nan, 200, 1200), "threshold"),
        ((0.5, 0, 1200), "at least 1 word, not 0"),
        ((0.5, 300, 299), "must not be below the minimum"),
        ((0.5, 200, 10**12), "at most 1,000,000 words"),
    ],
)
def test_values_that_make_no_sense_are_refused(values: tuple[float, int, int], said: str) -> None:
    with pytest.raises(RequestRefused, match=said):
        ChunkingParams(*values)


def test_the_limits_themselves_are_allowed() -> None:
    assert (0, 1) == (ChunkingParams(0, 1, 1).threshold, ChunkingParams(1, 1, 1_000_000).threshold)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40), st.integers(1, 60))
def test_chunks_of_a_recording_are_whole_sentences_within_the_limit_of_time(lasting: list[int], seconds: int) -> None:
    found, _ = row([1] * len(lasting))
    since = [sum(lasting[:place]) for place in range(len(lasting) + 1)]

    chunks = timed_chunks(found, [float(each) for each in since], seconds)

    borders = [chunk.start // 10 for chunk in chunks] + [len(found)]
    assert 0 == borders[0]
    assert all(one.end == other.start for one, other in pairwise(chunks))
    assert all(
        since[end] - since[start] <= seconds or end - start == 1 or max(lasting[start:end]) > seconds
        for start, end in pairwise(borders)
    )
    assert len(found) == sum(chunk.words for chunk in chunks)
