"""A local server that embeds as OpenAI and the Gemini API document it: keys, models, limits of batches, dimensions.

Its vectors are those of words, of length 3. Faults are scripted, one `Fault` for each request; beyond the script it answers.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

from attrs import define, field, frozen

from citekit.adapters.search.embedders.hashing import HashingEmbedder

KEY = "test-key-0123456789abcdef"
OPENAI_MODELS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
OTHER_MODELS = {"nomic-embed-text": 64}
GEMINI_MODELS = ("gemini-embedding-001", "gemini-embedding-2")


@frozen(kw_only=True)
class Fault:
    """What becomes of one request: `status` and `body` as they are, or what the `manner` says of a regular answer."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(factory=dict)
    manner: Literal["", "one_less", "shorter", "words", "zeros", "digits", "sum", "reversed", "drop", "hang"] = ""


@frozen
class Recorded:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        if "requests" in self.body:
            return [each["content"]["parts"][0]["text"] for each in self.body["requests"]]
        return list(self.body["input"])


@define
class EmbeddingServer:
    """`with EmbeddingServer(script) as server:`. `keyed` servers want `KEY`; `models` None is OpenAI's own."""

    script: Sequence[Fault] = ()
    keyed: bool = True
    models: Mapping[str, int] = field(factory=lambda: OPENAI_MODELS)
    requests: list[Recorded] = field(factory=list, init=False)
    closing: threading.Event = field(factory=threading.Event, init=False)
    _http: ThreadingHTTPServer = field(init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def __enter__(self) -> EmbeddingServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server._handle(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def _handle(self, http: BaseHTTPRequestHandler) -> None:
        data = http.rfile.read(int(http.headers.get("Content-Length", "0")))
        headers = {name.lower(): text for name, text in http.headers.items()}
        recorded = Recorded(http.path, headers, json.loads(data))
        with self._lock:
            number = len(self.requests)
            self.requests.append(recorded)
        fault = self.script[number] if number < len(self.script) else Fault()
        if fault.manner == "hang":
            self.closing.wait()
        if fault.manner in ("drop", "hang"):
            http.close_connection = True
            return
        status, body = (fault.status, fault.body) if fault.body is not None else self._answer(recorded, fault)
        _send(http, status, body, fault.headers)

    def _answer(self, recorded: Recorded, fault: Fault) -> tuple[int, Any]:
        if recorded.path == "/v1/embeddings":
            return self._openai(recorded, fault)
        return self._gemini(recorded, fault)

    def _openai(self, recorded: Recorded, fault: Fault) -> tuple[int, Any]:
        body, texts = recorded.body, recorded.texts
        if self.keyed and recorded.headers.get("authorization") != f"Bearer {KEY}":
            said = recorded.headers.get("authorization", "")  # as careless servers do
            return 401, _openai_error(f"Incorrect API key provided: {said}.", "invalid_api_key")
        if body["model"] not in self.models:
            return 404, _openai_error(f"The model `{body['model']}` does not exist", "model_not_found")
        if not all(texts) or len(texts) > 2048:
            return 400, _openai_error("'$.input' is invalid.")
        if max(map(_tokens, texts)) > 8192 or sum(map(_tokens, texts)) > 300_000:
            return 400, _openai_error("Requested too many tokens.", "max_tokens_per_request")
        native = self.models[body["model"]]
        if body.get("dimensions", native) > native:
            return 400, _openai_error(f"'dimensions' must be at most {native}.")
        vectors = _vectors(texts, body.get("dimensions", native), fault)
        items = [{"object": "embedding", "index": at, "embedding": each} for at, each in enumerate(vectors)]
        items = items[::-1] if fault.manner == "reversed" else items
        return 200, {"object": "list", "data": items, "model": body["model"], "usage": {"total_tokens": 1}}

    def _gemini(self, recorded: Recorded, fault: Fault) -> tuple[int, Any]:
        model, _, method = recorded.path.rpartition("/")[2].partition(":")
        if recorded.headers.get("x-goog-api-key") != KEY:
            said = f"API key not valid: {recorded.headers.get('x-goog-api-key')}. Please pass a valid API key."
            return 400, _google_error(400, "INVALID_ARGUMENT", said)
        if model not in GEMINI_MODELS or method != "batchEmbedContents":
            return 404, _google_error(404, "NOT_FOUND", f"models/{model} is not found for API version v1beta")
        requests, texts = recorded.body["requests"], recorded.texts
        if len(requests) > 100:
            said = "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch"
            return 400, _google_error(400, "INVALID_ARGUMENT", said)
        if any(each.get("taskType") and model == "gemini-embedding-2" for each in requests):
            return 400, _google_error(400, "INVALID_ARGUMENT", "task_type is not supported by this model")
        if not all(texts) or max(map(_tokens, texts)) > 2048:
            return 400, _google_error(400, "INVALID_ARGUMENT", "content is empty or too long")
        vectors = _vectors(texts, requests[0].get("outputDimensionality", 3072), fault)
        return 200, {"embeddings": [{"values": each} for each in vectors]}


def google_error(status: int, word: str, message: str, retry: str | None = None) -> Fault:
    """A `google.rpc` error."""
    return Fault(
        status=status, body=_google_error(status, word, message), headers={"Retry-After": retry} if retry else {}
    )


def openai_error(status: int, message: str, code: str | None = None, retry: str | None = None) -> Fault:
    """An error in OpenAI's form."""
    return Fault(status=status, body=_openai_error(message, code), headers={"Retry-After": retry} if retry else {})


def _openai_error(message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": code or "invalid_request_error", "param": None, "code": code}}


def _google_error(status: int, word: str, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "message": message, "status": word}}


def _tokens(text: str) -> int:
    """More than a tokenizer would count: no fewer than the words, and one for four bytes."""
    return max(len(text.split()), len(text.encode()) // 4)


def _vectors(texts: Sequence[str], dimensions: int, fault: Fault) -> list[Any]:
    embedder = HashingEmbedder(dimensions)
    found: list[Any] = [[3 * value for value in embedder.query(text)] for text in texts]
    match fault.manner:
        case "one_less":
            return found[1:]
        case "shorter":
            return [found[0][:-1], *found[1:]]
        case "words":
            return [["much"] * dimensions, *found[1:]]
        case "zeros":
            return [[0.0] * dimensions, *found[1:]]
        case "digits":  # a whole number that is too large for a float
            return [[10**400] * dimensions, *found[1:]]
        case "sum":  # each square is a float, but their sum is not
            return [[1.3e154] * dimensions, *found[1:]]
    return found


def _send(http: BaseHTTPRequestHandler, status: int, body: Any, headers: Mapping[str, str]) -> None:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    http.send_response(status)
    kind = "text/html" if isinstance(body, str) else "application/json"
    for name, value in {"Content-Type": kind, **headers, "Content-Length": str(len(data))}.items():
        http.send_header(name, value)
    http.end_headers()
    http.wfile.write(data)
