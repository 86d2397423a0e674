"""OpenAI and servers like it: what is sent, what comes back, and what the user reads where something fails."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attrs import evolve

from citekit.adapters.libraries import openai as driver
from citekit.adapters.mappers.llm.messages import (
    FilePart,
    Generation,
    ImagePart,
    Part,
    Question,
    Reply,
    TextPart,
    Turn,
)
from citekit.adapters.mappers.llm.openai import messages
from citekit.adapters.mappers.llm.openai.service import DEFAULT_MODEL, OpenAiService
from citekit.adapters.mappers.llm.openai.strict_schema import strict
from citekit.adapters.system.retry import Retries
from citekit.domain.errors import Cancelled, MapperUnavailable, SourceUnreadable
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.model_usage import Usage
from citekit.domain.progress import Progress, silent
from tests.services.openai_faults import FAULTS, SCHEMA, Fault, make_pdf, outcome_of, text_of
from tests.services.openai_server import KEY, Compatible, OpenAiServer, Step, error

PICTURE = ImagePart(b"\x89PNG\r\n\x1a\n", "image/png", "the picture at 12.5 s")
OTHER = "llama3.2-vision"


def _ask(service: OpenAiService, *parts: Part, progress: Progress = silent) -> Reply:
    with service.session() as session:
        return session.ask(Question("You map files.", parts or (TextPart("Map this text."),), SCHEMA), progress)


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> Callable[[OpenAiServer], OpenAiService]:
    """OpenAI itself, as far as the service knows: without a base URL of the user's."""

    def service(server: OpenAiServer) -> OpenAiService:
        monkeypatch.setattr(driver, "DEFAULT_URL", server.url)
        return OpenAiService(KEY, retries=Retries(count=0))

    return service


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return make_pdf(tmp_path / "paper.pdf")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_fault_is_recovered_or_reported_in_one_sentence(fault: Fault, tmp_path: Path) -> None:
    outcome = outcome_of(fault, tmp_path)

    seen, reply = outcome.seen or "", outcome.reply
    assert fault.requests == len(outcome.sent)
    assert not fault.waits or fault.waits == outcome.pauses
    assert bool(fault.says) == bool(seen)
    assert [] == [words for words in fault.says if words not in seen]
    assert "\n" not in seen
    assert len(fault.notes) == len(reply.notes if reply else ())
    assert all(words in note for words, note in zip(fault.notes, reply.notes if reply else (), strict=True))


def test_openai_is_sent_the_model_the_schema_and_the_question_and_keeps_nothing(
    hosted: Callable[[OpenAiServer], OpenAiService],
) -> None:
    with OpenAiServer() as server:
        reply = _ask(hosted(server), TextPart("A"), PICTURE, TextPart("B"))

    (request,) = server.requests
    assert "/v1/chat/completions" == request.path
    assert request.body.keys() == {
        *("model", "messages", "response_format", "store", "stream", "stream_options", "prompt_cache_key")
    }
    assert DEFAULT_MODEL == request.body["model"]
    assert request.body["store"] is False
    assert {"name": "answer", "strict": True, "schema": strict(SCHEMA)} == request.body["response_format"][
        "json_schema"
    ]
    assert {"role": "system", "content": "You map files."} == request.body["messages"][0]
    assert ["text", "text", "image_url", "text"] == [part["type"] for part in request.body["messages"][1]["content"]]
    assert "A\nthe picture at 12.5 s\nB" == request.text().partition("\n")[2]
    url = f"data:image/png;base64,{base64.b64encode(PICTURE.data).decode()}"
    assert [{"url": url}] == [part["image_url"] for part in request.parts("image_url")]
    assert Reply('{"title": "word", "nodes": []}', True, reply.usage) == reply
    assert 1 == reply.usage.requests
    assert reply.usage.input_tokens > 0 < reply.usage.output_tokens


def test_a_pdf_is_sent_as_it_is_under_its_name_alone(
    pdf: Path, hosted: Callable[[OpenAiServer], OpenAiService]
) -> None:
    with OpenAiServer() as server:
        reply = _ask(hosted(server), FilePart(pdf, "application/pdf"), TextPart("Map it."))

    (request,) = server.requests
    assert pdf.read_bytes() == request.file()
    assert "paper.pdf" == request.parts("file")[0]["file"]["filename"]
    assert str(pdf.parent) not in str(request.body)
    assert () == reply.notes


