"""What everybody promises who transcribes recordings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from citekit.adapters.libraries.speech_models import packaged_models
from citekit.container import Container, bootstrap
from citekit.domain.errors import Cancelled, SourceUnsupported
from citekit.domain.ports.transcriber import Transcriber
from citekit.domain.source import Source
from citekit.domain.speech import Speech
from citekit.settings import Settings
from tests.formats.media.speech_samples import CLIP, MODEL, SAID, needs_speech, samples_of, source_at, write_sound
from tests.services import gemini_server, openai_server
from tests.services.listeners import heard_by_gemini, heard_by_whisper

pytestmark = needs_speech
SERVICES = {"openai": "whisper-1", "gemini": "gemini-3.8-flash"}
HOW = ("inline", *(pytest.param(name, marks=pytest.mark.long) for name in ("subprocess", *SERVICES)))
"""A child loads the model again, and so do the services."""


@pytest.fixture(scope="module", params=HOW)
def how(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def _server(how: str) -> Iterator[dict[str, Any]]:
    """A service that recognizes speech, and the settings with which it is asked; none if `how` needs none."""
    if how == "openai":
        pytest.importorskip("openai", reason="needs the extra 'openai'")
        with openai_server.OpenAiServer(transcribe=heard_by_whisper) as one:
            yield {"openai_base_url": one.url, "openai_key": openai_server.KEY}
    elif how == "gemini":
        pytest.importorskip("google.genai", reason="needs the extra 'gemini'")
        with gemini_server.gemini_server() as other:
            other.hear = heard_by_gemini
            yield {"base_url": other.url, "gemini_key": gemini_server.KEY}
    else:
        yield {}


@pytest.fixture(scope="module")
def app(how: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    with _server(how) as server:
        settings = Settings(
            home=tmp_path_factory.mktemp("home"),
            parsers="inline" if how == "inline" else "subprocess",
            speech_model="" if how in SERVICES else MODEL,
            speech_service=f"{how}:{SERVICES[how]}" if how in SERVICES else "",
            speech_language="en",
            mapper="local",
        )
        made = bootstrap(evolve(settings, **server))
        yield made
        if made.workers is not None:
            made.workers.close()


@pytest.fixture(scope="module")
def transcriber(app: Container) -> Transcriber:
    assert app.transcriber is not None
    return app.transcriber


@pytest.fixture(scope="module")
def clip() -> Source:
    return source_at(CLIP)


@pytest.fixture(scope="module")
def speech(transcriber: Transcriber, clip: Source) -> Speech:
    return transcriber.transcribe(clip)


def test_the_words_are_those_that_are_said(speech: Speech) -> None:
    assert SAID == " ".join(passage.text for passage in speech.passages)
    assert {"en"} == {passage.language for passage in speech.passages}


def test_words_are_in_order_and_inside_the_recording(speech: Speech) -> None:
    words = [word for passage in speech.passages for word in passage.words]

    assert all(0 <= word.start <= word.end <= 5.31 and 0 <= word.confidence <= 1 for word in words)
    assert all(one.end <= other.start for one, other in pairwise(words))


def test_the_same_recording_gives_the_same_words(transcriber: Transcriber, clip: Source, speech: Speech) -> None:
    assert speech == transcriber.transcribe(clip)


def test_the_speech_and_the_version_name_the_model(how: str, transcriber: Transcriber, speech: Speech) -> None:
    model = SERVICES.get(how, MODEL)
    assert transcriber.name.endswith(f" ({model})")
    assert speech.transcriber.removesuffix("; times only for passages)").removesuffix(")") == transcriber.name[:-1]
    fingerprint = next(each.fingerprint for each in packaged_models() if each.name == MODEL)
    assert (model if how in SERVICES else fingerprint) in transcriber.version


@pytest.mark.parametrize("sound", ["silence", "tone"])
def test_nothing_is_invented(transcriber: Transcriber, tmp_path: Path, sound: str) -> None:
    volume = 0 if sound == "silence" else 8000
    path = write_sound(tmp_path / "sound.wav", (round(volume * math.sin(each / 6)) for each in range(16_000)))

    assert () == transcriber.transcribe(source_at(path)).passages


@pytest.mark.long
def test_a_sentence_that_is_said_three_times_is_heard_three_times(transcriber: Transcriber, tmp_path: Path) -> None:
    path = write_sound(tmp_path / "repeated.wav", 3 * list(samples_of(CLIP)))

    speech = transcriber.transcribe(source_at(path))

    assert 3 == " ".join(passage.text for passage in speech.passages).count("Unless to be rather cold-hearted")
    assert all(passage.is_doubtful for passage in speech.passages), "the model may have repeated itself"


def test_a_tune_of_a_minute_gives_no_certain_words(transcriber: Transcriber, tmp_path: Path) -> None:
    notes = (262, 330, 392, 523, 392, 330)
    tune = (
        round(9000 * math.sin(2 * math.pi * notes[each // 8000 % 6] * each / 16_000) * (1 - each % 8000 / 8000))
        for each in range(60 * 16_000)
    )

    speech = transcriber.transcribe(source_at(write_sound(tmp_path / "tune.wav", tune)))

    assert all(passage.is_doubtful for passage in speech.passages)


def test_a_file_that_cannot_be_played_is_unsupported(transcriber: Transcriber, tmp_path: Path) -> None:
    path = tmp_path / "broken.wav"
    path.write_bytes(b"RIFF0000WAVEfmt ")

    with pytest.raises(SourceUnsupported, match=r"broken\.wav"):
        transcriber.transcribe(source_at(path))


def test_it_can_be_cancelled(transcriber: Transcriber, tmp_path: Path) -> None:
    path = tmp_path / "another.ogg"
    path.write_bytes(CLIP.read_bytes() + b"\0")  # a recording that was never transcribed

    def stop(done: float, total: float | None = None, message: str = "") -> None:
        raise Cancelled("Enough.")

    with pytest.raises(Cancelled):
        transcriber.transcribe(source_at(path), stop)
