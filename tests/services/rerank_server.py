"""A local server with the endpoint `/v1/rerank` as Cohere and Jina document it. A score is the share of words found."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from attrs import define, field

KEY = "rerank-key-0123456789"
MODEL = "bge-reranker-v2-m3"


@define
class RerankServer:
    """`with RerankServer() as server:` then `server.url`. `script` has a status and a body for the first requests.

    With `logits`, scores are not probabilities, as those of llama.cpp.
    """

    script: Sequence[tuple[int, Any]] = ()
    logits: bool = False
    requests: list[dict[str, Any]] = field(factory=list, init=False)
    _http: ThreadingHTTPServer = field(init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def __enter__(self) -> RerankServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
                status, body = server._answer(self.path, self.headers.get("Authorization", ""), data)
                sent = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def _answer(self, path: str, key: str, data: dict[str, Any]) -> tuple[int, Any]:
        with self._lock:
            number = len(self.requests)
            self.requests.append(data)
        if number < len(self.script):
            return self.script[number]
        if key != f"Bearer {KEY}":
            return 401, {"message": f"invalid api token: {key}"}
        if path != "/v1/rerank" or data["model"] != MODEL:
            return 404, {"message": f"model '{data['model']}' not found"}
        if not data["query"] or not all(data["documents"]) or len(data["documents"]) > 1000:
            return 422, {"message": "query and documents must not be empty"}
        wanted = set(re.findall(r"\w+", data["query"].lower()))
        scored = []
        for at, text in enumerate(data["documents"]):
            share = len(wanted & set(re.findall(r"\w+", text.lower()))) / max(1, len(wanted))
            scored.append({"index": at, "relevance_score": 8 * share - 4 if self.logits else share})
        scored.sort(key=lambda each: -each["relevance_score"])
        return 200, {"id": "1", "results": scored[: data["top_n"]]}
