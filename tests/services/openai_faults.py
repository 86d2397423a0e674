"""What can go wrong at OpenAI or a server like it, as data; `outcome_of` lets each happen, and says what the user sees."""

# mypy: disable-error-code="no-untyped-call"
# PyMuPDF has no annotations of its own.

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pymupdf
from attrs import frozen

from citekit.adapters.mappers.llm.messages import FilePart, ImagePart, Part, Question, Reply, TextPart
from citekit.adapters.mappers.llm.openai.service import OpenAiService
from citekit.adapters.system.retry import Retries
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress, silent
from tests.services.openai_server import KEY, Compatible, OpenAiServer, Recorded, Step, error

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "nodes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer"}}},
                "required": ["title"],
            },
        },
    },
    "required": ["title", "nodes"],
}


@frozen(kw_only=True)
class Fault:
    """`script` holds what becomes of the first requests, `key` and `model` are those of the user.

    `says` are words of the error that the user sees; where there are none, the question is answered after all, and `notes`
    are words of the reply's notes. `requests` counts what was sent with two retries, `waits` are the pauses between them,
    where they are certain. `about` is what is asked about: words and a picture, a PDF, a scan, or a PDF of 60 MB.
    """

    name: str
    script: tuple[Step, ...] = ()
    compatible: Compatible | None = None
    key: str | None = KEY
    model: str = "gpt-6.1-terra"
    address: str | None = None
    about: Literal["words", "pdf", "scan", "huge"] = "words"
    says: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    requests: int = 1
    waits: tuple[float, ...] = ()
    timeout: float = 30.0
    max_requests: int | None = None


@frozen(kw_only=True)
class Outcome:
    """`seen` is the error's sentence (None: the question was answered), `reply` the model's, `sent` all requests.

    Nothing ever remains at the service: files are sent within the request.
    """

    seen: str | None
    reply: Reply | None
    sent: Sequence[Recorded]
    pauses: Sequence[float]


def outcome_of(fault: Fault, folder: Path, progress: Progress = silent) -> Outcome:
    """Let `fault` happen at a local server; files are made in `folder`."""
    pauses: list[float] = []
    with OpenAiServer(fault.script, fault.compatible) as server:
        service = OpenAiService(
            fault.key,
            fault.model,
            _address(fault, server),
            fault.timeout,
            Retries(count=2, sleep=pauses.append),
            fault.max_requests,
            text_of,
        )
        reply, seen = None, None
        try:
            with service.session() as session:
                reply = session.ask(Question("You map files.", _parts(fault, folder), SCHEMA), progress)
        except CiteKitError as raised:
            seen = str(raised)
    return Outcome(seen=seen, reply=reply, sent=tuple(server.requests), pauses=tuple(pauses))


def text_of(path: Path) -> str:
    """The text of a PDF, page by page; empty where no page has any."""
    with pymupdf.open(path) as document:
        texts = [page.get_text().strip() for page in document]
    return "\n".join(f"[page {number}]\n{text}" for number, text in enumerate(texts, 1)) if any(texts) else ""


def make_pdf(path: Path, *, scan: bool = False) -> Path:
    """A PDF of three pages, with or without text."""
    with pymupdf.open() as document:
        for number in range(3):
            page = document.new_page()
            page.draw_rect((50, 50, 60, 60))
            for line in range(0 if scan else 30):
                page.insert_text(
                    (50, 50 + 20 * line), f"Chapter {number + 1}, line {line}: what is said there at length."
                )
        document.save(path)
    return path


def _address(fault: Fault, server: OpenAiServer) -> str | None:
    match fault.address:
        case None:
            return server.url
        case "openai":
            return None
        case "nowhere":
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                return f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    return fault.address


def _parts(fault: Fault, folder: Path) -> tuple[Part, ...]:
    words, path = TextPart("Map this."), folder / "paper.pdf"
    if fault.about == "words":
        return words, ImagePart(b"\x89PNG\r\n\x1a\n", "image/png", "the picture at 12.5 s")
    if fault.about == "huge":
        with path.open("wb") as stream:
            stream.truncate(60_000_000)
    else:
        make_pdf(path, scan=fault.about == "scan")
    return FilePart(path, "application/pdf"), words


_LIMITED = error(429, "Rate limit reached for gpt-6.1-terra", "rate_limit_exceeded", Retry_After="7")
_LATER = error(429, "Rate limit reached for gpt-6.1-terra", "rate_limit_exceeded", Retry_After="3600")
_OTHER = "llama3.2-vision"

