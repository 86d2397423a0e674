"""A server that answers every request with the same bytes, right or wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from attrs import define, field, frozen


@frozen(kw_only=True)
class RawAnswer:
    """What is sent back; the body's length is added to `headers`."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(factory=dict)


@define
class RawServer:
    """`bodies` are those of the requests that came."""

    url: str
    bodies: list[bytes] = field(factory=list)


@contextmanager
def raw_server(answer: RawAnswer) -> Iterator[RawServer]:
    """A server that gives `answer` to whatever it is asked."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Print nothing."""

        def do_POST(self) -> None:
            server.bodies.append(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            self.send_response(answer.status)
            for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def do_GET(self) -> None:
            self.do_POST()

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    server = RawServer(f"http://127.0.0.1:{listener.server_address[1]}")
    threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
