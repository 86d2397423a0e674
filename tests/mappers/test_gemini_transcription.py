"""Transcription with Gemini: what is sent, what is kept, and what fails."""

from __future__ import annotations

import json
import wave
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from citekit.adapters.libraries import faster_whisper
from citekit.adapters.libraries.google_genai.statuses import STATUSES
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.mappers.llm.gemini.replies import BLOCK_REASONS, STOP_REASONS
from citekit.adapters.mappers.llm.gemini.service import GeminiService
from citekit.adapters.mappers.llm.gemini.transcription import GeminiSpeech
from citekit.adapters.mappers.llm.messages import BudgetExhausted
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
from citekit.adapters.mappers.llm.transcription import AskedTranscriber
from citekit.adapters.system.retry import Retries
from citekit.container import bootstrap
from citekit.domain.errors import MapperUnavailable
from citekit.domain.quotes.transcript import HEARD
from citekit.domain.quotes.verdict_finding import Finding
from citekit.domain.source import Source
from citekit.settings import Settings, settings_from
from tests.formats.media.speech_samples import CLIP
from tests.mappers.test_openai_transcription import Cut, index, source
from tests.services.gemini_rules import spelled
from tests.services.gemini_server import KEY, Answer, GeminiServer, candidate, gemini_server, refusal, sound_in

pytest.importorskip("google.genai", reason="needs the extra 'gemini'")

__all__ = ["index", "source"]


def answer(text: str = "Good morning.", language: str = "en") -> str:
    return json.dumps({"language": language, "text": text})


def transcriber(server: GeminiServer, index: Index, seconds: float | None = None, **changes: Any) -> AskedTranscriber:
    service = GeminiService(
        KEY,
        base_url=server.url,
        retries=Retries(count=0),
        orphaned_uploads=OrphanedUploads(Path("nowhere")),
    )
    language = changes.pop("language", None)
    speech = GeminiSpeech(service=evolve(service, **changes), language=language)
    return AskedTranscriber(service=speech, windows=Cut, index=index, language=language, seconds=seconds)


def test_each_window_is_sent_once_as_sound_and_is_a_passage(source: Source, index: Index) -> None:
    with gemini_server() as server:
        server.answer = answer("Guten Morgen.", "de")
        made = transcriber(server, index)
        speech, again = made.transcribe(source), made.transcribe(source)

    assert [(0.0, 3.0, "Guten Morgen.", "de"), (10.0, 12.0, "Guten Morgen.", "de")] == [
        (each.start, each.end, each.text, each.language) for each in speech.passages
    ]
    assert speech == again
    assert speech.transcriber == f"Gemini at {server.url[7:]} (gemini-3.8-flash; times only for passages)"
    assert [] == server.discouraged
    assert ["generate", "generate"] == [each.kind for each in server.requests]
    with wave.open(BytesIO(sound_in(server.requests[0]))) as sound:
        assert (1, 2, 16_000, 48_000) == (*sound.getparams()[:3], sound.getnframes())
    assert source.path.name not in json.dumps(server.requests[0].json), "the name of the file is not sent"


def test_the_language_is_asked_for_and_no_words_are_no_passage(source: Source, index: Index) -> None:
    with gemini_server() as server:
        server.answer = answer(" ... ", "")
        speech = transcriber(server, index, language="fr").transcribe(source)

    assert () == speech.passages
    (part,) = [each for each in spelled(server.requests[0].json)["contents"][0]["parts"] if "text" in each]
    assert part["text"].endswith("The language is fr.")


def test_a_spent_budget_keeps_what_was_paid_and_each_attempt_counts(source: Source, index: Index) -> None:
    with gemini_server() as server:
        server.answer = answer()
        with pytest.raises(BudgetExhausted, match=r"limit of 4 seconds .*CITEKIT_SPEECH_SECONDS"):
            transcriber(server, index, 4).transcribe(source)
        server.on("generate", refusal(503, "UNAVAILABLE", "The model is overloaded."))
        again = Retries(count=1, sleep=lambda _: None)
        with pytest.raises(BudgetExhausted):
            transcriber(server, index, 3, retries=again).transcribe(source)
        speech = transcriber(server, index, 2).transcribe(source)

    assert 2 == len(speech.passages)
    assert 3 == len(server.requests)