def test_a_picture_file_is_sent_as_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(b"\xff\xd8\xff picture")

    with OpenAiServer() as server:
        _ask(OpenAiService(KEY, base_url=server.url), FilePart(path, "image/jpeg"))

    (part,) = server.requests[0].parts("image_url")
    assert f"data:image/jpeg;base64,{base64.b64encode(path.read_bytes()).decode()}" == part["image_url"]["url"]


def test_words_alone_go_as_one_string() -> None:
    with OpenAiServer() as server:
        _ask(OpenAiService(KEY, base_url=server.url), TextPart("A"), TextPart("B"))

    assert "A\n\nB" == server.requests[0].body["messages"][1]["content"]
    assert "store" not in server.requests[0].body


@pytest.mark.parametrize("model", ["gpt-4.1", OTHER, "gpt-6.1-terra"])
def test_nothing_about_sampling_is_sent_that_the_user_did_not_set(model: str) -> None:
    with OpenAiServer() as server:
        _ask(OpenAiService(KEY, model, server.url))

    body = server.requests[0].body
    assert {"model", "messages", "response_format"} == body.keys() - {"stream", "stream_options"}


def test_what_the_user_sets_is_sent_as_openai_names_it(hosted: Callable[[OpenAiServer], OpenAiService]) -> None:
    with OpenAiServer() as server:
        _ask(evolve(hosted(server), generation=Generation(thinking="low", max_output=5000)))

    body = server.requests[0].body
    assert ("low", 5000) == (body["reasoning_effort"], body["max_completion_tokens"])
    assert "temperature" not in body


def test_other_servers_get_the_limit_of_output_under_the_name_that_all_of_them_know() -> None:
    with OpenAiServer() as server:
        _ask(OpenAiService(KEY, OTHER, server.url, generation=Generation(temperature=0.5, max_output=5000)))

    body = server.requests[0].body
    assert (0.5, 5000) == (body["temperature"], body["max_tokens"])


def test_a_temperature_that_a_model_refuses_is_left_out_from_then_on_and_that_is_noted() -> None:
    refusal = error(400, "Unsupported value: 'temperature' does not support 0 with this model.", "unsupported_value")

    with OpenAiServer([refusal]) as server:
        service = OpenAiService(KEY, "gpt-4.1", server.url, generation=Generation(temperature=0))
        first, second = _ask(service), _ask(service)

    assert [True, False, False] == ["temperature" in request.body for request in server.requests]
    assert [2, 1] == [first.usage.requests, second.usage.requests]
    assert all("accepts no temperature" in note for reply in (first, second) for note in reply.notes)


def test_without_a_key_openai_is_not_asked_and_the_way_out_is_named() -> None:
    with pytest.raises(MapperUnavailable) as raised:
        _ask(OpenAiService(" "))

    assert "OPENAI_API_KEY" in str(raised.value)
    assert "--mapper local" in str(raised.value)


def test_a_regional_address_of_openai_needs_a_key_too() -> None:
    with pytest.raises(MapperUnavailable, match="OPENAI_API_KEY"):
        _ask(OpenAiService(None, base_url="https://eu.api.openai.com/v1"))


def test_a_server_that_needs_no_key_is_sent_a_placeholder() -> None:
    with OpenAiServer(compatible=Compatible()) as server:
        _ask(OpenAiService(None, OTHER, server.url))

    assert f"Bearer {driver.PLACEHOLDER}" == server.requests[0].headers["authorization"]


def test_openai_itself_is_called_by_its_name(hosted: Callable[[OpenAiServer], OpenAiService]) -> None:
    with OpenAiServer([error(401, "Incorrect API key", "invalid_api_key")]) as server:
        service = hosted(server)
        with pytest.raises(MapperUnavailable) as raised:
            _ask(service)

    assert "OpenAI does not accept the key (HTTP 401). Check OPENAI_API_KEY or OPENAI_API_KEY_FILE." == str(
        raised.value
    )


