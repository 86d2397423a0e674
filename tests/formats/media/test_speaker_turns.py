"""Speakers that are distinguished by their voices: turns, and the same words."""

from __future__ import annotations

from array import array
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit.adapters.formats.media import transcriber as module
from citekit.adapters.formats.media.speaker_turns import SpeakerTurns, speakers_of
from citekit.adapters.libraries.voice_encoder import SIZE, STRETCH, VoiceEncoder
from citekit.container import bootstrap
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.domain.speech import Speech, SpokenPassage, SpokenWord
from citekit.settings import settings_from
from tests.formats.media.speech_samples import CLIP, MODEL, needs_speech, samples_of, source_at, write_sound

numpy = pytest.importorskip("numpy", reason="needs the extra 'speech'")
RATE = 16_000


@define
class Heard:
    """A transcriber that hears the same words in every recording."""

    words: tuple[SpokenWord, ...]
    name: str = "scripted 1"
    version: str = "scripted 1"

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        passages = [SpokenPassage(words=self.words, language="en")] if self.words else []
        return Speech(passages=passages, transcriber=self.name)


@define
class Said:
    """A transcriber that has heard a recording before."""

    speech: Speech
    version: str = "scripted 1"

    @property
    def name(self) -> str:
        return self.speech.transcriber

    def transcribe(self, source: Source, progress: Progress = silent) -> Speech:
        return self.speech


def words_of(*spans: tuple[float, float]) -> tuple[SpokenWord, ...]:
    """Words of half a second that fill the spans."""
    return tuple(
        SpokenWord(start + each / 2, start + each / 2 + 0.5, f" word{each}", 0.9)
        for start, end in spans
        for each in range(round((end - start) * 2))
    )


@pytest.fixture(scope="module")
def encoder() -> VoiceEncoder:
    return VoiceEncoder()


@pytest.fixture(scope="module")
def two_voices(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """A reader for 5 s, then a deeper voice, which is the same sound at two thirds of its speed, for 8 s; both again."""
    one = array("h", samples_of(CLIP))[: 5 * RATE]
    other = array("h", (one[each * 5 // 8] for each in range(8 * RATE)))
    return source_at(write_sound(tmp_path_factory.mktemp("sound") / "two.wav", [*one, *other, *one, *other]))


@pytest.fixture(scope="module")
def turns(encoder: VoiceEncoder, two_voices: Source) -> Speech:
    return SpeakerTurns(Heard(words_of((0, 26))), encoder).transcribe(two_voices)


def test_turns_of_two_voices_are_named_in_the_order_in_which_they_begin(turns: Speech) -> None:
    assert ["Speaker 1", "Speaker 2", "Speaker 1", "Speaker 2"] == [each.voice for each in turns.passages]
    assert words_of((0, 26)) == tuple(word for each in turns.passages for word in each.words)
    assert [each.start for each in turns.passages] == pytest.approx([0, 5, 13, 18], abs=1)


def test_one_voice_is_not_named(encoder: VoiceEncoder, tmp_path: Path) -> None:
    alone = source_at(write_sound(tmp_path / "one.wav", samples_of(CLIP)))

    made = SpeakerTurns(Heard(words_of((0, 5))), encoder).transcribe(alone)

    assert [""] == [each.voice for each in made.passages]


def test_a_block_of_sound_may_end_inside_a_turn(
    encoder: VoiceEncoder, two_voices: Source, turns: Speech, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 10)

    made = SpeakerTurns(Heard(words_of((0, 26))), encoder).transcribe(two_voices)

    assert [each.voice for each in turns.passages] == [each.voice for each in made.passages]


def test_words_after_the_sound_and_no_words_are_no_error(encoder: VoiceEncoder, tmp_path: Path) -> None:
    late, short = words_of((100, 103)), source_at(write_sound(tmp_path / "short.wav", bytes(2 * RATE)))

    assert late == SpeakerTurns(Heard(late), encoder).transcribe(short).passages[0].words
    assert () == SpeakerTurns(Heard(()), encoder).transcribe(short).passages


def test_the_map_has_the_turns_and_says_that_they_may_be_wrong(
    turns: Speech, two_voices: Source, tmp_path: Path
) -> None:
    app = bootstrap(home=tmp_path, transcriber=Said(turns))

    made = app.ingest(two_voices.path).resource_map

    assert any("distinguished by their voices" in note for note in made.metadata["notes"])
    turns_made = [node.title for topic in made.nodes for node in topic.children if node.type == "turn"]
    assert ["Speaker 1", "Speaker 2"] == [title.split(":")[0] for title in turns_made[:2]]


@pytest.mark.long
@needs_speech
@pytest.mark.parametrize("parsers", ["subprocess", "inline"])
@pytest.mark.parametrize(("chosen", "voices"), [("on", True), ("off", False)])
def test_turns_can_be_turned_off(tmp_path: Path, two_voices: Source, chosen: str, voices: bool, parsers: str) -> None:
    wanted = {"CITEKIT_SPEAKERS": chosen, "CITEKIT_SPEECH_MODEL": MODEL, "CITEKIT_PARSERS": parsers}
    app = bootstrap(settings_from(wanted, str(tmp_path)))

    made = app.ingest(two_voices.path).resource_map

    assert "cold" in str(made), "the words are recognized"
    assert voices is ("Speaker 1" in str(made))
    assert voices is any("distinguished by their voices" in note for note in made.metadata["notes"])


@given(st.floats(0, 100))
def test_stretches_of_the_model_cover_the_sound(seconds: float) -> None:
    starts = VoiceEncoder().starts(seconds)

    assert 0 == starts[0]
    assert starts[-1] == max(0.0, seconds - STRETCH)
    assert all(0 < other - one <= 0.4 + 1e-9 for one, other in pairwise(starts))


@settings(max_examples=10)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(8, 300)), min_size=1, max_size=6), st.integers(0, 9))
def test_clusters_are_the_voices_however_long_the_recording(turns: list[tuple[int, int]], seed: int) -> None:
    truth = [voice for voice, count in turns for _ in range(count)]
    random = numpy.random.default_rng(seed)
    vectors: Any = numpy.zeros((len(truth), SIZE), "float32")
    vectors[range(len(truth)), [80 * voice for voice in truth]] = 1
    vectors += random.uniform(0, 0.03, vectors.shape)
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)

    found = speakers_of(vectors.astype("float32"), [0] * len(truth))

    assert len(set(zip(truth, found, strict=True))) == len(set(truth)) == len(set(found))
