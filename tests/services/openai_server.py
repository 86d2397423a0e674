"""A local HTTP server that answers as OpenAI's chat completions do, or as a server that only speaks its language.

It checks what OpenAI documents: the key, the model, the parts of a message, the rules of strict structured outputs, the
temperature of models that reason. Faults are scripted, one `Step` for each request; beyond the script it answers well.
"""

from __future__ import annotations

import base64
import io
import json
import socket
import threading
import wave
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

from attrs import define, evolve, field, frozen

from tests.services.openai_rules import SPEECH_MODELS, refused, refused_transcription

KEY = "sk-test-0123456789abcdef"
TRANSCRIPTIONS = "/v1/audio/transcriptions"
MODELS = ("gpt-6.1-terra", "gpt-4.1", "llama3.2-vision")

Manner = Literal["whole", "cut", "drop", "hang", "unstreamed"]


@frozen(kw_only=True)
class Step:
    """What becomes of one request.

    `status` other than 200, or a `body`, is sent as it is (a str as text, else as JSON). Else a completion is made of
    `text` (None: the server's own answer), `finish`, `refusal` and `tokens`. `manner`: `cut` closes the connection in the
    middle of the body, `drop` before any answer, `hang` gives none until the server closes, `unstreamed` gives all at once although a stream
    was asked for. `pace` is the pause, in seconds, after each chunk.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(factory=dict)
    text: str | None = None
    finish: str = "stop"
    refusal: str | None = None
    tokens: int | None = None
    manner: Manner = "whole"
    pace: float = 0.0


def error(status: int, message: str, code: str | None = None, **headers: str) -> Step:
    """An error in OpenAI's form; a header's name is written with underscores."""
    kind = "server_error" if status >= 500 else code if code == "insufficient_quota" else "invalid_request_error"
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return Step(status=status, body=body, headers={name.replace("_", "-"): text for name, text in headers.items()})


@frozen(kw_only=True)
class Compatible:
    """Another server of the same language: what it does with structured outputs, files and pictures; `keyed`, if it has keys."""

    schema: Literal["takes", "refuses", "ignores"] = "takes"
    json_mode: bool = True
    files: Literal["takes", "refuses", "ignores"] = "refuses"
    pictures: bool = True
    keyed: bool = False


@frozen
class Recorded:
    """A request as it came; the names of headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    def parts(self, kind: str) -> list[dict[str, Any]]:
        """The parts of that type in the user's message."""
        content = self.body["messages"][1]["content"]
        return [part for part in content if part["type"] == kind] if isinstance(content, list) else []

    def text(self) -> str:
        """All words of the messages."""
        return "\n".join(_words(message["content"]) for message in self.body["messages"])

    def file(self) -> bytes:
        """The bytes of the one file."""
        (part,) = self.parts("file")
        return base64.b64decode(part["file"]["file_data"].partition(",")[2])


