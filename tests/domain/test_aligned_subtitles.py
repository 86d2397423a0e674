"""The words of subtitles get the times at which a transcriber heard them, and their text stays as it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.modality import Modality
from citekit.domain.quotes.aligned_subtitles import aligned
from citekit.domain.quotes.transcript import MARGIN, TIMED, Transcript
from citekit.domain.speech import Speech, SpokenPassage, SpokenWord

WORDS = st.sampled_from(
    ["the", "bees", "leave", "an", "old", "hive", "in", "May", "because", "winter", "food", "is", "honey"]
)


def heard(*words: tuple[float, float, str]) -> Speech:
    spoken = [SpokenWord(start, end, f" {word}", 0.9) for start, end, word in words]
    return Speech(passages=[SpokenPassage(words=spoken, language="en")] if spoken else [], transcriber="t")


def subtitles(*cues: tuple[float, float, str]) -> Transcript:
    return Transcript.of(cues, Modality.AUDIO)


def times_of(text: Transcript, quote: str) -> tuple[float, float]:
    at = text.text.index(quote)
    location = text.locate(at, at + len(quote))
    return location.start, location.end  # type: ignore[union-attr, return-value]


def test_a_quote_has_the_times_of_its_words_although_one_was_misheard() -> None:
    speech = heard((2, 2.3, "The"), (2.4, 2.8, "peas"), (3, 3.5, "leave"), (3.6, 4, "in"), (5, 5.5, "may"))
    found = aligned(subtitles((1, 7, "The bees leave in May.")), speech)

    assert (3.0, 4 + MARGIN) == pytest.approx(times_of(found, "leave in"), abs=0.06)
    assert (2.3, 3.0) == pytest.approx(times_of(found, "bees"), abs=MARGIN)
    assert (4.85, 5.65) == pytest.approx(times_of(found, "May."), abs=0.01)
    assert TIMED.format("t") == found.note


def test_a_subtitle_that_says_something_else_keeps_its_times() -> None:
    found = aligned(subtitles((1, 4, "[A door closes far away]")), heard((2, 2.4, "Hello"), (2.5, 3, "Anna")))

    assert (1, 4) == times_of(found, "door closes")


def test_a_repeated_subtitle_has_the_times_of_its_own_words() -> None:
    speech = heard((1, 1.5, "Come"), (1.6, 2, "here"), (3, 3.5, "come"), (3.6, 4, "here"))
    found = aligned(subtitles((0.5, 2.4, "Come here."), (2.6, 5, "Come here!")), speech)

    assert (3, 4) == pytest.approx(times_of(found, "Come here!"), abs=MARGIN + 0.01)


@given(
    st.lists(st.tuples(st.floats(0.1, 5), st.lists(WORDS, min_size=1, max_size=6)), min_size=1, max_size=8),
    st.lists(st.tuples(st.floats(0, 2), st.floats(0.05, 1), WORDS), max_size=40),
)
def test_the_text_stays_and_every_part_has_a_place(
    shown: list[tuple[float, list[str]]], said: list[tuple[float, float, str]]
) -> None:
    at, cues = 0.0, []
    for length, words in shown:
        cues.append((at, at + length, " ".join(words)))
        at += length
    at, spoken = 0.0, []
    for pause, length, word in said:
        spoken.append((at + pause, at + pause + length, word))
        at += pause + length
    plain = subtitles(*cues)
    found = aligned(plain, heard(*spoken))

    assert plain.text == found.text
    assert all(start < end for start, end in zip(found.since, found.until, strict=True))
    assert all(one <= other for one, other in pairwise(found.starts))
    assert [text for _, _, text in plain.cues()] == [text for _, _, text in found.cues()]
