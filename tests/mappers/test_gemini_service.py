from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attrs import evolve

from citekit.adapters.mappers.llm.gemini import uploads
from citekit.adapters.mappers.llm.gemini.service import INLINE_IMAGE_BYTES, INLINE_TOTAL_BYTES, MODEL, GeminiService
from citekit.adapters.mappers.llm.gemini.uploads import GEMINI_MEDIA_TYPES
from citekit.adapters.mappers.llm.messages import (
    FilePart,
    Generation,
    ImagePart,
    NoReplyError,
    Question,
    TextPart,
    Turn,
)
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
from citekit.domain.errors import Cancelled, MapperUnavailable, SourceUnreadable
from citekit.domain.formats import BY_SUFFIX
from citekit.domain.progress import silent
from tests.services.gemini_faults import MP4, PDF, PNG, SCHEMA, Fault, file_for, question_about, service_for
from tests.services.gemini_rules import spelled
from tests.services.gemini_server import KEY, Answer, GeminiServer, candidate, file_data, gemini_server, inline_data


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with gemini_server() as running:
        yield running


@pytest.fixture
def service(server: GeminiServer, tmp_path: Path) -> GeminiService:
    return service_for(server, OrphanedUploads(tmp_path / "leftovers"), lambda _: None)


def a_file(folder: Path, media_type: str = PDF, size: int | None = None) -> FilePart:
    return file_for(Fault(name="any", media_type=media_type, size=size), folder)


class Reports:
    """A progress that notes what it is told, and gives up where the text begins with `until`."""

    def __init__(self, until: str | None = None, error: type[BaseException] = Cancelled) -> None:
        self.until, self.error = until, error
        self.given: list[tuple[float, float | None, str]] = []

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        self.given.append((done, total, message))
        if self.until is not None and message.startswith(self.until):
            raise self.error("given up")


def test_the_model_is_asked_with_the_schema_and_the_file(
    server: GeminiServer, service: GeminiService, tmp_path: Path
) -> None:
    with service.session() as session:
        reply = session.ask(question_about(a_file(tmp_path)), silent)
        (name,) = server.files

    (request,) = server.of("generate")
    text, file = request.json["contents"][0]["parts"]
    assert f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse" == request.path
    assert KEY == request.headers["x-goog-api-key"]
    assert int(request.headers["x-server-timeout"]) >= 3600  # the service's own deadline is for the whole answer
    assert {"text": "Map this."} == text
    assert {"fileUri": f"{server.url}/v1beta/files/{name}", "mimeType": PDF} == file_data(file)
    assert [{"text": "You map files."}] == request.json["systemInstruction"]["parts"]
    assert {
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
    } == request.json["generationConfig"]
    assert {"contents", "systemInstruction", "generationConfig"} == set(request.json)
    assert ('{"nodes": []}', True) == (reply.text, reply.complete)
    assert (1, 1200, 100) == (reply.usage.requests, reply.usage.input_tokens, reply.usage.output_tokens)


def test_nothing_is_sent_that_the_documentation_advises_against(server: GeminiServer, service: GeminiService) -> None:
    with service.session() as session:
        session.ask(Question("s", (TextPart("q"),), SCHEMA), silent)

    assert [] == server.discouraged


@pytest.mark.parametrize("level", ["minimal", "low", "medium", "high"])
def test_what_the_user_sets_is_sent_as_the_service_spells_it(
    server: GeminiServer, service: GeminiService, level: str
) -> None:
    wanted = Generation(temperature=1.5, thinking=level, max_output=5000)

    with evolve(service, generation=wanted).session() as session:
        session.ask(Question("s", (TextPart("q"),), SCHEMA), silent)

    config = spelled(server.of("generate")[0].json)["generationConfig"]
    assert (1.5, 5000) == (config["temperature"], config["maxOutputTokens"])
    assert {"thinkingLevel": level.upper()} == {
        name: value for name, value in config["thinkingConfig"].items() if name != "includeThoughts"
    }


def test_a_level_that_the_model_does_not_have_is_refused_in_the_services_words(service: GeminiService) -> None:
    older = evolve(service, model="gemini-2.5-flash", generation=Generation(thinking="low"))

    with pytest.raises(MapperUnavailable, match="Thinking level is not supported"), older.session() as session:
        session.ask(Question("s", (TextPart("q"),), SCHEMA), silent)


def test_what_the_model_thinks_is_not_part_of_the_answer(server: GeminiServer, service: GeminiService) -> None:
    server.on("generate", candidate('{"a": 1}', thoughts="First I shall"))

    with service.session() as session:
        reply = session.ask(Question("s", (TextPart("q"),), SCHEMA), silent)

    assert '{"a": 1}' == reply.text


