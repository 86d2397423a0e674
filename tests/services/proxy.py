"""A proxy before an HTTP server, which refuses or drips on request."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from attrs import define

EXPIRED = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
PIECE = 2000


@define
class Proxy:
    """`url` is its address. If `refuses`, it answers as S3 does when credentials expired. `pause` is the time in seconds
    before each piece of an answer.
    """

    url: str = ""
    refuses: bool = False
    pause: float = 0.0


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
            if not state.refuses:
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
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
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