def test_a_server_that_is_not_there_is_named_by_its_host_alone() -> None:
    with OpenAiServer() as server:
        host = server.host
    service = OpenAiService(None, OTHER, f"http://user:password@{host}/v1", retries=Retries(count=0))

    with pytest.raises(MapperUnavailable) as raised:
        _ask(service)

    assert str(raised.value).startswith(f"The OpenAI-compatible server at {host} cannot be reached")
    assert "password" not in str(raised.value)


def test_a_bad_request_at_openai_itself_is_not_tried_in_other_forms(
    hosted: Callable[[OpenAiServer], OpenAiService], pdf: Path
) -> None:
    with OpenAiServer([error(400, "Something is off.")] * 3) as server:
        service = hosted(server)
        with pytest.raises(MapperUnavailable, match=r"OpenAI rejected the request \(HTTP 400\): Something is off"):
            _ask(service, FilePart(pdf, "application/pdf"))

    assert 1 == len(server.requests)


def test_a_server_that_takes_no_files_gets_the_text_and_is_not_sent_the_file_again(pdf: Path) -> None:
    with OpenAiServer(compatible=Compatible()) as server:
        service = OpenAiService(None, OTHER, server.url, extract_text=text_of)
        first, second = (_ask(service, FilePart(pdf, "application/pdf"), TextPart("Map it.")) for _ in range(2))

    assert [1, 0, 0] == [len(request.parts("file")) for request in server.requests]
    assert "[page 3]\nChapter 3, line 0" in server.requests[1].text()
    assert ["json_schema"] * 3 == [request.body["response_format"]["type"] for request in server.requests]
    (note,) = first.notes
    assert f"The OpenAI-compatible server at {server.host} accepts no files" in note
    assert "'paper.pdf'" in note
    assert first.notes == second.notes


def test_a_server_that_leaves_a_file_aside_in_silence_is_found_out_by_its_count_of_tokens(pdf: Path) -> None:
    with OpenAiServer(compatible=Compatible(files="ignores")) as server:
        service = OpenAiService(None, OTHER, server.url, extract_text=text_of)
        reply = _ask(service, FilePart(pdf, "application/pdf"), TextPart("Map it."))

    assert [1, 0] == [len(request.parts("file")) for request in server.requests]
    assert "accepts no files" in reply.notes[0]


def test_a_server_that_reads_files_is_left_to_it(pdf: Path) -> None:
    with OpenAiServer(compatible=Compatible(files="takes")) as server:
        service = OpenAiService(None, OTHER, server.url, extract_text=text_of)
        reply = _ask(service, FilePart(pdf, "application/pdf"), TextPart("Map it."))

    assert [1] == [len(request.parts("file")) for request in server.requests]
    assert () == reply.notes


@pytest.mark.parametrize("extract_text", [None, lambda path: " \n"])
def test_a_scan_is_rejected_by_a_server_without_files(pdf: Path, extract_text: Callable[[Path], str] | None) -> None:
    with OpenAiServer(compatible=Compatible()) as server:
        service = OpenAiService(None, OTHER, server.url, extract_text=extract_text)
        with pytest.raises(MapperUnavailable, match=r"accepts no files, and 'paper\.pdf' has no text"):
            _ask(service, FilePart(pdf, "application/pdf"))


def test_a_server_without_schemas_gets_the_schema_in_words_and_is_not_asked_again() -> None:
    with OpenAiServer(compatible=Compatible(schema="refuses")) as server:
        service = OpenAiService(None, OTHER, server.url)
        first, second = _ask(service), _ask(service)

    forms = [request.body["response_format"]["type"] for request in server.requests]
    assert ["json_schema", "json_object", "json_object"] == forms
    assert ["nodes" in request.text() for request in server.requests] == [False, True, True]
    assert first.notes == second.notes != ()


def test_a_fenced_answer_is_read_and_the_next_request_has_the_schema_in_words() -> None:
    with OpenAiServer([Step(text='```json\n{"title": "A", "nodes": []}\n```')], Compatible()) as server:
        service = OpenAiService(None, OTHER, server.url)
        first = _ask(service)
        _ask(service)

    assert '{"title": "A", "nodes": []}' == first.text
    assert ["json_schema", "json_object"] == [request.body["response_format"]["type"] for request in server.requests]