@define
class OpenAiServer:
    """`with OpenAiServer(script) as server:` then `server.url`, and afterwards `server.requests`.

    `answer` gives the text for a request's body; by default the smallest one that fits the schema. `transcribe` gives the
    body of a transcription; by default one word for each second.
    """

    script: Sequence[Step] = ()
    compatible: Compatible | None = None
    answer: Callable[[dict[str, Any]], str] = field(default=lambda body: _fitting(body))
    transcribe: Callable[[dict[str, Any]], Any] = field(default=lambda body: heard_in(body))
    requests: list[Recorded] = field(factory=list, init=False)
    _http: ThreadingHTTPServer = field(init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    closing: threading.Event = field(factory=threading.Event, init=False)

    def __enter__(self) -> OpenAiServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server._handle(self)

            def do_GET(self) -> None:
                _send(self, 404, {"error": {"message": "Not found"}}, {})

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
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def host(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._http.server_port}"

    def _handle(self, http: BaseHTTPRequestHandler) -> None:
        data = http.rfile.read(int(http.headers.get("Content-Length", "0")))
        recorded = Recorded(
            http.path, {name.lower(): text for name, text in http.headers.items()}, _body_of(http, data)
        )
        with self._lock:
            number = len(self.requests)
            self.requests.append(recorded)
        step = self.script[number] if number < len(self.script) else Step()
        refused = self._refused(recorded) if step == Step() or step.status == 200 else None
        if recorded.path == TRANSCRIPTIONS:
            body = self.transcribe(recorded.body) if step.body is None and refused is None else step.body
            _perform(http, refused or evolve(step, body=body), {}, self.closing)
            return
        _perform(http, refused or step, self._completion(recorded.body, step), self.closing)

    def _refused(self, recorded: Recorded) -> Step | None:
        body, other = recorded.body, self.compatible
        if recorded.path not in ("/v1/chat/completions", TRANSCRIPTIONS):
            return Step(status=404, body="404 page not found")
        if (other is None or other.keyed) and recorded.headers.get("authorization") != f"Bearer {KEY}":
            return error(
                401, "Incorrect API key provided: sk-wron*****6789. You can find yours at ...", "invalid_api_key"
            )
        if recorded.path == TRANSCRIPTIONS and body.get("model") in SPEECH_MODELS:
            fault = refused_transcription(body)
            return None if fault is None else error(400, *fault)
        if body.get("model") not in MODELS:
            return error(404, f"The model `{body.get('model')}` does not exist", "model_not_found")
        return _as_openai(body) if other is None else _as_other(body, other)

    def _completion(self, body: dict[str, Any], step: Step) -> dict[str, Any]:
        text = step.text
        if text is None and step.refusal is None:
            form = body.get("response_format", {}).get("type")
            ignoring = self.compatible is not None and self.compatible.schema == "ignores" and form == "json_schema"
            text = "Here is the outline you asked for: one chapter." if ignoring else self.answer(body)
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body.get("model"),
            "choices": [
                {
                    "index": 0,
                    "finish_reason": step.finish,
                    "message": {"role": "assistant", "content": text, "refusal": step.refusal},
                }
            ],
            "usage": self._usage(body, text or "", step),
        }

    def _usage(self, body: dict[str, Any], text: str, step: Step) -> dict[str, int]:
        ignored = self.compatible is not None and self.compatible.files == "ignores"
        content = [message.get("content") for message in body.get("messages", [])]
        files = sum(len(json.dumps(part)) for part in content if isinstance(part, list))
        tokens = sum(len(_words(part)) for part in content) // 4 + (0 if ignored else files // 4)
        given = tokens if step.tokens is None else step.tokens
        return {"prompt_tokens": given, "completion_tokens": len(text) // 4, "total_tokens": given + len(text) // 4}


def _body_of(http: BaseHTTPRequestHandler, data: bytes) -> dict[str, Any]:
    """The fields of JSON, or of a form; those of a form are lists if their name ends in []."""
    kind = http.headers.get("Content-Type", "")
    if not kind.startswith("multipart/form-data"):
        found: dict[str, Any] = json.loads(data or b"{}")
        return found
    fields: dict[str, Any] = {}
    for part in message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + data).get_payload():
        assert isinstance(part, Message)
        name = str(part.get_param("name", header="content-disposition"))
        value = part.get_payload(decode=True)
        assert isinstance(value, bytes)
        if part.get_filename() is not None:
            fields[name] = (part.get_filename(), value)
        elif name.endswith("[]"):
            fields.setdefault(name, []).append(value.decode())
        else:
            fields[name] = value.decode()
    return fields


def seconds_of(body: dict[str, Any]) -> float:
    """The duration of the sound in a request."""
    with wave.open(io.BytesIO(body["file"][1])) as sound:
        return float(sound.getnframes() / sound.getframerate())


def heard_in(body: dict[str, Any], *, language: str = "english") -> dict[str, Any]:
    """An answer as `whisper-1` gives it: words without punctuation, and a segment with it."""
    seconds = seconds_of(body)
    words = ["Word" if not each else f"number{each}" for each in range(max(1, int(seconds)))]
    text = f" {', '.join(words)}."
    if body.get("response_format") != "verbose_json":
        logprobs = [{"token": word, "bytes": [*word.encode()], "logprob": -0.1} for word in words]
        return {
            "text": text.strip(),
            "usage": {"type": "duration", "seconds": round(seconds)},
            **({"logprobs": logprobs} if "logprobs" in body.get("include[]", []) else {}),
        }
    segment = {"id": 0, "seek": 0, "start": 0.0, "end": seconds, "text": text, "tokens": [1], "temperature": 0.0}
    answer: dict[str, Any] = {
        "task": "transcribe",
        "language": language,
        "duration": seconds,
        "text": text.strip(),
        "segments": [{**segment, "avg_logprob": -0.2, "compression_ratio": 1.1, "no_speech_prob": 0.01}],
    }
    if "word" in body.get("timestamp_granularities[]", []):
        answer["words"] = [
            {"word": word, "start": float(number), "end": number + 0.5} for number, word in enumerate(words)
        ]
    return answer


def _as_openai(body: dict[str, Any]) -> Step | None:
    if fault := refused(body):
        return error(400, *fault)
    for part in _parts(body):
        match part:
            case {"type": "file", "file": {"filename": str(), "file_data": str(data)}}:
                if not data.startswith("data:application/pdf;base64,"):
                    return error(400, "Invalid file data. Only PDF files are supported.", "invalid_value")
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                if not url.startswith(("data:image/png", "data:image/jpeg", "data:image/webp", "data:image/gif")):
                    return error(400, "You uploaded an unsupported image.", "invalid_image_format")
            case {"type": "text", "text": str()}:
                pass
            case _:
                return error(400, f"Invalid value: {part.get('type')!r}.", "invalid_value")
    form = body.get("response_format", {})
    if form.get("type") == "json_object" and "json" not in json.dumps(body["messages"]).lower():
        return error(400, "'messages' must contain the word 'json' in some form.")
    wrong = _not_strict(form["json_schema"]["schema"]) if form.get("type") == "json_schema" else None
    return error(400, f"Invalid schema for response_format 'answer': {wrong}") if wrong else None


