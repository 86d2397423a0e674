"""One ranking of what meaning and words found."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.library.fusion import DEFAULT, WORDS_ALONE, Calibration, calibration_of, fuse, mixed, share_of
from citekit.domain.library.vectors import Found, Scored

groups = st.sampled_from("abcdefgh")
dense = st.builds(Scored, st.uuids().map(str), groups, st.floats(-1, 1))
lexical = st.builds(lambda group, score: Scored(group, group, score), groups, st.floats(0, 9, exclude_min=True))
founds = st.builds(
    Found,
    st.lists(dense, max_size=12, unique_by=lambda each: each.id),
    st.lists(lexical, max_size=8, unique_by=lambda each: each.id),
    st.just(9.0),
    st.floats(0, 1),
)


@given(founds, st.integers(0, 12))
def test_every_chunk_that_was_found_is_ranked_once_and_best_first(found: Found, limit: int) -> None:
    ranked = fuse(found, limit)

    assert len(ranked) == min(limit, len({each.group for each in (*found.dense, *found.lexical)}))
    assert len({each.group for each in ranked}) == len(ranked)
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)
    assert all(0 <= each.score <= 1 for each in ranked)


@given(founds, st.integers(0, 12))
def test_a_shorter_answer_is_the_beginning_of_a_longer_one(found: Found, limit: int) -> None:
    assert fuse(found, limit) == fuse(found, limit + 1)[:limit]


@given(founds)
def test_the_order_in_which_things_were_found_does_not_matter(found: Found) -> None:
    assert fuse(found, 20) == fuse(evolve(found, dense=found.dense[::-1], lexical=found.lexical[::-1]), 20)


def test_a_chunk_stands_for_its_best_passage() -> None:
    found = Found([Scored("p1", "a", 0.4), Scored("p2", "a", 0.7), Scored("p3", "b", 0.5)])

    first, second = fuse(found, 5)

    assert ("a", "p2", 0.7, None) == (first.group, first.passage, first.dense, first.lexical)
    assert ("b", "p3", 0.5, None) == (second.group, second.passage, second.dense, second.lexical)


def test_equal_chunks_come_in_the_order_of_their_ids() -> None:
    found = Found([Scored("2", "b", 0.5), Scored("1", "c", 0.5), Scored("3", "a", 0.5)])

    assert ["a", "b", "c"] == [each.group for each in fuse(found, 3)]


def test_what_both_found_comes_before_what_one_found() -> None:
    found = Found(
        [Scored("p", "both", 0.6), Scored("q", "dense", 0.6)], [Scored("both", "both", 5), Scored("w", "w", 5)], 9
    )

    assert "both" == fuse(found, 3)[0].group


def test_the_score_of_a_hit_does_not_hang_on_the_others() -> None:
    one = Found([Scored("p", "a", 0.6)], [Scored("a", "a", 4.0)], 8.0)
    more = evolve(one, dense=[*one.dense, Scored("q", "b", 0.9)], lexical=[*one.lexical, Scored("b", "b", 7.0)])

    assert fuse(one, 1)[0] == fuse(more, 2)[1]


def test_words_that_stand_nowhere_lower_the_share_that_is_answered() -> None:
    found = Found([Scored("p", "a", 0.3)], [Scored("a", "a", 8.0)], 8.0)

    assert 1.0 == fuse(found, 1)[0].lexical
    assert 0.25 == fuse(evolve(found, known=0.25), 1)[0].lexical
    assert fuse(evolve(found, known=0.25), 1)[0].score < fuse(found, 1)[0].score


def test_a_chunk_out_of_reach_of_the_vectors_counts_as_the_farthest_that_was_reached() -> None:
    reached = Found([Scored("p", "a", 0.6), Scored("q", "b", 0.2)], [Scored("c", "c", 5.0)], 9.0)
    known = Found([Scored("p", "a", 0.6), Scored("q", "b", 0.2), Scored("r", "c", 0.2)], [Scored("c", "c", 5.0)], 9.0)

    scores = {each.group: each.score for each in fuse(reached, 3)}

    assert {each.group: each.score for each in fuse(known, 3)} == scores
    assert [None] == [each.dense for each in fuse(reached, 3) if each.group == "c"]


@pytest.mark.parametrize(
    ("words", "cosine", "good"), [(8.0, 0.5, True), (0.0, 0.9, True), (1.0, 0.1, False), (2.0, 0.2, False)]
)
def test_a_good_hit_scores_above_one_half_and_a_poor_one_below(words: float, cosine: float, good: bool) -> None:
    found = Found([Scored("p", "a", cosine)], [Scored("a", "a", words)] if words else [], 8.0)

    assert good == (fuse(found, 1)[0].score > 0.5)


def test_words_alone_have_a_scale_of_their_own() -> None:
    full, half = (
        Found(lexical=[Scored("a", "a", 8.0)], ceiling=8.0),
        Found(lexical=[Scored("a", "a", 2.0)], ceiling=8.0),
    )

    assert WORDS_ALONE.score(1.0) == fuse(full, 1)[0].score > 0.9
    assert fuse(half, 1)[0].score < 0.5


def test_nothing_found_is_nothing_ranked() -> None:
    assert () == fuse(Found(), 10)


def test_evidence_beyond_all_bounds_is_still_a_score() -> None:
    assert 1.0 == Calibration(1, 0, 1e9).score(1e300)
    assert Calibration(1, 0, 1e9).score(-1e300) < 1e-20


def test_a_joined_embedder_is_known_by_its_parts_whatever_their_order_and_weights() -> None:
    joined = calibration_of("wordllama-l2-supercat*0.4+all-minilm-l6-v2-int8*0.6")

    assert joined == calibration_of("all-minilm-l6-v2-int8*0.7+wordllama-l2-supercat*0.3")
    assert joined not in (calibration_of("wordllama-l2-supercat"), calibration_of("all-minilm-l6-v2-int8"))
    assert DEFAULT == calibration_of("text-embedding-4-huge")


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_mixed_score_is_between_both_and_rises_with_each(page: float, chunk: float, share: float) -> None:
    score = mixed(page, chunk, share)

    assert min(page, chunk) - 1e-4 <= score <= max(page, chunk) + 1e-4
    assert mixed(min(1.0, page + 0.1), chunk, share) >= score <= mixed(page, min(1.0, chunk + 0.1), share)


def test_only_embedders_that_may_know_more_than_the_ranking_of_pages_count() -> None:
    static, mini = "wordllama-l2-supercat", "all-minilm-l6-v2-int8"
    names = (static, mini, f"{static}*0.4+{mini}*0.6", "hashing", "use-multilingual-v3", "text-embedding-3-small")

    assert [0, 0, 0, 0, 0.65, 0.65] == [share_of(name) for name in names]
