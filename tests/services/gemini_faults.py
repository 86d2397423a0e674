"""What can go wrong with Gemini, as data; `outcome_of` lets each happen, and says what the user sees and what remains."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from citekit.adapters.mappers.llm.gemini.service import MODEL, GeminiService
from citekit.adapters.mappers.llm.messages import FilePart, Question, Reply, TextPart
from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
from citekit.adapters.system.retry import Retries
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress, silent
from tests.services.gemini_server import KEY, Answer, GeminiServer, candidate, gemini_server, refusal

SCHEMA = {
    "type": "object",
    "properties": {
        "nodes": {"type": "array", "items": {"type": "object", "properties": {"title": {"type": "string"}}}}
    },
    "required": ["nodes"],
}

PDF, MP4, PNG = "application/pdf", "video/mp4", "image/png"


@frozen(kw_only=True)
class Fault:
    """`script` holds, for each kind of request (see `Recorded.kind`), the answers that come first.

    `ends_well`: the map is made all the same. `requests`: how many questions reach the model.
    """

    name: str
    script: Mapping[str, tuple[Answer, ...]] = field(factory=dict)
    media_type: str = PDF
    key: str | None = KEY
    model: str = MODEL
    address: str | None = None
    timeout: float = 300
    max_requests: int | None = None
    size: int | None = None
    processing_error: str | None = None
    processing_polls: int = 0
    ends_well: bool = False
    requests: int = 1


@frozen(kw_only=True)
class Outcome:
    """`seen` is the error's sentence (None: the map was made), `reply` the model's.

    `sent` counts requests by kind, `remained` names the files at the service, `remembered` those that the next run deletes.
    """

    seen: str | None
    reply: Reply | None
    sent: Mapping[str, int]
    remained: Sequence[str]
    remembered: Sequence[str]
    pauses: Sequence[float]
    server: GeminiServer


def _quota(quota: str, delay: str | None = None, **headers: str) -> Answer:
    details: list[dict[str, Any]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]}
    ]
    if delay is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    return refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", *details, **headers)


_BUSY = refusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
_INTERNAL = refusal(500, "INTERNAL", "An internal error has occurred.")
_LATE = refusal(504, "DEADLINE_EXCEEDED", "The request timed out.")
_MINUTE, _DAY = "GenerateRequestsPerMinutePerProjectPerModel", "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
_TOO_LONG = "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576)."
_BLOCKED = Answer(body={"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}})
_GATEWAY = Answer(502, b"<html><body><h1>502 Bad Gateway</h1></body></html>", {"Content-Type": "text/html"})
_PAGE = Answer(200, b"<!DOCTYPE html><p>Welcome to nginx!</p>", {"Content-Type": "text/html"})
_TORN = candidate('{"nodes": [{"title": "A"}]}')


def _to_be_continued() -> Answer:
    body = candidate('{"nodes": [{"ti', "CONTINUATION").body
    body["candidates"][0]["continuationToken"] = "dG9rZW4="
    return Answer(body=body)


def _on_generate(name: str, *answers: Answer, **more: Any) -> Fault:
    return Fault(name=name, script={"generate": answers}, **more)


def faults() -> tuple[Fault, ...]:
    """Every fault that is known; the order is that of the documentation."""
    return (*_of_keys_and_models(), *_passing(), *_lasting(), *_of_answers(), *_of_uploads(), *_of_deletion())


def _of_keys_and_models() -> tuple[Fault, ...]:
    return (
        Fault(name="no key", key=None, requests=0),
        Fault(name="a malformed key", key="AIza\u2026", requests=0),
        Fault(name="wrong key", key="AIza-wrong", requests=0),
        _on_generate("key refused (401)", refusal(401, "UNAUTHENTICATED", "Request had invalid credentials.")),
        _on_generate(
            "key not permitted (403)", refusal(403, "PERMISSION_DENIED", "Generative Language API is disabled.")
        ),
        _on_generate(
            "account not served (400 FAILED_PRECONDITION)",
            refusal(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
        ),
        Fault(name="unknown model (404)", model="gemini-9-nonesuch"),
        Fault(name="server not reachable", address="nowhere", requests=0),
        Fault(name="address without https://", address="localhost:8080", requests=0),
        _on_generate("an address that is no Gemini (web page)", _PAGE),
        _on_generate("redirect", Answer(302, b"", {"Location": "https://example.org/"})),
    )


def _passing() -> tuple[Fault, ...]:
    well: dict[str, Any] = {"ends_well": True, "requests": 2}
    return (
        _on_generate("429 with Retry-After, then well", _quota(_MINUTE, Retry_After="7"), **well),
        _on_generate("429 with RetryInfo, then well", _quota(_MINUTE, "12.5s"), **well),
        _on_generate("500, then well", _INTERNAL, **well),
        _on_generate("502 of a gateway, then well", _GATEWAY, **well),
        _on_generate("503, then well", _BUSY, **well),
        _on_generate("504, then well", _LATE, **well),
        _on_generate("408, then well", refusal(408, "CANCELLED", "Too slow."), **well),
        _on_generate("disconnect before the answer, then well", Answer(cut=0), **well),
        _on_generate("disconnect in the middle of the answer, then well", Answer(body=_TORN.body, cut=40), **well),
        _on_generate("no answer in time, then well", Answer(waits=True), timeout=0.3, **well),
    )


def _lasting() -> tuple[Fault, ...]:
    return (
        _on_generate("429 that lasts", *(_quota(_MINUTE, "1s"),) * 4, requests=4),
        _on_generate("429 that asks for a long wait", _quota(_MINUTE, "3600s")),
        _on_generate(
            "no quota at all for the model (429)",
            refusal(
                429, "RESOURCE_EXHAUSTED", "You exceeded your current quota: free_tier_requests, limit: 0, model: x."
            ),
        ),
        _on_generate("quota of the day (429)", _quota(_DAY, "20s")),
        _on_generate("503 that lasts", *(_BUSY,) * 4, requests=4),
        _on_generate("500 that lasts", *(_INTERNAL,) * 4, requests=4),
        _on_generate("no answer in time, again and again", *(Answer(waits=True),) * 4, timeout=0.3, requests=2),
        _on_generate("disconnect, again and again", *(Answer(cut=0),) * 4, requests=4),
        _on_generate("budget used up", _BUSY, max_requests=1),
        _on_generate(
            "request refused (400)", refusal(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
        ),
        _on_generate("more tokens than the model takes (400)", refusal(400, "INVALID_ARGUMENT", _TOO_LONG)),
        _on_generate("request too large (413)", Answer(413, b"<html>Too large</html>", {"Content-Type": "text/html"})),
    )


def _of_answers() -> tuple[Fault, ...]:
    stopped = ("SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "OTHER")
    return (
        _on_generate(
            "answer cut off at the limit of output", candidate('{"nodes": [{"ti', "MAX_TOKENS"), ends_well=True
        ),
        _on_generate("answer to be continued", _to_be_continued(), ends_well=True),
        _on_generate("limit of output spent on thinking", candidate(None, "MAX_TOKENS", thoughts="Hm.")),
        _on_generate("question blocked (SAFETY)", _BLOCKED),
        *(_on_generate(f"answer broken off ({reason})", candidate(None, reason)) for reason in stopped),
        _on_generate("no candidates", Answer(body={"usageMetadata": {"promptTokenCount": 9}})),
        _on_generate("empty answer", candidate(None, "STOP")),
        _on_generate("malformed JSON of the service", Answer(body=b'{"candidates": [{"content": {"par')),
        _on_generate("JSON of another shape", Answer(body=["no", "object"])),
    )


def _of_uploads() -> tuple[Fault, ...]:
    none: dict[str, Any] = {"requests": 0}
    return (
        Fault(name="PDF over 50 MB", size=61_200_000, **none),
        Fault(name="recording over 2 GB", size=2_400_000_000, media_type=MP4, **none),
        Fault(name="upload refused (403)", script={"start": (refusal(403, "PERMISSION_DENIED", "No."),)}, **none),
        Fault(name="upload fails to start (503), then well", script={"start": (_BUSY,)}, ends_well=True),
        Fault(name="upload fails in the middle (500), then well", script={"upload": (_INTERNAL,)}, ends_well=True),
        Fault(
            name="upload refused in the middle (400)",
            script={"upload": (refusal(400, "INVALID_ARGUMENT", "Bad."),)},
            **none,
        ),
        Fault(name="disconnect during the upload, then well", script={"upload": (Answer(cut=0),)}, ends_well=True),
        Fault(
            name="disconnect after the last byte, then well",
            script={"upload": (Answer(cut=0, after=True),)},
            ends_well=True,
        ),
        Fault(name="upload without an address", script={"start": (Answer(200, {}),)}, **none),
        Fault(name="processing takes a while", media_type=MP4, processing_polls=3, ends_well=True),
        Fault(name="processing never ends", media_type=MP4, processing_polls=10**6, timeout=20, **none),
        Fault(name="processing fails", media_type=MP4, processing_error="The video has no frames.", **none),
        Fault(
            name="state not to be had (503), then well",
            media_type=MP4,
            processing_polls=1,
            script={"get": (_BUSY,)},
            ends_well=True,
        ),
    )


def _of_deletion() -> tuple[Fault, ...]:
    return (
        Fault(name="deletion fails once (503)", script={"delete": (_BUSY,)}, ends_well=True),
        Fault(name="deletion fails", script={"delete": (_BUSY,) * 2}, ends_well=True),
        Fault(name="question and deletion fail", script={"generate": (_BLOCKED,), "delete": (_BUSY,) * 2}),
    )


def outcome_of(fault: Fault, folder: Path, progress: Progress = silent) -> Outcome:
    """Let `fault` happen to a question about a file in `folder`, which is empty before."""
    pauses: list[float] = []
    leftovers = OrphanedUploads(folder / "leftovers")
    with gemini_server() as server:
        for kind, answers in fault.script.items():
            server.on(kind, *answers)
        server.processing_polls = fault.processing_polls
        server.processing_fails = {"code": 3, "message": fault.processing_error} if fault.processing_error else None
        service = service_for(server, leftovers, pauses.append, fault)
        reply, seen = _asked(service, file_for(fault, folder), progress)
        sent: dict[str, int] = {}
        for request in server.requests:
            sent[request.kind] = sent.get(request.kind, 0) + 1
        remained = sorted(name for name, file in server.files.items() if file.state != "UPLOADING")
    remembered = [each.name for each in leftovers.pending()]
    return Outcome(
        seen=seen, reply=reply, sent=sent, remained=remained, remembered=remembered, pauses=pauses, server=server
    )


def service_for(
    server: GeminiServer, leftovers: OrphanedUploads, sleep: Callable[[float], None], fault: Fault | None = None
) -> GeminiService:
    """The real service, talking to the local server; its pauses are only noted."""
    fault = fault or Fault(name="none")
    address = {None: server.url, "nowhere": f"http://127.0.0.1:{_closed_port()}"}.get(fault.address, fault.address)
    return GeminiService(
        fault.key,
        fault.model,
        address,
        fault.timeout,
        retries=Retries(count=3, sleep=sleep, jitter=lambda: 1.0),
        max_requests=fault.max_requests,
        orphaned_uploads=leftovers,
    )


def file_for(fault: Fault, folder: Path) -> FilePart:
    """A file of the fault's kind and size (sparse where it is large); the local server does not look inside."""
    name = {PDF: "book.pdf", MP4: "lecture.mp4", PNG: "diagram.png"}[fault.media_type]
    path = folder / name
    with path.open("wb") as file:
        file.write(b"%PDF-1.7\n" * 100)
        if fault.size is not None:
            file.truncate(fault.size)
    return FilePart(path, fault.media_type)


def question_about(*parts: FilePart) -> Question:
    return Question("You map files.", (TextPart("Map this."), *parts), SCHEMA)


def _asked(service: GeminiService, part: FilePart, progress: Progress) -> tuple[Reply | None, str | None]:
    try:
        with service.session() as session:
            return session.ask(question_about(part), progress), None
    except CiteKitError as error:
        return None, str(error)


def _closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
