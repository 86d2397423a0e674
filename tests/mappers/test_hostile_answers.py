"""What a broken or hostile server sends costs neither the document nor the memory, and is an error in one sentence."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.libraries import response_limits
from citekit.adapters.mappers.llm.gemini.service import GeminiService
from citekit.adapters.mappers.llm.messages import Question, Reply, Service, TextPart
from citekit.adapters.mappers.llm.openai.service import OpenAiService
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
from citekit.adapters.system.retry import Retries
from citekit.domain.errors import MapperUnavailable
from citekit.domain.progress import silent
from tests.services.openai_faults import SCHEMA
from tests.services.raw_server import RawAnswer, raw_server

KEY = "sk-0123456789abcdef"
EVENTS = {"Content-Type": "text/event-stream"}

Connect = Callable[[str], Service]


def _openai(url: str) -> Service:
    return OpenAiService(KEY, "m", f"{url}/v1", retries=Retries(count=0))


@pytest.fixture(params=["gemini", "openai"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Connect:
    if request.param == "openai":
        return _openai
    return lambda url: GeminiService(
        KEY, base_url=url, retries=Retries(count=0), orphaned_uploads=OrphanedUploads(tmp_path / "left")
    )


def _ask(service: Service) -> Reply:
    with service.session() as session:
        return session.ask(Question("You map files.", (TextPart("the text of the document"),), SCHEMA), silent)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_document_does_not_follow_a_redirect_to_another_server(connect: Connect, status: int) -> None:
    with raw_server(RawAnswer(body=b"{}")) as other:
        redirect = RawAnswer(body=b"", status=status, headers={"Location": f"{other.url}/v1/chat/completions"})
        with raw_server(redirect) as server, pytest.raises(MapperUnavailable, match="redirect"):
            _ask(connect(server.url))
        assert other.bodies == []


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("compressed", [True, False])
def test_an_answer_without_end_is_given_up(
    connect: Connect, status: int, compressed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_limits, "MAX_BYTES", 1_000_000)
    body = b"x" * 3_000_000
    headers = {**EVENTS, "Content-Encoding": "gzip"} if compressed else EVENTS
    answer = RawAnswer(body=gzip.compress(body) if compressed else body, status=status, headers=headers)
    with raw_server(answer) as server, pytest.raises(MapperUnavailable, match="larger than 1 MB"):
        _ask(connect(server.url))


def test_an_answer_that_never_ends_is_given_up_after_a_time(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_limits, "MIN_SECONDS", -1.0)
    monkeypatch.setattr(response_limits, "READ_TIMEOUTS", 0)
    with (
        raw_server(RawAnswer(body=b"data: {}\n\n", headers=EVENTS)) as server,
        pytest.raises(MapperUnavailable, match="did not end"),
    ):
        _ask(connect(server.url))


ODD_CHUNKS: list[Any] = [
    123, "text", None, [1], {"choices": "x"}, {"choices": [5]}, {"choices": [{"delta": "text"}]},
    {"choices": [{"delta": {"content": 5, "refusal": {"a": 1}}}]},
    {"choices": [{"delta": {"content": [{"type": "text", "text": None}]}, "finish_reason": ["x"]}]},
    {"choices": [{"delta": {"content": "{"}}], "usage": {"prompt_tokens": -5, "completion_tokens": 1.5}},
]  # fmt: skip


@pytest.mark.parametrize("chunk", ODD_CHUNKS, ids=str)
def test_a_chunk_of_any_form_is_no_error_of_ours(chunk: Any) -> None:
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    with raw_server(RawAnswer(body=body, headers=EVENTS)) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            reply = _ask(_openai(server.url))
        except MapperUnavailable:
            return
        assert reply.usage.input_tokens >= 0


def test_a_whole_answer_of_any_form_is_no_error_of_ours() -> None:
    body = json.dumps({"choices": [{"message": {"content": {"a": 1}, "refusal": [1]}}]}).encode()
    answer = RawAnswer(body=body, headers={"Content-Type": "application/json"})
    with raw_server(answer) as server, pytest.raises(MapperUnavailable):
        _ask(_openai(server.url))
