"""A proxy before an HTTP server, which refuses, fails, breaks off, or drips on request."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import urlsplit

from attrs import define, field

EXPIRED = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
FAILED = b"<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"
PIECE = 2000
HALF = 0
"""Half of the answer, after which the connection is closed."""
LOST = -1
"""The request is passed on, and the connection is closed without an answer."""


def none(_number: int, _method: str) -> int | None:
    """Every request is passed on."""
    return None


@define
class Proxy:
    """`url` is its address. If `refuses`, it answers as S3 does when credentials expired. `pause` is the time in seconds
    before each piece of an answer.

    `fault` decides what becomes of the request with a number and a method: None means that it is passed on, a status of
    HTTP that this is the answer, and `HALF` or `LOST` that it is passed on and its answer does not arrive whole. `count` is the number of
    requests until now.
    """

    url: str = ""
    refuses: bool = False
    pause: float = 0.0
    fault: Callable[[int, str], int | None] = none
    count: int = 0
    lock: Lock = field(factory=Lock, repr=False)

    def number(self) -> int:
        """The number of the next request."""
        with self.lock:
            self.count += 1
            return self.count


@contextmanager
def proxy(target: str) -> Iterator[Proxy]:
    """A proxy of the server at `target`."""
    state = Proxy()
    place = urlsplit(target).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, data = 403, {"Content-Type": "application/xml"}, EXPIRED
            fault = state.fault(state.number(), self.command)
            if fault is not None and fault not in (HALF, LOST):
                status, data = fault, FAILED
            elif not state.refuses:
                there = http.client.HTTPConnection(place, timeout=30)
                there.request(self.command, self.path, body, dict(self.headers))
                found = there.getresponse()
                data, status = found.read(), found.status
                headers = {
                    name: value
                    for name, value in found.getheaders()
                    if name.lower() not in ("transfer-encoding", "connection", "content-length")
                }
                if self.command == "HEAD":
                    headers["Content-Length"] = found.getheader("Content-Length") or "0"
                there.close()
            if fault == LOST:
                self.close_connection = True
                return
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if fault == HALF:
                data, self.close_connection = data[: len(data) // 2], True
            for start in range(0, len(data), PIECE) if self.command != "HEAD" else ():
                time.sleep(state.pause)
                self.wfile.write(data[start : start + PIECE])

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
