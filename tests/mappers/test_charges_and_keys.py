"""Errors name what was spent before them, and no part of a key leaves CiteKit, in whatever form a service repeats it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from citekit.adapters.libraries.service_keys import without_key
from citekit.adapters.mappers.llm.gemini.service import GeminiService
from citekit.adapters.mappers.llm.messages import Reply, Service, without_surrogates
from citekit.adapters.mappers.llm.openai.service import OpenAiService
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
from citekit.adapters.system.retry import Retries
from citekit.domain.errors import CiteKitError, FaultyAnswer
from citekit.domain.model_usage import Usage
from tests.doubles.model_service import ScriptedService
from tests.mappers.model_talks import model_mapper, nodes, source_of
from tests.services.openai_server import KEY, OpenAiServer, Step, error
from tests.services.raw_server import RawAnswer, raw_server

EVENTS = {"Content-Type": "text/event-stream"}
TITLE = "Feeding herons"
GOOD = nodes((1, TITLE, 1, 3), unit="line")
INVISIBLE = ["\u00ad", "\ufeff", "\u2060", "\u200d", "\u200b", "\ufe0f", "\U000e0041"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "herons.md"
    path.write_text(f"# {TITLE}\n\nThey are fed in the valley.\n")
    return path


def openai_at(url: str) -> OpenAiService:
    return OpenAiService(KEY, base_url=url, retries=Retries(count=0))


def error_of(service: Service, path: Path) -> str:
    with pytest.raises(CiteKitError) as caught:
        evolve(model_mapper([]), service=service).map(source_of(path), "x")
    return str(caught.value)


def test_a_reply_that_was_charged_before_a_refusal_is_counted(text: Path) -> None:
    with OpenAiServer([Step(text="Here is no JSON.", tokens=50_000), error(402, "no credit")]) as server:
        said = error_of(openai_at(server.url), text)

    assert "input tokens: 50000" in said


def test_an_error_before_the_first_request_says_nothing_about_requests(text: Path) -> None:
    said = error_of(OpenAiService(None), text)

    assert said.endswith("or map without a model (--mapper local).")


def test_an_openai_stream_that_breaks_off_after_its_usage_is_counted(text: Path) -> None:
    chunk = {"choices": [], "usage": {"prompt_tokens": 50_000, "completion_tokens": 4_000}}
    body = f"data: {json.dumps(chunk)}\n\ndata: not JSON\n\n".encode()
    with raw_server(RawAnswer(body=body, headers=EVENTS)) as server:
        said = error_of(openai_at(f"{server.url}/v1"), text)

    assert "Requests answered so far: 1 (input tokens: 50000, output tokens: 4000)" in said


def test_a_gemini_stream_that_breaks_off_after_its_usage_is_counted(text: Path, tmp_path: Path) -> None:
    chunk = {"usageMetadata": {"promptTokenCount": 50_000, "candidatesTokenCount": 4_000}}
    body = f"data: {json.dumps(chunk)}\r\n\r\ndata: not JSON\r\n\r\n".encode()
    with raw_server(RawAnswer(body=body, headers=EVENTS)) as server:
        service = GeminiService(
            KEY, base_url=server.url, retries=Retries(count=0), orphaned_uploads=OrphanedUploads(tmp_path / "left")
        )
        said = error_of(service, text)

    assert "Requests answered so far: 1 (input tokens: 50000, output tokens: 4000)" in said


@pytest.mark.parametrize("name", ["gemini", "openai"])
def test_a_number_of_thousands_of_digits_makes_an_answer_unreadable(text: Path, tmp_path: Path, name: str) -> None:
    with raw_server(RawAnswer(body=f'data: {{"x": {"9" * 5000}}}\r\n\r\n'.encode(), headers=EVENTS)) as server:
        gemini = GeminiService(
            KEY, base_url=server.url, retries=Retries(count=0), orphaned_uploads=OrphanedUploads(tmp_path / "left")
        )
        said = error_of(gemini if name == "gemini" else openai_at(f"{server.url}/v1"), text)

    assert ("is not a Gemini response" if name == "gemini" else "returned an answer that cannot be read") in said


def test_lone_surrogates_of_an_answer_do_not_prevent_a_follow_up(text: Path) -> None:
    wrong = nodes((1, TITLE, 1, 3), (1, "Taxation of Copper \ud800", 1, 3), unit="line").replace("\\ud800", "\ud800")
    service = ScriptedService([Reply(wrong, True, Usage(1, 1, 1)), '{"nodes": []}'])

    model_mapper(service).map(source_of(text), "x")

    assert 2 == len(service.questions)
    assert "\ufffd" in service.questions[1].turns[0].reply.text


def test_a_surrogate_pair_that_chunks_split_is_one_character() -> None:
    assert "a\U0001f600\ufffdb" == without_surrogates("a\ud83d\ude00\ud800b")


@pytest.mark.parametrize("mark", INVISIBLE)
def test_a_key_that_invisible_characters_split_is_redacted(text: Path, mark: str) -> None:
    answer = json.loads(GOOD)
    answer["nodes"][0]["summary"] = f"It is {KEY[:9]}{mark}{KEY[9:]}."

    made = model_mapper([json.dumps(answer)], redact=lambda each: each.replace(KEY, "(secret)")).map(
        source_of(text), "x"
    )

    assert "It is (secret)." == made.nodes[0].summary
    assert "(the key)" == without_key(f"{KEY[:9]}{mark}{KEY[9:]}", KEY)


def test_invisible_characters_stay_where_no_key_is() -> None:
    assert "می\u200cخواهم" == without_key("می\u200cخواهم", KEY)


@pytest.mark.parametrize("before", [160, 172, 190])
def test_a_key_in_a_refusal_is_redacted_before_the_refusal_is_shortened(text: Path, before: int) -> None:
    with OpenAiServer([Step(text="", refusal="x" * before + KEY)] * 2) as server:
        said = error_of(openai_at(server.url), text)

    assert KEY[:8] not in said


@pytest.mark.parametrize("at", [1, 8])
def test_a_split_key_in_the_body_of_an_error_is_redacted(text: Path, at: int) -> None:
    body = json.dumps({"error": {"message": f"unknown key {KEY[:at]}\u200b{KEY[at:]}"}}).encode()
    with raw_server(RawAnswer(body=body, status=400, headers={"Content-Type": "application/json"})) as server:
        said = error_of(openai_at(server.url), text)

    assert KEY[8:] not in said


def test_a_key_at_the_beginning_of_an_answer_is_redacted_before_it_is_quoted(text: Path) -> None:
    mapper = model_mapper(["x" * 60 + KEY] * 2, redact=lambda each: each.replace(KEY, "(secret)"))

    with pytest.raises(FaultyAnswer) as caught:
        mapper.map(source_of(text), "x")

    assert KEY[:8] not in str(caught.value)


def test_a_key_in_an_error_of_gemini_is_redacted_before_it_is_shortened(text: Path, tmp_path: Path) -> None:
    body = json.dumps({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "x" * 280 + KEY}}).encode()
    with raw_server(RawAnswer(body=body, status=400, headers={"Content-Type": "application/json"})) as server:
        service = GeminiService(
            KEY, base_url=server.url, retries=Retries(count=0), orphaned_uploads=OrphanedUploads(tmp_path / "left")
        )
        said = error_of(service, text)

    assert KEY[:8] not in said
