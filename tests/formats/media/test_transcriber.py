"""Recordings in windows: each is transcribed once, and long silence ends one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from attrs import define, field
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.formats.media import transcriber as module
from citekit.adapters.formats.media.transcriber import WhisperTranscriber
from citekit.adapters.libraries import speech_models
from citekit.adapters.libraries.faster_whisper import (
    MAX_GAP,
    RATE,
    WINDOW,
    FasterWhisper,
    RecognizedPassage,
    RecognizedWord,
    joined,
    passages_of,
)
from citekit.adapters.libraries.speech_models import SpeechModel, chosen_model, model_in
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.domain.errors import MapperUnavailable
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.speech import Speech, SpokenPassage, SpokenWord
from tests.formats.media.media_samples import ffmpeg
from tests.formats.media.speech_samples import CLIP, SAID, needs_speech, small_model, source_at, write_sound

if TYPE_CHECKING:
    from citekit.adapters.libraries.faster_whisper import Samples


@define
class Loud:
    """An engine that hears a word wherever the sound is loud, and fails after some windows."""

    fails_after: int = 1 << 30
    heard: list[float] = field(factory=list)
    searched: int = 0

    def windows(self, samples: Samples) -> list[tuple[int, int]]:
        self.searched += 1
        found: list[tuple[int, int]] = []
        loud = abs(samples) > 0.1
        edges = [0, *(loud[1:] != loud[:-1]).nonzero()[0].tolist(), len(samples)]
        for start, end in pairwise(edges):
            if end > start + 1 and loud[start + 1]:
                found.append((start, end))
        return found

    def recognize(self, samples: Samples, language: str | None, expected: str | None) -> list[RecognizedPassage]:
        if len(self.heard) >= self.fails_after:
            raise MapperUnavailable("It failed.")
        self.heard.append(len(samples) / RATE)
        word = RecognizedWord(0.0, len(samples) / RATE, f" word{len(self.heard)}", 0.9)
        return [RecognizedPassage([word], language or expected or "de", False)]


def beeps(path: Path, spans: Sequence[tuple[int, int]], end: int) -> Path:
    """A recording of `end` seconds that is loud in `spans` (in seconds)."""
    rate = 1000
    loud = [any(start * rate <= each < stop * rate for start, stop in spans) for each in range(end * rate)]
    return write_sound(path, (20_000 if each else 0 for each in loud), rate)


def test_windows_have_their_times_in_the_recording_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 5)
    path = beeps(tmp_path / "beeps.wav", [(1, 2), (4, 7), (12, 13)], 15)

    speech = WhisperTranscriber(Loud(), "m", "f").transcribe(source_at(path))

    assert [(1, 2), (4, 7), (12, 13)] == [(round(each.start, 1), round(each.end, 1)) for each in speech.passages]


def test_an_interrupted_run_continues_where_it_ended(tmp_path: Path) -> None:
    source = source_at(beeps(tmp_path / "beeps.wav", [(1, 2), (4, 7), (12, 14)], 15))
    index = Index(tmp_path / "index")
    with pytest.raises(MapperUnavailable):
        WhisperTranscriber(Loud(fails_after=2), "m", "f", index=index).transcribe(source)

    engine = Loud()
    speech = WhisperTranscriber(engine, "m", "f", index=index).transcribe(source)

    assert 3 == len(speech.passages)
    assert [2] == [round(seconds) for seconds in engine.heard]


def test_an_interrupted_search_for_speech_continues_where_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 5)
    source = source_at(beeps(tmp_path / "beeps.wav", [(1, 2), (12, 14), (26, 29)], 30))
    index = Index(tmp_path / "index")
    with pytest.raises(MapperUnavailable):
        WhisperTranscriber(Loud(fails_after=2), "m", "f", index=index).transcribe(source)

    engine = Loud()
    speech = WhisperTranscriber(engine, "m", "f", index=index).transcribe(source)

    assert [(1, 2), (12, 14), (26, 29)] == [(round(each.start), round(each.end)) for each in speech.passages]
    assert 0 == engine.searched, "the interrupted run had searched all blocks"


@pytest.mark.parametrize(("model", "language"), [("other", "de"), ("f", "en")])
def test_another_model_or_language_is_asked_again(tmp_path: Path, model: str, language: str) -> None:
    source = source_at(beeps(tmp_path / "beeps.wav", [(1, 2)], 3))
    index = Index(tmp_path / "index")
    WhisperTranscriber(Loud(), "m", "f", "de", index).transcribe(source)

    engine = Loud()
    WhisperTranscriber(engine, "m", model, language, index).transcribe(source)

    assert 1 == len(engine.heard)


def test_the_language_tag_of_a_recording_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "tagged.mkv"
    beeps(tmp_path / "beeps.wav", [(1, 2)], 3)
    ffmpeg("-i", str(tmp_path / "beeps.wav"), "-c", "copy", "-metadata:s:a:0", "language=jpn", str(path))

    speech = WhisperTranscriber(Loud(), "m", "f").transcribe(source_at(path))

    assert ["de"] == [each.language for each in speech.passages]


def test_each_passage_has_the_language_that_is_spoken_in_it(tmp_path: Path) -> None:
    @define
    class Polyglot(Loud):
        def recognize(self, samples: Samples, language: str | None, expected: str | None) -> list[RecognizedPassage]:
            detected = ["es", "it", "es"][len(self.heard)]
            return super().recognize(samples, language or detected, expected)

    path = beeps(tmp_path / "beeps.wav", [(1, 2), (4, 7), (12, 13)], 15)

    speech = WhisperTranscriber(Polyglot(), "m", "f").transcribe(source_at(path))

    assert ["es", "it", "es"] == [each.language for each in speech.passages]


def test_budgets_are_announced_before_each_window(tmp_path: Path) -> None:
    source = source_at(beeps(tmp_path / "beeps.wav", [(1, 2), (4, 7)], 9))
    announced: list[None] = []

    WhisperTranscriber(Loud(), "m", "f", before=lambda: announced.append(None)).transcribe(source)

    assert 3 == len(announced)


def test_progress_is_reported_while_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 5)
    source = source_at(beeps(tmp_path / "silence.wav", [], 30))
    reports: list[tuple[float, float | None]] = []

    def progress(done: float, total: float | None = None, message: str = "") -> None:
        reports.append((round(done), total))

    WhisperTranscriber(Loud(), "m", "f").transcribe(source, progress)

    assert 5 <= len(reports)
    assert sorted(reports) == reports
    assert {30.0} == {total for _, total in reports}


@given(st.lists(st.integers(1, 40 * RATE), max_size=30))
def test_windows_hold_all_spans_and_no_long_silence(lengths: list[int]) -> None:
    edges = [sum(lengths[: number + 1]) for number in range(len(lengths))]
    spans = [(start, min(end, start + int(WINDOW * RATE))) for start, end in pairwise(edges)][::2]

    windows = joined(spans)

    assert all(end - start <= WINDOW * RATE for start, end in windows)
    assert all(any(start <= one and other <= end for start, end in windows) for one, other in spans)
    assert all(other - one <= MAX_GAP * RATE or (one, other) for (_, one), (other, _) in pairwise(windows))
    assert {start for start, _ in windows} <= {start for start, _ in spans}


WORDS = st.lists(
    st.tuples(st.floats(0, 2), st.floats(0, 3), st.text("abc", min_size=1, max_size=4), st.floats(0, 1)),
    min_size=1,
    max_size=12,
)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_every_word_of_a_transcript_is_found_at_its_time(spoken: list[list[tuple[float, float, str, float]]]) -> None:
    at, passages = 0.0, []
    for words in spoken:
        placed = []
        for gap, length, text, confidence in words:
            placed.append(SpokenWord(at + gap, at + gap + length, f" {text}", confidence))
            at += gap + length
        passages.append(SpokenPassage(words=placed, language="en"))
    speech = Speech(passages=passages, transcriber="t")

    transcript = Transcript.of_speech(speech, Modality.AUDIO, at + 0.5)

    words_said = [word for passage in passages for word in passage.words]
    assert len(words_said) == len(transcript.starts)
    for number, word in enumerate(words_said):
        start, end = transcript.starts[number], transcript.ends[number]
        place = transcript.locate(start, end)
        assert word.text.strip() == transcript.text[start:end]
        assert isinstance(place, TimeSpan)
        assert place.end is not None
        assert place.start <= word.start + 0.002
        assert word.end <= place.end + 0.002
        assert (word.confidence < 0.5) is transcript.doubts(start, end)


@dataclass
class Heard:
    """A segment of faster-whisper whose words are said at an even rate."""

    words: Sequence[object]
    compression_ratio: float = 3.0
    avg_logprob: float = -0.2
    no_speech_prob: float = 0.0


def heard(text: str, words_per_second: float, **figures: float) -> Heard:
    step = 1 / words_per_second
    words = [
        SimpleNamespace(start=place * step, end=(place + 1) * step, word=f" {word}", probability=0.9)
        for place, word in enumerate(text.split())
    ]
    return Heard(words, **figures)


@pytest.mark.parametrize(
    ("said", "rate", "kept"),
    [
        ("We will win. We will win. We will win.", 3.0, "We will win. We will win. We will win."),
        ("We will win. We will win. We will win.", 9.0, "We will win."),
        ("Then " + "bye " * 30 + "all", 3.0, "Then bye all"),
        ("no " * 8 + "never", 3.0, "no " * 8 + "never"),
        ("so they said " * 9, 4.0, "so they said"),
    ],
)
def test_only_repeats_that_nobody_can_say_are_left_out(said: str, rate: float, kept: str) -> None:
    (passage,) = passages_of([heard(said, rate)], "en", 60)

    assert kept.split() == [word.text.strip() for word in passage.words]
    assert passage.is_doubtful


def test_words_that_do_not_repeat_are_certain_at_any_rate() -> None:
    (passage,) = passages_of([heard("ha ha ha ha", 9.0, compression_ratio=1.2)], "en", 60)

    assert 4 == len(passage.words)
    assert not passage.is_doubtful


def test_quotes_do_not_cross_a_long_pause() -> None:
    words = [SpokenWord(0, 1, " One.", 0.9), SpokenWord(60, 61, " Two.", 0.9)]
    speech = Speech(passages=[SpokenPassage(words=[each], language="en") for each in words], transcriber="t")

    transcript = Transcript.of_speech(speech, Modality.AUDIO, 70)

    assert "One.\n\ufdd1\nTwo." == transcript.text
    assert TimeSpan(0.0, 1.15, Modality.AUDIO) == transcript.locate(0, 4)


def test_a_folder_without_a_model_is_refused_by_its_missing_files(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"x")

    with pytest.raises(MapperUnavailable, match=r"Missing: .*config\.json, tokenizer\.json, vocabulary\.json"):
        model_in(tmp_path)
    with pytest.raises(MapperUnavailable, match=r"There is no folder .*nowhere"):
        chosen_model(str(tmp_path / "nowhere"))


def test_a_model_that_is_not_downloaded_is_refused_with_the_command_that_downloads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(MapperUnavailable, match=r"To download it, run: citekit models get small$"):
        chosen_model("small", tmp_path / "models")


def test_without_an_installed_model_none_is_searched_for_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.json"):
        (tmp_path / name).write_bytes(b"{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(speech_models, "PACKAGED", ())

    with pytest.raises(MapperUnavailable, match="No speech model is installed"):
        chosen_model("")


def test_a_model_that_cannot_be_read_is_a_sentence_without_numbers(tmp_path: Path) -> None:
    gone = tmp_path / "model.bin"

    with pytest.raises(MapperUnavailable, match="No such file or directory") as raised:
        SpeechModel("small", {"model.bin": [gone]}).read("model.bin")

    assert "Errno" not in str(raised.value)
    assert str(gone) in str(raised.value)
    assert "Check its files and their permissions" in str(raised.value)


def test_a_divided_model_is_read_as_one_and_known_by_its_content(tmp_path: Path) -> None:
    for name, data in (("model.bin.part1", b"ab"), ("model.bin.part2", b"cd"), ("model.bin.part10", b"ef")):
        (tmp_path / name).write_bytes(data)
    for name in ("config.json", "tokenizer.json", "vocabulary.json"):
        (tmp_path / name).write_text("{}")

    model = model_in(tmp_path)
    before = model.fingerprint
    (tmp_path / "model.bin.part2").write_bytes(b"ce")

    assert b"abceef" == model.read("model.bin")
    assert model.folder is None
    assert before != model.fingerprint


@needs_speech
def test_a_damaged_model_is_one_clear_error(tmp_path: Path) -> None:
    model = small_model()
    for name, paths in model.files.items():
        (tmp_path / name).write_bytes(paths[0].read_bytes()[:100_000] if name == "model.bin" else paths[0].read_bytes())
    damaged = model_in(tmp_path)

    with pytest.raises(MapperUnavailable, match=r"Speech recognition \(faster-whisper\) failed with the model"):
        WhisperTranscriber(FasterWhisper(damaged), damaged.name, damaged.fingerprint).transcribe(source_at(CLIP))


@needs_speech
def test_a_language_that_the_model_does_not_know_is_one_clear_error() -> None:
    model = small_model()
    transcriber = WhisperTranscriber(FasterWhisper(model), model.name, model.fingerprint, "fr")

    with pytest.raises(
        MapperUnavailable, match=r"tiny\.en does not support the language 'fr'\. It supports only English\. Set"
    ):
        transcriber.transcribe(source_at(CLIP))


@pytest.mark.long
@needs_speech
@pytest.mark.parametrize("memory", ["150M", "300M"])
def test_too_little_memory_for_a_model_is_one_clear_error(tmp_path: Path, memory: str) -> None:
    """The limits suffice neither for the model that finds speech nor for the one that recognizes it."""
    command = [sys.executable, "-m", "citekit", "--home", str(tmp_path), "ingest", str(CLIP)]
    chosen = {"CITEKIT_PARSER_MEMORY": memory, "CITEKIT_SPEECH_MODEL": small_model().name}
    chosen["CITEKIT_PARSERS"] = "subprocess"

    done = subprocess.run(
        command, env={**os.environ, **chosen}, capture_output=True, text=True, timeout=300, check=False
    )

    assert 1 == done.returncode
    assert "There is not enough memory for the speech model" in done.stderr
    assert 1 == done.stderr.count("Error: ")


@pytest.mark.slow
@needs_speech
def test_a_model_in_memory_recognizes_without_network_or_output() -> None:
    """It runs in a process of its own, because only there is nothing loaded."""
    program = f"""
import socket, sys
def refuse(*_, **__): raise AssertionError("the network was used")
socket.socket.connect = refuse
from tests.formats.media.speech_samples import CLIP, small_model, source_at
from citekit.adapters.formats.media.transcriber import WhisperTranscriber
from citekit.adapters.libraries.faster_whisper import FasterWhisper
from citekit.adapters.libraries.speech_models import SpeechModel
whole = small_model()
class Held(SpeechModel):
    folder = None
model = Held(whole.name, whole.files)
found = WhisperTranscriber(FasterWhisper(model), model.name, model.fingerprint).transcribe(source_at(CLIP))
assert [each.text for each in found.passages] == [{SAID!r}], found
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
