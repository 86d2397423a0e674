"""What is said and what is shown are one text for retrieval, in the order of time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.quotes.superscripts import CUT
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.screen_text import ScreenLine, ScreenText, Slide
from citekit.domain.speech import Speech, SpokenPassage, SpokenWord


def speech(*passages: tuple[float, str]) -> Transcript:
    """What is said, a word every half second from the start of each passage."""
    spoken = [
        SpokenPassage(
            words=[SpokenWord(at + n / 2, at + n / 2 + 0.4, f" {word}", 0.9) for n, word in enumerate(text.split())],
            language="en",
        )
        for at, text in passages
    ]
    return Transcript.of_speech(Speech(passages=spoken, transcriber="t"), Modality.VIDEO, 1000.0)


def screen(*slides: tuple[float, float, str]) -> Transcript:
    shown = [
        Slide(start=start, end=end, title=text, lines=[ScreenLine(start, end, text)]) for start, end, text in slides
    ]
    return Transcript.of_screen(ScreenText(slides=shown, reader="r"), Modality.VIDEO)


def test_slides_are_between_the_sentences_over_which_they_appear() -> None:
    said = speech((1, "We count bees."), (12, "They like honey."))

    both = said.with_screen(screen((0, 10, "Goal"), (10, 30, "Food")))

    assert f"Goal\n{CUT}\nWe count bees.\n{CUT}\nFood\n{CUT}\nThey like honey." == both.text
    at = both.text.index("Food")
    assert TimeSpan(10, 11.85, Modality.VIDEO) == both.locate(at, at + 4)
    assert [text for _, _, text in both.cues()] == ["Goal", "We count bees.", "Food", "They like honey."]


@given(
    st.lists(st.tuples(st.floats(0.1, 9), st.integers(1, 6)), min_size=1, max_size=8),
    st.lists(st.tuples(st.floats(0.1, 20), st.floats(0.1, 40)), min_size=1, max_size=8),
)
def test_times_never_decrease_and_all_text_is_there(
    said: list[tuple[float, int]], shown: list[tuple[float, float]]
) -> None:
    at, passages = 0.0, []
    for pause, count in said:
        passages.append((at + pause, " ".join(["word"] * count)))
        at += pause + count / 2
    at, slides = 0.0, []
    for number, (pause, length) in enumerate(shown):
        slides.append((at + pause, at + pause + length, f"slide{number}"))
        at += pause
    spoken = speech(*passages)

    both = spoken.with_screen(screen(*slides))

    assert all(one <= other + 1e-9 for one, other in pairwise(both.since))
    assert all(start < end for start, end in zip(both.since, both.until, strict=True))
    words = [both.text[start:end] for start, end in zip(both.starts, both.ends, strict=True)]
    assert sum(count for _, count in said) == words.count("word")
    assert {f"slide{number}" for number in range(len(shown))} == set(words) - {"word"}