FAULTS: tuple[Fault, ...] = (
    Fault(name="no key", address="openai", key=None, says=("OPENAI_API_KEY is not set", "--mapper local"), requests=0),
    Fault(name="a malformed key", key="sk-\u2026", says=("OPENAI_API_KEY", "Copy it again"), requests=0),
    Fault(name="an address without http://", address="localhost:11434", says=("base URL", "http://"), requests=0),
    Fault(name="server not reachable", address="nowhere", says=("cannot be reached", "--base-url"), requests=0),
    Fault(name="file over the limit", about="huge", says=("60.0 MB", "is 50 MB"), requests=0),
    Fault(name="wrong key", key="sk-wrong-0000006789", says=("does not accept the key", "401", "OPENAI_API_KEY")),
    Fault(
        name="a server that wants a key, and none is set",
        compatible=Compatible(keyed=True),
        key=None,
        model=_OTHER,
        says=("requires a key", "401", "OPENAI_API_KEY"),
    ),
    Fault(
        name="key without permission",
        script=(error(403, "Country, region, or territory not supported", "unsupported_country_region_territory"),),
        says=("does not permit this request with this key", "403", "Country, region, or territory not supported"),
    ),
    Fault(name="unknown model", model="gpt-99", says=("no model 'gpt-99'", "404", "--model")),
    Fault(
        name="wrong address",
        script=(Step(status=404, body="404 page not found"),),
        says=("does not offer chat completions at this address", "404", "/v1"),
    ),
    Fault(
        name="a web page instead of an answer",
        script=(Step(body="<html><body>It works!</body></html>"),),
        says=("cannot be read", "--base-url"),
    ),
    Fault(
        name="bad request",
        script=(error(400, "Invalid 'messages': something is off.", "invalid_request"),) * 3,
        says=("rejected the request", "400", "something is off"),
        requests=2,  # a server that is not OpenAI itself is tried without the schema too
    ),
    Fault(
        name="context too short",
        script=(error(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),),
        says=("exceeds the context of the model", "400", "--model"),
    ),
    Fault(
        name="request too large",
        script=(Step(status=413, body="<html>413 Request Entity Too Large</html>"),),
        says=("does not accept a request of that size", "413"),
    ),
    Fault(name="rate limit, then free", script=(_LIMITED,), requests=2, waits=(7.0,)),
    Fault(
        name="rate limit that stays",
        script=(_LIMITED,) * 3,
        says=("is rate-limiting this key", "429", "--model-concurrency"),
        requests=3,
        waits=(7.0, 7.0),
    ),
    Fault(name="rate limit for an hour", script=(_LATER,), says=("is rate-limiting this key", "429", "3600 s")),
    Fault(
        name="no credit",
        script=(error(429, "You exceeded your current quota, please check your plan.", "insufficient_quota"),),
        says=("no credit left", "429"),
    ),
    Fault(
        name="no credit at OpenRouter",
        script=(Step(status=402, body={"error": {"code": 402, "message": "Insufficient credits"}}),),
        says=("no credit left", "402"),
    ),
    Fault(
        name="more tokens at once than the account may send",
        script=(error(429, "Request too large for gpt-6.1-terra on tokens per min (TPM)", "rate_limit_exceeded"),),
        says=("does not accept a request of that size", "429"),
    ),
    *(
        Fault(
            name=f"out of order ({status}), then well", script=(error(status, "The server had an error."),), requests=2
        )
        for status in (408, 500, 502, 503, 504)
    ),
    Fault(
        name="out of order for long",
        script=(error(503, "The engine is currently overloaded."),) * 3,
        says=("failed", "503", "overloaded"),
        requests=3,
    ),
    Fault(name="disconnect before the answer", script=(Step(manner="drop"),), requests=2),
    Fault(name="disconnect in the middle", script=(Step(manner="cut"),), requests=2),
    Fault(
        name="disconnects for long",
        script=(Step(manner="cut"),) * 3,
        says=("connection", "was lost"),
        requests=3,
    ),
    Fault(
        name="no answer in time",
        script=(Step(manner="hang"),) * 3,
        says=("sent no data for 0.3 s", "--timeout"),
        requests=2,
        timeout=0.3,
    ),
    Fault(
        name="malformed JSON around the answer", script=(Step(body='{"id": "chatcmpl-1", "choi'),), says=("be read",)
    ),
    Fault(name="no choices", script=(Step(body={"id": "1", "choices": []}),), says=("cannot be read", "no message")),
    Fault(
        name="error inside an answer of status 200, then well",
        script=(Step(body={"error": {"code": 502, "message": "Provider returned error"}}),),
        requests=2,
    ),
    Fault(
        name="refusal",
        script=(Step(refusal="I'm sorry, I can't help with that."),),
        says=("rejected the request", "I can't help with that", "--mapper local"),
    ),
    Fault(name="content filter", script=(Step(text="", finish="content_filter"),), says=("rejected the request",)),
    Fault(
        name="refusal as an error",
        script=(error(400, "Your input was flagged by our policy.", "content_policy_violation"),),
        says=("rejected the request", "flagged", "400"),
    ),
    Fault(name="empty answer", script=(Step(text=""),), says=("empty answer", "--model")),
    Fault(
        name="all output spent on thinking",
        script=(Step(text="", finish="length"),),
        says=("used all of its output", "--model"),
    ),
    Fault(
        name="a server without structured outputs",
        compatible=Compatible(schema="refuses"),
        key=None,
        model=_OTHER,
        notes=("does not enforce a schema",),
        requests=2,
    ),
    Fault(
        name="a server that ignores the schema",
        compatible=Compatible(schema="ignores"),
        key=None,
        model=_OTHER,
        notes=("does not enforce a schema",),
        requests=2,
    ),
    Fault(
        name="a server without any JSON mode",
        compatible=Compatible(schema="refuses", json_mode=False),
        key=None,
        model=_OTHER,
        notes=("no JSON mode",),
        requests=3,
    ),
    Fault(
        name="a server without pictures",
        compatible=Compatible(pictures=False),
        key=None,
        model=_OTHER,
        notes=("accepts no pictures",),
        requests=2,
    ),
    Fault(
        name="a server that accepts no files",
        compatible=Compatible(),
        key=None,
        model=_OTHER,
        about="pdf",
        notes=("accepts no files",),
        requests=2,
    ),
    Fault(
        name="a server that leaves files aside in silence",
        compatible=Compatible(files="ignores"),
        key=None,
        model=_OTHER,
        about="pdf",
        notes=("accepts no files",),
        requests=2,
    ),
    Fault(
        name="a scan, and a server that accepts no files",
        compatible=Compatible(),
        key=None,
        model=_OTHER,
        about="scan",
        says=("accepts no files", "has no text"),
    ),
    Fault(
        name="budget of requests used up",
        script=(error(503, "The engine is currently overloaded."),) * 3,
        max_requests=2,
        says=("limit on requests (2)", "--max-requests"),
        requests=2,
    ),
)
"""Every fault that is known; the order is that of the documentation."""