@pytest.mark.parametrize("text", ["one more time " * 20, " ".join(f"word{each}" for each in range(40))])
def test_texts_that_repeat_themselves_or_cannot_be_said_are_doubtful(source: Source, index: Index, text: str) -> None:
    with gemini_server() as server:
        server.answer = answer(text)
        speech = transcriber(server, index).transcribe(source)

    assert [True, True] == [each.is_doubtful for each in speech.passages]


FAULTS: Sequence[Answer] = (
    *(refusal(status, "UNKNOWN", "No.") for status in STATUSES),
    *(refusal(429, "RESOURCE_EXHAUSTED", text) for text in ("limit: 0", "PerDay")),
    *(refusal(400, "INVALID_ARGUMENT", text) for text in ("FAILED_PRECONDITION", "too many tokens")),
    *(Answer(body={"promptFeedback": {"blockReason": each}}) for each in BLOCK_REASONS),
    *(candidate(None, each) for each in STOP_REASONS),
    candidate(answer()[:20], "MAX_TOKENS"),
    candidate("Here it is: Good morning."),
    candidate('{"language": "en", "text": 7}'),
    candidate(""),
    Answer(body="<html>"),
    Answer(cut=0),
)


@pytest.mark.long
def test_every_failure_is_advice_for_transcription(source: Source, index: Index) -> None:
    with gemini_server() as server:
        for fault in FAULTS:
            server.on("generate", fault)
            with pytest.raises(MapperUnavailable, match="Gemini") as failure:
                transcriber(server, index).transcribe(source)
            said = str(failure.value)
            assert "--" not in said
            assert "the file with" not in said
            assert "smaller file" not in said
            assert KEY not in said


@pytest.mark.parametrize(("key", "says"), [(None, "needs an API key"), ("two words", "not allowed in a key")])
def test_a_missing_or_malformed_key_is_refused_before_anything_is_cut(
    source: Source, index: Index, key: str | None, says: str
) -> None:
    with gemini_server() as server, pytest.raises(MapperUnavailable, match=says) as failure:
        transcriber(server, index, key=key).transcribe(source)

    assert "--" not in str(failure.value)
    assert [] == server.requests


def test_the_setting_names_the_service() -> None:
    chosen = settings_from({"CITEKIT_SPEECH_MODEL": "gemini: gemini-3.8-flash", "GEMINI_API_KEY": KEY})

    assert ("gemini:gemini-3.8-flash", "") == (chosen.speech_service, chosen.speech_model)
    made = bootstrap(chosen).asked_transcriber
    assert made is not None
    assert "Gemini (gemini-3.8-flash)" == made.name
    assert KEY not in repr(made)


@pytest.mark.long
@pytest.mark.skipif(not faster_whisper.installed(), reason="needs the extra 'speech'")
def test_a_quote_has_the_times_of_its_passage(tmp_path: Path) -> None:
    (tmp_path / "talk.ogg").write_bytes(CLIP.read_bytes())
    with gemini_server() as server:
        server.answer = answer("Unless to be rather cold-hearted. And rather selfish.")
        app = bootstrap(
            Settings(
                home=tmp_path,
                mapper="local",
                speech_service="gemini:gemini-3.8-flash",
                gemini_key=KEY,
                base_url=server.url,
            )
        )
        app.ingest(tmp_path / "talk.ogg")
        verdict = app.verify_quote("talk", "rather cold-hearted")
        if app.workers is not None:
            app.workers.close()

    name = f"Gemini at {server.url[7:]} (gemini-3.8-flash; times only for passages)"
    assert 1 == len(server.requests)
    assert (Finding.EXACT, HEARD.format(name)) == (verdict.finding, verdict.places[0].note)