def test_a_large_file_is_sent_in_chunks_with_progress(
    server: GeminiServer, service: GeminiService, tmp_path: Path
) -> None:
    part = a_file(tmp_path, MP4, size=20_000_000)
    reports = Reports()

    with service.session() as session:
        session.ask(question_about(part), reports)
        (remote,) = server.files.values()

    offsets = [int(request.headers["x-goog-upload-offset"]) for request in server.of("upload")]
    assert [0, 8_388_608, 16_777_216] == offsets
    assert part.path.read_bytes() == bytes(remote.data)
    assert (20_000_000, 20_000_000, "uploaded lecture.mp4 to Gemini") in reports.given


def test_neither_the_name_nor_the_path_of_a_file_is_sent(
    server: GeminiServer, service: GeminiService, tmp_path: Path
) -> None:
    part = a_file(tmp_path)
    secret = part.path.rename(tmp_path / "Kündigung Müller.pdf")

    with service.session() as session:
        session.ask(question_about(FilePart(secret, PDF)), silent)

    sent = "".join(f"{dict(request.headers)}{request.path}{request.body!r}" for request in server.requests)
    assert "ndigung" not in sent
    assert str(tmp_path) not in sent


def test_every_file_is_sent_once_however_many_ask(server: GeminiServer, service: GeminiService, tmp_path: Path) -> None:
    part = a_file(tmp_path)
    with service.session() as session, ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda _: session.ask(question_about(part), silent), range(8)))

    assert (8, 1, 1) == (len(replies), len(server.of("start")), len(server.of("delete")))
    assert {} == server.files


def test_a_small_picture_goes_into_the_request_itself(
    server: GeminiServer, service: GeminiService, tmp_path: Path
) -> None:
    part = a_file(tmp_path, PNG)

    with service.session() as session:
        session.ask(question_about(part), silent)

    assert [] == server.of("start")
    sent = server.of("generate")[0].json["contents"][0]["parts"][1]
    assert (part.path.read_bytes(), PNG) == inline_data(sent)


def test_a_large_picture_is_uploaded(server: GeminiServer, service: GeminiService, tmp_path: Path) -> None:
    with service.session() as session:
        session.ask(question_about(a_file(tmp_path, PNG, size=INLINE_IMAGE_BYTES + 1)), silent)

    assert 1 == len(server.of("start"))
    assert {} == server.files


def test_a_picture_follows_the_words_that_say_what_it_shows(server: GeminiServer, service: GeminiService) -> None:
    data = bytes(range(256)) * 3

    with service.session() as session:
        session.ask(Question("s", (ImagePart(data, "image/jpeg", "the picture at 12.5 s"),), SCHEMA), silent)

    label, picture = server.of("generate")[0].json["contents"][0]["parts"]
    assert {"text": "the picture at 12.5 s"} == label
    assert (data, "image/jpeg") == inline_data(picture)


