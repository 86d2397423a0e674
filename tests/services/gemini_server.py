"""A local server that behaves as the Gemini API documents: resumable uploads, states of files, answers, and faults on order.

What it keeps to: the reference of the Files API and of `models.generateContent` (v1beta), and `google.rpc` error bodies.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from attrs import define, field, frozen

from tests.services.gemini_rules import discouraged, refused, spelled

KEY = "AIza-local-test-key"
MODELS = ("gemini-3.8-flash", "gemini-3-pro-preview", "gemini-2.5-flash")
ANSWER = '{"nodes": []}'
GRANULARITY = 256 * 1024


@frozen
class Answer:
    """What is sent back instead of the regular answer.

    `cut` bytes of the body are sent before the connection is closed (0: not even headers). `waits` holds the answer back
    until the server is closed. `after` lets the request have its regular effect first. `pace` is the pause, in seconds,
    after each event of a streamed answer, or before any other. `drips`: bytes of the body come one by one, without end.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(factory=dict)
    cut: int | None = None
    waits: bool = False
    after: bool = False
    pace: float = 0.0
    drips: bool = False


@frozen
class Recorded:
    """A request as it came: `kind` is one of start, upload, get, delete, list, generate, other."""

    kind: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@define
class Remote:
    """A file at the service."""

    name: str
    media_type: str
    size: int
    data: bytearray = field(factory=bytearray)
    state: str = "UPLOADING"
    polls_left: int = 0
    error: Any = None