def test_what_was_wrongly_suspected_is_not_remembered() -> None:
    with OpenAiServer([error(400, "Bad luck.")] * 2, Compatible()) as server:
        service = OpenAiService(None, OTHER, server.url)
        with pytest.raises(MapperUnavailable, match="Bad luck"):
            _ask(service)
        reply = _ask(service)

    assert "json_schema" == server.requests[-1].body["response_format"]["type"]
    assert () == reply.notes


def test_a_picture_cannot_be_mapped_by_a_model_that_does_not_see(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(PICTURE.data)

    with OpenAiServer(compatible=Compatible(pictures=False)) as server:
        service = OpenAiService(None, OTHER, server.url)
        with pytest.raises(MapperUnavailable, match=r"accepts no pictures .*--model"):
            _ask(service, FilePart(path, "image/png"))


def test_what_the_server_cut_away_is_noted() -> None:
    with OpenAiServer([Step(tokens=4096)], Compatible()) as server:
        reply = _ask(OpenAiService(None, OTHER, server.url), TextPart("word " * 20_000))

    (note,) = reply.notes
    assert "counted only 4096 tokens in 100014 characters" in note


def test_an_answer_that_was_cut_off_is_given_as_far_as_it_goes() -> None:
    with OpenAiServer([Step(text='{"title": "A", "nodes": [{"ti', finish="length")]) as server:
        reply = _ask(OpenAiService(KEY, base_url=server.url))

    assert ('{"title": "A", "nodes": [{"ti', False) == (reply.text, reply.complete)


def test_usage_counts_every_request_that_was_answered() -> None:
    with OpenAiServer(
        [error(503, "overloaded"), Step(text="{}", tokens=11), Step(text='{"title": 1, "nodes": []}')]
    ) as server:
        service = OpenAiService(KEY, base_url=server.url, retries=Retries(count=3, sleep=lambda seconds: None))
        reply = _ask(service)

    assert 3 == reply.usage.requests == len(server.requests)
    assert reply.usage.input_tokens > 11


def test_a_server_that_counts_nothing_costs_requests_alone() -> None:
    message = {"role": "assistant", "content": '{"title": "A", "nodes": []}'}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    with OpenAiServer([Step(body=body)], Compatible()) as server:
        reply = _ask(OpenAiService(None, OTHER, server.url))

    assert Usage(1, 0, 0) == reply.usage


def test_a_budget_ends_the_retries_of_a_session_and_the_next_session_has_its_own() -> None:
    with OpenAiServer([error(503, "overloaded")] * 2) as server:
        retries = Retries(count=3, sleep=lambda seconds: None)
        service = OpenAiService(KEY, base_url=server.url, retries=retries, max_requests=2)
        with pytest.raises(MapperUnavailable, match=r"limit on requests \(2\)"):
            _ask(service)
        sent = len(server.requests)
        _ask(service)

    assert 2 == sent


def test_cancelling_does_not_wait_for_the_answer() -> None:
    calls: list[str] = []

    def impatient(done: float, total: float | None = None, message: str = "") -> None:
        calls.append(message)
        if len(calls) > 1:
            raise Cancelled("given up")

    with OpenAiServer([Step(manner="hang")]) as server, pytest.raises(Cancelled):
        _ask(OpenAiService(KEY, base_url=server.url), progress=impatient)

    assert f"asking {DEFAULT_MODEL}" == calls[0]


def test_many_threads_ask_one_session_and_learn_together() -> None:
    barrier = threading.Barrier(6)
    question = Question("You map files.", (TextPart("Map this."),), SCHEMA)

    with (
        OpenAiServer(compatible=Compatible(schema="refuses")) as server,
        OpenAiService(None, OTHER, server.url).session() as session,
        ThreadPoolExecutor(6) as pool,
    ):
        replies = list(pool.map(lambda _: (barrier.wait(), session.ask(question, silent))[1], range(6)))
        before = len(server.requests)
        session.ask(question, silent)

    assert 6 == len(replies)
    assert before + 1 == len(server.requests)
    assert all(reply.notes for reply in replies)


def test_a_file_over_the_limit_is_refused_before_anything_is_sent(pdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "FILE_BYTES", 1_000)

    with OpenAiServer() as server, pytest.raises(MapperUnavailable, match=r"'paper\.pdf' contains .* MB"):
        _ask(OpenAiService(KEY, base_url=server.url), FilePart(pdf, "application/pdf"))

    assert [] == server.requests


def test_a_file_that_is_gone_is_an_error_of_the_source(tmp_path: Path) -> None:
    with OpenAiServer() as server, pytest.raises(SourceUnreadable, match=r"gone\.pdf"):
        _ask(OpenAiService(KEY, base_url=server.url), FilePart(tmp_path / "gone.pdf", "application/pdf"))


def test_a_recording_is_not_sent_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "talk.mp3"
    path.write_bytes(b"ID3")

    with (
        OpenAiServer() as server,
        pytest.raises(MapperUnavailable, match=r"accepts no audio/mpeg files, so 'talk\.mp3' cannot be sent"),
    ):
        _ask(OpenAiService(KEY, base_url=server.url), FilePart(path, "audio/mpeg"))


def test_limits_distinguish_native_formats_from_text() -> None:
    service = OpenAiService(KEY)
    seen = {suffix for suffix, format in BY_SUFFIX.items() if service.limits(format).as_file}

    assert {".pdf", ".png", ".apng", ".jpg", ".jpeg", ".jpe", ".webp"} == seen
    assert (50_000_000, 100) == (service.limits(BY_SUFFIX[".pdf"]).file_bytes, service.limits(BY_SUFFIX[".pdf"]).pages)
    assert 400_000 == service.limits(BY_SUFFIX[".txt"]).characters
    assert 100_000 == OpenAiService(None, base_url="http://localhost:11434/v1").limits(BY_SUFFIX[".txt"]).characters


def test_it_is_known_by_the_name_of_the_api_and_its_model() -> None:
    assert ("openai", "gpt-4.1") == (OpenAiService(KEY, "gpt-4.1").name, OpenAiService(KEY, "gpt-4.1").model)


@pytest.mark.long
def test_an_answer_may_take_longer_than_the_timeout_as_long_as_it_keeps_coming() -> None:
    text = '{"title": "' + "x" * 4000 + '", "nodes": []}'

    with OpenAiServer([Step(text=text, pace=0.1)]) as server:
        reply = _ask(OpenAiService(KEY, base_url=server.url, timeout=0.6))

    assert text == reply.text
    assert 1 == len(server.requests)


def test_a_server_that_does_not_stream_is_understood() -> None:
    with OpenAiServer([Step(manner="unstreamed")]) as server:
        reply = _ask(OpenAiService(KEY, base_url=server.url))

    assert ('{"title": "word", "nodes": []}', 1) == (reply.text, reply.usage.requests)


def test_a_server_that_knows_no_stream_options_is_asked_without_them() -> None:
    with OpenAiServer([error(400, "Unknown field: stream_options")]) as server:
        _ask(OpenAiService(KEY, base_url=server.url))

    assert [True, False] == ["stream_options" in request.body for request in server.requests]


def test_a_follow_up_is_a_conversation_behind_the_same_beginning(
    pdf: Path, hosted: Callable[[OpenAiServer], OpenAiService]
) -> None:
    question = Question("You map files.", (FilePart(pdf, "application/pdf"), TextPart("Map it.")), SCHEMA)

    with OpenAiServer() as server, hosted(server).session() as session:
        first = session.ask(question, silent)
        session.ask(evolve(question, turns=(Turn(first, "Node 1 is wrong."),)), silent)

    one, two = (request.body for request in server.requests)
    assert one["messages"] == two["messages"][:2]
    assert [("assistant", first.text), ("user", "Node 1 is wrong.")] == [
        (message["role"], message["content"]) for message in two["messages"][2:]
    ]
    assert one["prompt_cache_key"] == two["prompt_cache_key"]