def _as_other(body: dict[str, Any], other: Compatible) -> Step | None:
    kinds = {part["type"] for part in _parts(body)}
    form = body.get("response_format", {}).get("type")
    if other.files == "refuses" and "file" in kinds:
        return error(400, "Unsupported chat content part type: 'file'. Supported types: text, image_url")
    if not other.pictures and "image_url" in kinds:
        return error(500, "image input is not supported - hint: you may need to provide the mmproj")
    if other.schema == "refuses" and form == "json_schema":
        return error(400, "This response_format type is unavailable now")
    if not other.json_mode and form == "json_object":
        return error(400, "'response_format.type' must be 'text'")
    return None


def _not_strict(schema: dict[str, Any]) -> str | None:
    """What strict mode would say of a schema ("Structured model outputs": all fields required, no others allowed)."""
    properties = schema.get("properties", {})
    if "properties" in schema and schema.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    if missing := set(properties) - set(schema.get("required", ())):
        return f"'required' is required to include every key in properties. Missing {sorted(missing)}."
    if unknown := set(schema) & {"title", "default", "minLength", "propertyOrdering", "nullable"}:
        return f"{sorted(unknown)} not permitted."
    below = [*properties.values(), *([schema["items"]] if "items" in schema else []), *schema.get("anyOf", [])]
    return next((wrong for wrong in map(_not_strict, below) if wrong), None)


def _fitting(body: dict[str, Any]) -> str:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    return json.dumps(example(schema)) if schema else '{"title": "from words", "nodes": []}'


def example(schema: Mapping[str, Any]) -> Any:
    """The smallest value that fits `schema`."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            return {name: example(schema["properties"][name]) for name in schema.get("required", ())}
        case "array":
            return [example(schema["items"])] * schema.get("minItems", 0)
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "string":
            return "word"
    return None


def _parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]]


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or [] if part["type"] == "text")


def _perform(http: BaseHTTPRequestHandler, step: Step, completion: dict[str, Any], closing: threading.Event) -> None:
    if step.manner == "hang":
        closing.wait()
    if step.manner in ("hang", "drop"):
        _hang_up(http)
        return
    body = completion if step.body is None else step.body
    if step.status == 200 and step.body is None and step.manner != "unstreamed":
        _stream(http, completion, step, closing)
    else:
        _send(http, step.status, body, step.headers, cut=step.manner == "cut")


def chunks(completion: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A completion in the chunks of a stream: the role, the words, the reason of the end, and last the usage alone."""
    (choice,) = completion["choices"]
    message, base = choice["message"], {**completion, "object": "chat.completion.chunk"}
    pieces: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
    text = message["content"] or ""
    pieces += [{"content": text[start : start + 400]} for start in range(0, len(text), 400)]
    pieces += [{"refusal": message["refusal"]}] if message["refusal"] else []
    for delta in [*pieces, {}]:
        end = None if delta else choice["finish_reason"]
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": end}], "usage": None}
    yield {**base, "choices": []}


def _stream(http: BaseHTTPRequestHandler, completion: dict[str, Any], step: Step, closing: threading.Event) -> None:
    http.send_response(200)
    http.send_header("Content-Type", "text/event-stream; charset=utf-8")
    http.send_header("Transfer-Encoding", "chunked")
    http.end_headers()
    events = [*map(json.dumps, chunks(completion)), "[DONE]"]
    for number, event in enumerate(events):
        data = f"data: {event}\n\n".encode()
        if step.manner == "cut" and number == len(events) // 2:
            http.wfile.flush()
            _hang_up(http)
            return
        with suppress(OSError):
            http.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if closing.wait(step.pace):
            return
    with suppress(OSError):
        http.wfile.write(b"0\r\n\r\n")


def _send(
    http: BaseHTTPRequestHandler, status: int, body: Any, headers: Mapping[str, str], *, cut: bool = False
) -> None:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    http.send_response(status)
    page = isinstance(body, str) and not body.startswith("{")
    for name, value in {"Content-Type": "text/html" if page else "application/json", **headers}.items():
        http.send_header(name, value)
    http.send_header("Content-Length", str(len(data)))
    http.end_headers()
    http.wfile.write(data[: len(data) // 2] if cut else data)
    if cut:
        http.wfile.flush()
        _hang_up(http)


def _hang_up(http: BaseHTTPRequestHandler) -> None:
    http.close_connection = True
    http.connection.shutdown(socket.SHUT_RDWR)