def error_body(status: int, word: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    """A `google.rpc.Status` in JSON."""
    body: dict[str, Any] = {"code": status, "message": message, "status": word}
    return {"error": {**body, "details": list(details)} if details else body}


def refusal(status: int, word: str, message: str, *details: dict[str, Any], **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, error_body(status, word, message, *details), named)


def candidate(
    text: str | None,
    reason: str | None = "STOP",
    *,
    thoughts: str = "",
    signature: str | None = None,
    pace: float = 0.0,
) -> Answer:
    """An answer of the model."""
    parts: list[dict[str, Any]] = [{"text": thoughts, "thought": True}] if thoughts else []
    signed = {"thoughtSignature": signature} if signature else {}
    parts += [] if text is None else [{"text": text, **signed}]
    content = {"content": {"role": "model", "parts": parts}} if parts else {"content": {"role": "model"}}
    found = {**content, "index": 0} | ({"finishReason": reason} if reason else {})
    return Answer(body={"candidates": [found], **USAGE}, pace=pace)


def events(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An answer in the events of a stream: a few characters each, the reason of the end and the usage with the last."""
    candidates = body.get("candidates") or []
    parts = candidates[0].get("content", {}).get("parts", []) if candidates else []
    pieces = [piece for part in parts for piece in _in_pieces(part)]
    for number, piece in enumerate(pieces):
        if number < len(pieces) - 1:
            yield {"candidates": [{"content": {"role": "model", "parts": [piece]}, "index": 0}], "modelVersion": "m"}
    last = {**candidates[0], "content": {"role": "model", "parts": pieces[-1:]}} if candidates else None
    yield {**body, "candidates": [last]} if last else body


def _in_pieces(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The words of a part, cut up; a signature comes with a last part without words, as the service does it."""
    text = part.get("text", "")
    rest = {name: value for name, value in part.items() if name not in ("text", "thoughtSignature")}
    for start in range(0, len(text), 400):
        yield {**rest, "text": text[start : start + 400]}
    if "thoughtSignature" in part:
        yield {**rest, "text": "", "thoughtSignature": part["thoughtSignature"]}


USAGE = {
    "usageMetadata": {
        "promptTokenCount": 1200,
        "candidatesTokenCount": 80,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 1300,
    },
    "modelVersion": "gemini-3.8-flash",
    "responseId": "r1",
}


class GeminiServer:
    """Listens on a free local port. `requests` holds what came, `files` what lies there now, `discouraged` what the
    documentation advises against in them. `hear` gives the text for the sound in a request; otherwise it is `answer`."""

    def __init__(self, key: str = KEY) -> None:
        self.key = key
        self.answer = ANSWER
        self.hear: Callable[[bytes], str] | None = None
        self.processing_polls = 0
        self.processing_fails: Any = None
        self.requests: list[Recorded] = []
        self.files: dict[str, Remote] = {}
        self.closing = threading.Event()
        self.errors: list[BaseException] = []
        self.discouraged: list[str] = []
        self.streamed = 0
        self._scripts: dict[str, deque[Answer]] = {}
        self._lock = threading.RLock()
        self._http = _Listener(("127.0.0.1", 0), _Handler)
        self._http.state = self
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def on(self, kind: str, *answers: Answer) -> None:
        """The next requests of that kind are answered so, one after the other; then regularly again."""
        self._scripts.setdefault(kind, deque()).extend(answers)

    def of(self, kind: str) -> list[Recorded]:
        return [request for request in self.requests if request.kind == kind]

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def scripted(self, kind: str) -> Answer | None:
        with self._lock:
            script = self._scripts.get(kind)
            return script.popleft() if script else None

    def handle(self, request: Recorded) -> Answer:
        """The regular answer."""
        with self._lock:
            if request.kind != "upload" and request.headers.get("x-goog-api-key") != self.key:
                return _INVALID_KEY
            return getattr(self, f"_{request.kind}")(request)  # type: ignore[no-any-return]

    def _other(self, request: Recorded) -> Answer:
        return refusal(404, "NOT_FOUND", f"Nothing at {request.path}")

    def _start(self, request: Recorded) -> Answer:
        headers = request.headers
        if (headers.get("x-goog-upload-protocol"), headers.get("x-goog-upload-command")) != ("resumable", "start"):
            return refusal(400, "INVALID_ARGUMENT", "Not a resumable upload.")
        size = int(headers["x-goog-upload-header-content-length"])
        media_type = headers["x-goog-upload-header-content-type"]
        name = request.json["file"]["name"].removeprefix("files/")
        if not re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?", name):
            return refusal(400, "INVALID_ARGUMENT", "* CreateFileRequest.file.name: not a file name")
        if name in self.files:
            return refusal(409, "ALREADY_EXISTS", f"Requested entity already exists: {name}")
        self.files[name] = Remote(name, media_type, size)
        url = f"{self.url}/upload/v1beta/files?upload_id={name}&upload_protocol=resumable"
        return Answer(200, {}, {"X-Goog-Upload-URL": url, "X-Goog-Upload-Status": "active"})

    def _upload(self, request: Recorded) -> Answer:
        file = self.files.get(parse_qs(urlsplit(request.path).query)["upload_id"][0])
        commands = request.headers["x-goog-upload-command"].split(", ")
        if file is None or file.state != "UPLOADING":
            return refusal(404, "NOT_FOUND", "Upload has already been terminated.")
        if int(request.headers["x-goog-upload-offset"]) != len(file.data):
            return refusal(400, "INVALID_ARGUMENT", f"Wrong offset; {len(file.data)} bytes were received.")
        if "finalize" not in commands and len(request.body) % GRANULARITY:
            return refusal(400, "INVALID_ARGUMENT", "The chunk is no multiple of the granularity.")
        file.data += request.body
        if "finalize" not in commands:
            return Answer(
                200, "", {"X-Goog-Upload-Status": "active", "X-Goog-Upload-Size-Received": str(len(file.data))}
            )
        if len(file.data) != file.size:
            return refusal(400, "INVALID_ARGUMENT", "The size is not that which was announced.")
        return self._finalized(file)

    def _finalized(self, file: Remote) -> Answer:
        file.polls_left = self.processing_polls if file.media_type.startswith(("video/", "audio/")) else 0
        file.state = "PROCESSING" if file.polls_left or self.processing_fails else "ACTIVE"
        return Answer(200, {"file": self._resource(file)}, {"X-Goog-Upload-Status": "final"})

    def _get(self, request: Recorded) -> Answer:
        file = self._found(request)
        if file is None:
            return _forbidden(request)
        shown = self._resource(file)
        file.polls_left -= 1
        if file.state == "PROCESSING" and file.polls_left <= 0:
            file.state, file.error = ("FAILED", self.processing_fails) if self.processing_fails else ("ACTIVE", None)
        return Answer(200, shown)

    def _delete(self, request: Recorded) -> Answer:
        file = self._found(request)
        if file is None:
            return _forbidden(request)
        del self.files[file.name]
        return Answer(200, {})

    def _list(self, request: Recorded) -> Answer:
        return Answer(
            200, {"files": [self._resource(file) for file in self.files.values() if file.state != "UPLOADING"]}
        )

    def _found(self, request: Recorded) -> Remote | None:
        file = self.files.get(urlsplit(request.path).path.rsplit("/", 1)[-1])
        return file if file is not None and file.state != "UPLOADING" else None

    def _resource(self, file: Remote) -> dict[str, Any]:
        return {
            "name": f"files/{file.name}",
            "mimeType": file.media_type,
            "sizeBytes": str(file.size),
            "createTime": "2026-11-20T10:00:00.000000Z",
            "updateTime": "2026-11-20T10:00:00.000000Z",
            "expirationTime": "2026-11-22T10:00:00.000000Z",
            "sha256Hash": base64.b64encode(hashlib.sha256(file.data).digest()).decode(),
            "uri": f"{self.url}/v1beta/files/{file.name}",
            "state": file.state,
            "source": "UPLOADED",
            **({"error": file.error} if file.error else {}),
        }

    def _generate(self, request: Recorded) -> Answer:
        model = urlsplit(request.path).path.rsplit("/", 1)[-1].removesuffix(":streamGenerateContent")
        if model not in MODELS:
            text = f"models/{model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels"
            return refusal(404, "NOT_FOUND", text)
        fault = self._fault_of(spelled(request.json), model)
        if fault is not None:
            return fault
        return candidate(self.answer if self.hear is None else self.hear(sound_in(request)), thoughts="Let me see.")

    def _fault_of(self, body: dict[str, Any], model: str) -> Answer | None:
        fault = refused(body, model)
        if fault is not None:
            return _invalid(fault)
        self.discouraged += discouraged(body, model)
        for part in (part for turn in body["contents"] for part in turn["parts"]):
            if "fileData" in part:
                file = self.files.get(file_data(part)["fileUri"].rsplit("/", 1)[-1])
                if file is None:
                    return refusal(403, "PERMISSION_DENIED", "You do not have permission to access the File.")
                if file.state != "ACTIVE":
                    text = f"The File {file.name} is not in an ACTIVE state and usage is not allowed."
                    return refusal(400, "FAILED_PRECONDITION", text)
        return None


def file_data(part: dict[str, Any]) -> dict[str, str]:
    """The file that a part names; the service reads both spellings of a field, as Protocol Buffers do in JSON."""
    plain = part["fileData"]
    return {
        "fileUri": plain.get("fileUri") or plain["file_uri"],
        "mimeType": plain.get("mimeType") or plain["mime_type"],
    }


def inline_data(part: dict[str, Any]) -> tuple[bytes, str]:
    """The bytes and the media type of a part that holds them; base64 in either alphabet."""
    plain = part["inlineData"]
    return base64.urlsafe_b64decode(plain["data"].translate({43: 45, 47: 95})), plain.get("mimeType") or plain[
        "mime_type"
    ]


def sound_in(request: Recorded) -> bytes:
    """The only sound in a request."""
    (sound,) = [
        inline_data(part)[0]
        for turn in spelled(request.json)["contents"]
        for part in turn["parts"]
        if "inlineData" in part
    ]
    return sound


def _invalid(message: str) -> Answer:
    return refusal(400, "INVALID_ARGUMENT", message)


_INVALID_KEY = refusal(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    },
)


def _forbidden(request: Recorded) -> Answer:
    name = request.path.rsplit("/", 1)[-1]
    text = f"You do not have permission to access the File {name} or it may not exist."
    return refusal(403, "PERMISSION_DENIED", text)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    state: GeminiServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; any other error here is the test's fault, and `close` raises it."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.state.errors.append(error)
            traceback.print_exception(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: else each answer waits for a delayed acknowledgement
    disable_nagle_algorithm = True
    server: _Listener

    def do_POST(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _serve(self) -> None:
        request = self._recorded()
        self.server.state.requests.append(request)
        scripted = self.server.state.scripted(request.kind)
        if scripted is not None and scripted.after:
            self.server.state.handle(request)
        answer = scripted or self.server.state.handle(request)
        if answer.waits:
            self.server.state.closing.wait()
            self.close_connection = True
            return
        if request.kind == "generate" and answer.status == 200 and isinstance(answer.body, dict):
            self._stream(answer)
        else:
            self.server.state.closing.wait(answer.pace)
            self._drip() if answer.drips else self._send(answer)

    def _drip(self) -> None:
        """Send blanks, one at a time, until the server is closed or nobody takes them."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            while not self.server.state.closing.wait(0.05):
                self.wfile.write(b" ")

    def _stream(self, answer: Answer) -> None:
        """Send an answer as server-sent events (`alt=sse`), as long as there is somebody to take them."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        left = answer.cut
        with suppress(OSError):
            for event in events(answer.body):
                data = f"data: {json.dumps(event)}\r\n\r\n".encode()[:left]
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
                self.server.state.streamed += 1
                if left is not None:
                    self.close_connection = True
                    return
                if self.server.state.closing.wait(answer.pace):
                    return
            self.wfile.write(b"0\r\n\r\n")

    def _recorded(self) -> Recorded:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Recorded(self._kind(headers), self.command, self.path, headers, body)

    def _kind(self, headers: Mapping[str, str]) -> str:
        path = urlsplit(self.path).path
        if path == "/upload/v1beta/files":
            return "upload" if "upload_id=" in self.path else "start"
        if path.endswith(":streamGenerateContent") and path.startswith("/v1beta/models/") and "alt=sse" in self.path:
            return "generate"
        if path == "/v1beta/files":
            return "list"
        if path.startswith("/v1beta/files/"):
            return {"GET": "get", "DELETE": "delete"}.get(self.command, "other")
        return "other"

    def _send(self, answer: Answer) -> None:
        body = answer.body if isinstance(answer.body, bytes) else _encoded(answer.body)
        if answer.cut is not None:
            self.close_connection = True
        if answer.cut != 0:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if not any(name.lower() == "content-type" for name in answer.headers):
                self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body if answer.cut is None else body[: answer.cut])


def _encoded(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


@contextmanager
def gemini_server(key: str = KEY) -> Iterator[GeminiServer]:
    """A running server, closed afterwards."""
    server = GeminiServer(key)
    try:
        yield server
    finally:
        server.close()
        assert server.errors == []