def test_more_pictures_than_a_request_takes_are_refused_before_it_is_sent(
    server: GeminiServer, service: GeminiService
) -> None:
    picture = ImagePart(bytes(INLINE_TOTAL_BYTES // 2 + 1), PNG)

    with service.session() as session, pytest.raises(MapperUnavailable, match="exceed the limit of 14 MB"):
        session.ask(Question("s", (picture, picture), SCHEMA), silent)

    assert [] == server.requests


def test_a_file_that_is_not_there_is_the_callers_fault(service: GeminiService, tmp_path: Path) -> None:
    for media_type in (PDF, PNG):
        with service.session() as session, pytest.raises(SourceUnreadable):
            session.ask(question_about(FilePart(tmp_path / "gone", media_type)), silent)


@pytest.mark.parametrize("until", ["uploaded", "Gemini is processing", "asking"])
@pytest.mark.parametrize("error", [Cancelled, KeyboardInterrupt])
def test_cancelling_leaves_nothing_at_the_service(
    server: GeminiServer, service: GeminiService, tmp_path: Path, until: str, error: type[BaseException]
) -> None:
    server.processing_polls = 2

    with pytest.raises(error), service.session() as session:
        session.ask(question_about(a_file(tmp_path, MP4)), Reports(until, error))

    assert {} == server.files
    assert 1 == len(server.of("delete"))
    assert [] == service.orphaned_uploads.pending()


def test_waiting_for_an_answer_can_be_given_up(server: GeminiServer, service: GeminiService, tmp_path: Path) -> None:
    server.on("generate", Answer(waits=True))

    with pytest.raises(Cancelled), service.session() as session:
        session.ask(question_about(a_file(tmp_path)), Reports("waiting for"))

    assert (1, 1) == (len(server.of("generate")), len(server.of("delete")))
    assert {} == server.files


def test_an_upload_that_hangs_can_be_given_up_and_is_remembered(
    server: GeminiServer, service: GeminiService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citekit.adapters.mappers.llm.gemini.uploads.GRACE_SECONDS", 0.0)
    server.on("upload", Answer(waits=True, after=True))

    with pytest.raises(Cancelled), service.session() as session:
        session.ask(question_about(a_file(tmp_path)), Reports("uploading"))

    assert {} == server.files
    assert 1 == len(service.orphaned_uploads.pending())  # its last step may still arrive


def test_a_file_that_shrinks_during_its_upload_ends_it(
    server: GeminiServer, service: GeminiService, tmp_path: Path
) -> None:
    part = a_file(tmp_path, MP4, size=20_000_000)

    def shrinking(kind: str) -> Answer | None:
        if kind == "upload":
            part.path.write_bytes(b"short")
        return None

    server.scripted = shrinking  # type: ignore[method-assign]

    with pytest.raises(MapperUnavailable, match="changed while it was being uploaded"), service.session() as session:
        session.ask(question_about(part), silent)

    assert [] == service.orphaned_uploads.pending()


def test_the_environment_of_the_sdk_decides_nothing(
    server: GeminiServer, service: GeminiService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in {
        "GOOGLE_API_KEY": "AIza-of-another-program",
        "GEMINI_API_KEY": "AIza-of-a-third",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
        "GOOGLE_GENAI_API_VERSION": "v1",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_GENAI_USE_ENTERPRISE": "true",
        "GOOGLE_CLOUD_PROJECT": "a-project",
        "GOOGLE_CLOUD_LOCATION": "us-central1",
        "GOOGLE_GENAI_CLIENT_MODE": "replay",
        "GOOGLE_GENAI_REPLAYS_DIRECTORY": "/nowhere",
    }.items():
        monkeypatch.setenv(name, value)

    with caplog.at_level(logging.WARNING), service.session() as session:
        session.ask(Question("s", (TextPart("q"),), SCHEMA), silent)

    assert [f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"] == [request.path for request in server.requests]
    assert KEY == server.requests[0].headers["x-goog-api-key"]
    assert "" == caplog.text


def test_a_key_never_shows(server: GeminiServer, service: GeminiService, tmp_path: Path) -> None:
    server.on("generate", Answer(403, {"error": {"code": 403, "status": "DENIED", "message": f"Key {KEY} is leaked."}}))

    with service.session() as session, pytest.raises(MapperUnavailable) as caught:
        session.ask(Question("s", (TextPart("q"),), SCHEMA), silent)

    assert KEY not in repr(session) + repr(service) + str(caught.value)
    assert "Key (the key) is leaked" in str(caught.value)


def test_the_variable_of_a_wrong_key_is_named_where_it_is_known(service: GeminiService) -> None:
    wrong = evolve(service, key="AIza-wrong", key_variable="GOOGLE_API_KEY")

    with pytest.raises(MapperUnavailable, match="check GOOGLE_API_KEY, or create"), wrong.session() as session:
        session.ask(Question("s", (TextPart("q"),), SCHEMA), silent)


def test_a_budget_is_that_of_one_conversation(service: GeminiService) -> None:
    frugal = evolve(service, max_requests=1)
    question = Question("s", (TextPart("q"),), SCHEMA)

    for _ in range(2):
        with frugal.session() as session:
            session.ask(question, silent)
            with pytest.raises(MapperUnavailable, match="--max-requests"):
                session.ask(question, silent)


def test_what_the_service_sees_itself_is_within_its_limits(service: GeminiService) -> None:
    limits = {format.name: service.limits(format) for format in BY_SUFFIX.values()}

    pdf = limits["pdf"]
    assert pdf is not None
    assert (True, 1000, 50_000_000) == (pdf.as_file, pdf.pages, pdf.file_bytes)
    assert {"pdf", "jpeg", "png", "webp", "mp4", "mp3"} <= {
        name for name, each in limits.items() if each and each.as_file
    }
    assert {"epub", "python", "gif", "matroska"} <= {name for name, each in limits.items() if each and not each.as_file}
    assert all(each is not None and (each.as_file or each.characters) for each in limits.values())


def test_media_types_are_called_as_the_service_calls_them(
    server: GeminiServer, service: GeminiService, tmp_path: Path
) -> None:
    part = FilePart(a_file(tmp_path, MP4).path, "video/quicktime")

    with service.session() as session:
        session.ask(question_about(part), silent)

    assert GEMINI_MEDIA_TYPES["video/quicktime"] == server.of("start")[0].headers["x-goog-upload-header-content-type"]


def test_an_own_address_takes_the_chunks_too(server: GeminiServer, service: GeminiService, tmp_path: Path) -> None:
    elsewhere = {"X-Goog-Upload-URL": "http://127.0.0.1:9/upload/v1beta/files?upload_id=unknown"}
    server.on("start", Answer(200, {}, elsewhere))

    with pytest.raises(MapperUnavailable), service.session() as session:
        session.ask(question_about(a_file(tmp_path)), silent)

    assert 1 == len(server.of("upload"))


def test_no_thread_outlives_a_conversation(service: GeminiService, tmp_path: Path) -> None:
    before = {thread for thread in threading.enumerate() if thread.daemon is False}

    with service.session() as session:
        session.ask(question_about(a_file(tmp_path)), silent)

    assert before == {thread for thread in threading.enumerate() if thread.daemon is False}


@pytest.mark.long
def test_an_answer_may_take_longer_than_the_timeout_as_long_as_it_keeps_coming(
    server: GeminiServer, service: GeminiService
) -> None:
    server.on("generate", candidate("x" * 4000, pace=0.1))

    with evolve(service, timeout=0.6).session() as session:
        reply = session.ask(Question("s", (TextPart("q"),), SCHEMA), silent)

    assert "x" * 4000 == reply.text
    assert 1 == len(server.of("generate"))


def test_an_answer_that_is_given_up_is_not_read_to_its_end(server: GeminiServer, service: GeminiService) -> None:
    server.on("generate", candidate("x" * 400_000, pace=0.05))

    with pytest.raises(Cancelled), service.session() as session:
        session.ask(Question("s", (TextPart("q"),), SCHEMA), Reports("waiting for"))

    assert server.streamed < 500


def test_a_follow_up_is_a_conversation_that_begins_with_the_same_file(
    server: GeminiServer, service: GeminiService, tmp_path: Path
) -> None:
    server.on("generate", candidate('{"nodes": [1]}', thoughts="Hm.", signature="c2lnbmVk"))
    question = question_about(a_file(tmp_path))

    with service.session() as session:
        first = session.ask(question, silent)
        session.ask(evolve(question, turns=(Turn(first, "Node 1 is wrong."),)), silent)

    one, two = (spelled(request.json)["contents"] for request in server.of("generate"))
    assert 1 == len(server.of("start"))
    assert one == two[:1]
    assert ["user", "model", "user"] == [turn["role"] for turn in two]
    assert '{"nodes": [1]}' == "".join(part["text"] for part in two[1]["parts"])
    assert ["c2lnbmVk"] == [part["thoughtSignature"] for part in two[1]["parts"] if "thoughtSignature" in part]
    assert [{"text": "Node 1 is wrong."}] == two[2]["parts"]


@pytest.mark.long
def test_a_deletion_whose_response_never_ends_times_out_and_stays_recorded(
    server: GeminiServer, service: GeminiService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "DELETE_TIMEOUT", 0.3)
    server.on("delete", Answer(drips=True), Answer(drips=True))

    with service.session() as session:
        reply = session.ask(question_about(a_file(tmp_path)), silent)

    assert reply.complete
    assert 1 == len(service.orphaned_uploads.pending())


def test_waiting_for_the_state_of_a_file_can_be_given_up(
    server: GeminiServer, service: GeminiService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "POLL_SECONDS", 0.0)
    server.processing_polls = 1
    server.on("get", Answer(drips=True))
    seen: list[str] = []

    def progress(done: float, total: float | None = None, message: str = "") -> None:
        seen.append(message)
        if message == "waiting for the service":
            raise Cancelled("given up")

    with pytest.raises(Cancelled), service.session() as session:
        session.ask(question_about(a_file(tmp_path, MP4)), progress)
    assert {} == server.files


def test_the_usage_of_a_blocked_answer_is_reported(
    server: GeminiServer, service: GeminiService, tmp_path: Path
) -> None:
    server.on("generate", candidate("{}", "SAFETY"))

    with pytest.raises(NoReplyError) as caught, service.session() as session:
        session.ask(question_about(a_file(tmp_path)), silent)

    assert 1 == caught.value.usage.requests
    assert caught.value.usage.input_tokens > 0
