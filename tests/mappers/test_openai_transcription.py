"""Transcription with OpenAI or a compatible server: what is sent, what is kept, and what fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries import faster_whisper
from citekit.adapters.libraries import openai as driver
from citekit.adapters.libraries.faster_whisper import RATE
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.mappers.llm.openai.transcription import OpenAiSpeech
from citekit.adapters.mappers.llm.speech_languages import language_code
from citekit.adapters.mappers.llm.transcription import AskedTranscriber
from citekit.adapters.system.retry import Retries
from citekit.container import bootstrap
from citekit.domain.address import parse_address
from citekit.domain.errors import HomeUnwritable, MapperUnavailable
from citekit.domain.evidence import Form, Options
from citekit.domain.ports.speech_windows import SpeechWindows
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.transcript import HEARD
from citekit.domain.quotes.verdict_finding import Finding
from citekit.domain.source import Source
from citekit.domain.speech import Speech, SpeechWindow
from citekit.settings import Settings, settings_from
from tests.formats.media.speech_samples import CLIP, source_at, write_sound
from tests.services.openai_server import KEY, OpenAiServer, Step, error, heard_in

pytest.importorskip("openai", reason="needs the extra 'openai'")


@define
class Cut:
    """Windows with those seconds of sound, one every ten seconds, each with samples of its own."""

    seconds: Sequence[float] = (3.0, 2.0)

    def write(self, source: Source, target: Path, progress: Progress = silent) -> list[SpeechWindow]:
        sounds = [bytes([number, 1]) * round(RATE * each) for number, each in enumerate(self.seconds)]
        target.write_bytes(b"".join(sounds))
        return [SpeechWindow(10.0 * number, len(sound) // 2) for number, sound in enumerate(sounds)]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return source_at(write_sound(tmp_path / "talk.wav", (0 for _ in range(40_000)), 1000))


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "index")


def transcriber(
    server: OpenAiServer,
    index: Index,
    seconds: float | None = None,
    windows: Callable[[], SpeechWindows] = Cut,
    **changes: Any,
) -> AskedTranscriber:
    service = OpenAiSpeech(model="whisper-1", key=KEY, base_url=server.url, retries=Retries(count=0))
    return AskedTranscriber(
        service=evolve(service, **changes),
        windows=windows,
        index=index,
        language=changes.get("language"),
        seconds=seconds,
    )


def words_of(speech: Speech) -> list[tuple[float, float, str]]:
    return [(round(word.start, 3), round(word.end, 3), word.text) for each in speech.passages for word in each.words]


def test_words_have_their_punctuation_and_times_in_the_recording(source: Source, index: Index) -> None:
    with OpenAiServer() as server:
        speech = transcriber(server, index, language="en").transcribe(source)

    assert [
        (0.0, 0.5, " Word,"),
        (1.0, 1.5, " number1,"),
        (2.0, 2.5, " number2."),
        (10.0, 10.5, " Word,"),
        (11.0, 11.5, " number1."),
    ] == words_of(speech)
    assert {("en", False)} == {(each.language, each.is_doubtful) for each in speech.passages}
    assert f"OpenAI-compatible server at {server.host} (whisper-1)" == speech.transcriber
    assert ["en", "en"] == [each.body["language"] for each in server.requests]


def test_a_second_run_asks_nothing_and_an_interrupted_one_only_for_what_is_missing(
    source: Source, index: Index, tmp_path: Path
) -> None:
    with OpenAiServer([Step(), error(500, "oops")]) as server:
        with pytest.raises(MapperUnavailable, match=r"failed \(HTTP 500\)"):
            transcriber(server, index).transcribe(source)
        first = transcriber(server, index).transcribe(source)
        again = transcriber(server, index).transcribe(source)
        assert 3 == len(server.requests)
        copy = tmp_path / "copy.wav"
        copy.write_bytes(source.path.read_bytes() + b"\0")
        other = transcriber(server, index).transcribe(source_at(copy))

    assert first == again == other
    assert 3 == len(server.requests), "the same sound in another file"


@pytest.mark.parametrize("change", [{"model": "gpt-4o-transcribe"}, {"language": "de"}])
def test_another_model_or_language_is_asked_again(source: Source, index: Index, change: dict[str, Any]) -> None:
    with OpenAiServer() as server:
        one, other = transcriber(server, index), transcriber(server, index, **change)
        one.transcribe(source)
        asked = len(server.requests)
        other.transcribe(source)

    assert len(server.requests) > asked
    assert one.version != other.version


def test_a_spent_budget_keeps_what_was_paid(source: Source, index: Index) -> None:
    with OpenAiServer() as server:
        with pytest.raises(MapperUnavailable, match=r"limit of 4 seconds .* talk\.wav .*CITEKIT_SPEECH_SECONDS"):
            transcriber(server, index, seconds=4).transcribe(source)
        assert 1 == len(server.requests)
        speech = transcriber(server, index, seconds=4).transcribe(source)

    assert 2 == len(speech.passages)
    assert 2 == len(server.requests)


def test_retries_wait_and_each_attempt_counts(source: Source, index: Index) -> None:
    pauses: list[float] = []
    busy = error(429, "Rate limit reached", "rate_limit_exceeded", retry_after="7")
    with OpenAiServer([busy]) as server:
        retries = Retries(count=1, sleep=pauses.append)
        transcriber(server, index, retries=retries, seconds=8).transcribe(source)

    assert ([7.0], 3) == (pauses, len(server.requests))


@pytest.mark.parametrize(
    ("script", "change", "says"),
    [
        ([], {"model": "whisper-9"}, "has no model 'whisper-9' .*CITEKIT_SPEECH_MODEL"),
        ([], {"key": "sk-wrong"}, r"does not accept the key \(HTTP 401\)"),
        ([error(429, "Slow down")], {}, r"rate-limiting this key .* try again"),
        ([error(429, "You exceeded your current quota", "insufficient_quota")], {}, "no credit left"),
        ([error(503, "Overloaded")], {}, r"failed \(HTTP 503\)"),
        ([Step(manner="drop")], {}, "was lost"),
        ([Step(manner="hang")], {"timeout": 0.2}, r"sent no data for 0\.2 s\. Increase CITEKIT_TIMEOUT"),
        ([Step(body="<html>")], {}, "the answer is not JSON"),
        ([Step(body={"words": []})], {}, "the answer has no text"),
        ([Step(body={"text": "a", "words": [{"word": "a", "start": "x", "end": 1}]})], {}, "is not a number"),
        ([Step(body={"text": "a", "segments": 7})], {}, "'segments' is not a list"),
        ([error(404, "Not found")], {}, "does not offer transcriptions at this address"),
    ],
)
def test_failures_are_one_sentence(
    source: Source, index: Index, script: Sequence[Step], change: dict[str, Any], says: str
) -> None:
    with OpenAiServer(script) as server, pytest.raises(MapperUnavailable, match=says) as failure:
        transcriber(server, index, **change).transcribe(source)

    assert "--" not in str(failure.value)
    assert KEY not in str(failure.value)


def _never() -> SpeechWindows:
    raise AssertionError


def test_openai_without_a_key_is_refused_before_anything_is_cut(source: Source, index: Index) -> None:
    with OpenAiServer() as server, pytest.raises(MapperUnavailable, match="OPENAI_API_KEY is not set") as failure:
        transcriber(server, index, base_url=None, key=None, windows=_never).transcribe(source)

    assert "CITEKIT_SPEECH_MODEL=base" in str(failure.value)


def test_nothing_is_sent_if_answers_cannot_be_kept(source: Source, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with OpenAiServer() as server, pytest.raises(HomeUnwritable, match="Nothing was sent"):
        transcriber(server, Index(tmp_path / "file" / "index")).transcribe(source)

    assert [] == server.requests


def _without_words(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in heard_in(body).items() if name != "words"}


def _with_other_words(body: dict[str, Any]) -> dict[str, Any]:
    return heard_in(body) | {"words": [{"word": "Else", "start": 0, "end": 1}]}


@pytest.mark.parametrize(
    ("model", "answer"),
    [
        ("whisper-1", _without_words),
        ("whisper-1", _with_other_words),
        ("gpt-4o-transcribe", heard_in),
        ("plain", heard_in),
    ],
)
def test_without_times_of_words_passages_have_the_times_and_the_name_says_so(
    source: Source, index: Index, model: str, answer: Callable[[dict[str, Any]], Any]
) -> None:
    with OpenAiServer(transcribe=answer) as server:
        made = transcriber(server, index, model=model, seconds=5.0)
        speech = made.transcribe(source)
        again = made.transcribe(source)

    assert [(0.0, 3.0, "Word, number1, number2."), (10.0, 12.0, "Word, number1.")] == [
        (start, end, text.strip()) for start, end, text in words_of(speech)
    ]
    assert f"OpenAI-compatible server at {server.host} ({model}; times only for passages)" == speech.transcriber
    assert speech == again
    asked = {"whisper-1": 2, "gpt-4o-transcribe": 3, "plain": 4}[model]
    assert asked == len(server.requests), "a form is refused only once"


@pytest.mark.parametrize("figure", [{"avg_logprob": -1.5}, {"no_speech_prob": 0.9}, {"compression_ratio": 3.0}])
def test_improbable_passages_are_doubtful(source: Source, index: Index, figure: dict[str, float]) -> None:
    def improbable(body: dict[str, Any]) -> dict[str, Any]:
        answer = heard_in(body)
        return answer | {"segments": [{**each, **figure} for each in answer["segments"]]}

    with OpenAiServer(transcribe=improbable) as server:
        speech = transcriber(server, index).transcribe(source)

    assert all(each.is_doubtful for each in speech.passages)


@pytest.mark.parametrize(
    ("logprob", "text"),
    [(-2.0, "Good morning."), (-0.1, "one more time " * 20), (-0.1, " ".join(f"word{each}" for each in range(40)))],
)
def test_improbable_repeated_and_hasty_texts_without_times_are_doubtful(
    source: Source, index: Index, logprob: float, text: str
) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return {"text": text, "logprobs": [{"token": "x", "bytes": [120], "logprob": logprob}]}

    with OpenAiServer(transcribe=answer) as server:
        speech = transcriber(server, index, model="gpt-4o-transcribe").transcribe(source)

    assert [True, True] == [each.is_doubtful for each in speech.passages]


@given(
    st.lists(st.tuples(st.text("abc", min_size=1, max_size=4), st.sampled_from(["", ",", ".", '"', "?!"])), min_size=1)
)
def test_every_word_is_found_with_the_punctuation_after_it(said: list[tuple[str, str]]) -> None:
    from citekit.adapters.mappers.llm.openai.transcription import _found

    words = [(float(number), number + 0.5, word) for number, (word, _) in enumerate(said)]

    found = _found(" " + " ".join(word + mark for word, mark in said), words)

    assert [f" {word}{mark}" for word, mark in said] == [text for _, _, text in found or []]


@pytest.mark.parametrize(
    ("named", "code"), [("english", "en"), ("de", "de"), ("Haitian Creole", "ht"), ("", "fr"), ("klingon", "fr")]
)
def test_languages_are_named_in_english_or_by_code(named: str, code: str) -> None:
    assert code == language_code(named, "fr")
    assert "und" == language_code("klingon", None)


def test_a_service_is_used_only_if_the_model_names_it() -> None:
    with_key = {"OPENAI_API_KEY": KEY, "CITEKIT_SPEECH_MODEL": "tiny.en"}

    assert None is bootstrap(settings_from(with_key)).asked_transcriber
    chosen = settings_from(with_key | {"CITEKIT_SPEECH_MODEL": "openai:whisper-1", "CITEKIT_SPEECH_SECONDS": "90"})
    assert ("openai:whisper-1", "", 90) == (chosen.speech_service, chosen.speech_model, chosen.speech_seconds)
    assert None is bootstrap(evolve(chosen, speech=False)).asked_transcriber


@pytest.mark.parametrize("service", ["openai:whisper-1", "gemini:gemini-3.8-flash"])
def test_speech_can_have_an_address_of_its_own(service: str, tmp_path: Path) -> None:
    shared = {"OPENAI_API_KEY": KEY, "GEMINI_API_KEY": KEY, "CITEKIT_SPEECH_MODEL": service}
    shared |= {"CITEKIT_BASE_URL": "http://mapper.example/v1"}

    alone = bootstrap(settings_from(shared, str(tmp_path))).asked_transcriber
    apart = bootstrap(settings_from(shared | {"CITEKIT_SPEECH_URL": "http://speech.example/v1"}, str(tmp_path)))

    assert alone is not None
    assert "mapper.example" in alone.name
    assert apart.asked_transcriber is not None
    assert "speech.example" in apart.asked_transcriber.name
    assert "http://mapper.example/v1" == apart.settings.base_url


@pytest.mark.long
@pytest.mark.skipif(not faster_whisper.installed(), reason="needs the extra 'speech'")
@pytest.mark.parametrize("parsers", ["subprocess", "inline"])
def test_a_recording_is_mapped_quoted_and_extracted_with_one_request_and_the_note_names_the_service(
    tmp_path: Path, parsers: str
) -> None:
    (tmp_path / "talk.ogg").write_bytes(CLIP.read_bytes())
    with OpenAiServer() as server:
        app = bootstrap(
            Settings(
                home=tmp_path,
                mapper="local",
                parsers=parsers,
                speech_service="openai:whisper-1",
                openai_key=KEY,
                openai_base_url=server.url,
            )
        )
        made = app.ingest(tmp_path / "talk.ogg").resource_map
        verdict = app.verify_quote("talk", "number1, number2")
        evidence = app.resolve(parse_address("audio://talk#t=0-4"), options=Options(Form.VTT))
        if app.workers is not None:
            app.workers.close()

    name = f"OpenAI-compatible server at {server.host} (whisper-1)"
    assert 1 == len(server.requests)
    assert f"The words were recognized by {name}; they may contain errors." in made.metadata["notes"]
    assert (Finding.EXACT, HEARD.format(name)) == (verdict.finding, verdict.places[0].note)
    assert evidence.receipt is not None
    assert any(f"This text was produced by speech recognition ({name})" in note for note in evidence.receipt.notes)
    assert "whisper-1" in evidence.receipt.extractor.version


@pytest.mark.skipif(os.name != "posix", reason="needs workers")
def test_the_default_address_is_that_of_openai(source: Source, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAiServer() as server:
        monkeypatch.setattr(driver, "DEFAULT_URL", server.url)
        speech = transcriber(server, index, base_url=None).transcribe(source)

    assert "OpenAI (whisper-1)" == speech.transcriber
