"""A Qdrant server that is away, refuses, fails, or is something else: what the user is told."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
import httpx
import pytest

from citekit.adapters.libraries import qdrant_client as driver
from citekit.adapters.libraries.qdrant_client import Kind, QdrantSettings
from citekit.adapters.search.vector_index.server import QdrantVectorIndex
from citekit.domain.errors import CiteKitError, IndexUnavailable, RequestRefused
from citekit.domain.library.vectors import EmbedderIdentity, Entry, Question

MODEL = EmbedderIdentity("static", "1", 3)
Answer = tuple[int, str | dict[str, Any]]
Answering = Callable[[str, str], Answer]


@contextmanager
def serving(answering: Answering) -> Iterator[tuple[str, list[tuple[str, str, str | None]]]]:
    """A server on this computer that answers a method and path so; with its address, and what it was asked."""
    asked: list[tuple[str, str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            self.rfile.read(length)
            asked.append((self.command, self.path, self.headers.get("api-key")))
            status, body = answering(self.command, self.path)
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            self.send_header("content-type", "text/html" if isinstance(body, str) else "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = _any  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


def refusal(status: int, sentence: str) -> Answer:
    """An answer as Qdrant documents its errors."""
    return status, {"status": {"error": sentence}, "time": 0.0}


def told(answer: Answer, key: str | None = None) -> CiteKitError:
    """What is said where every request is answered so."""
    with serving(lambda *_: answer) as (url, _):
        index = QdrantVectorIndex(QdrantSettings(url=url, api_key=key))
        with pytest.raises(CiteKitError) as raised:
            index.collections()
        index.close()
        assert url in str(raised.value)
        return raised.value


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize("grpc_too", [False, True])
def test_no_server_says_where_how_and_what_else(grpc_too: bool) -> None:
    port = free_port()
    index = QdrantVectorIndex(QdrantSettings(host="127.0.0.1", port=port, grpc=grpc_too, grpc_port=port))

    with pytest.raises(IndexUnavailable) as raised:
        index.collections()

    for part in (f"http://127.0.0.1:{port}", "docker run -p 6333:6333 qdrant/qdrant", "QDRANT_URL", "embedded"):
        assert part in str(raised.value)


@pytest.mark.long
def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        index = QdrantVectorIndex(QdrantSettings(url=f"http://127.0.0.1:{deaf.getsockname()[1]}", timeout=1))

        with pytest.raises(IndexUnavailable, match="did not answer in time"):
            index.collections()


def test_connecting_is_given_up_after_seconds() -> None:
    client: Any = driver.connect(QdrantSettings(host="127.0.0.1", timeout=60))

    limits = client.http.client._client.timeout

    assert (5.0, 60) == (limits.connect, limits.read)
    client.close()


def test_a_wrong_key_is_told_apart_from_a_missing_one() -> None:
    answer = 401, "Must provide an API key or an Authorization bearer token"

    wrong, missing = told(answer, key="sesame"), told(answer)

    assert isinstance(wrong, IndexUnavailable)
    assert "does not accept the API key" in str(wrong)
    assert "requires an API key. Set QDRANT_API_KEY" in str(missing)
    assert "sesame" not in str(wrong)


@pytest.mark.parametrize(
    ("answer", "expected", "words"),
    [
        (refusal(403, "Forbidden"), IndexUnavailable, "API key"),
        (refusal(400, "Wrong input: x"), RequestRefused, "Wrong input: x"),
        (refusal(422, "Validation error"), RequestRefused, "Validation error"),
        (refusal(500, "Service internal error: x"), IndexUnavailable, "failed (Service internal error: x)"),
        (refusal(500, "No space left on device"), IndexUnavailable, "disk of the Qdrant server"),
        (refusal(503, "Shard is not active"), IndexUnavailable, "Shard is not active"),
        (refusal(429, "Rate limit"), IndexUnavailable, "Rate limit"),
        (refusal(507, "x"), IndexUnavailable, "is full"),
        ((502, "<html>Bad Gateway</html>"), IndexUnavailable, "failed. Try again"),
        ((404, "<html>Not Found</html>"), IndexUnavailable, "does not answer like a Qdrant server"),
        ((200, "<html>Welcome to nginx</html>"), IndexUnavailable, "does not answer like a Qdrant server"),
        ((200, {"hello": "world"}), IndexUnavailable, "does not answer like a Qdrant server"),
    ],
)
def test_each_answer_is_one_sentence(answer: Answer, expected: type[CiteKitError], words: str) -> None:
    error = told(answer)

    assert expected is type(error)
    assert words in str(error)


@pytest.mark.long
def test_the_key_that_a_server_repeats_is_not_shown() -> None:
    assert "sesame" not in str(told(refusal(500, "bad key sesame"), key="sesame"))


def test_the_key_is_sent_and_the_place_shows_neither_key_nor_password() -> None:
    with serving(lambda *_: (200, {"result": {"collections": []}, "status": "ok", "time": 0.0})) as (url, asked):
        index = QdrantVectorIndex(QdrantSettings(url=url, api_key="sesame"))
        assert [] == list(index.collections())
        index.close()

    assert [("GET", "/collections", "sesame")] == asked
    settings = QdrantSettings(url="https://me:word@qdrant.example:6333", api_key="sesame")
    assert "https://qdrant.example:6333" == QdrantVectorIndex(settings).place
    assert "sesame" not in repr(settings)


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://[", "http://host:99999999"])
def test_an_address_that_is_none_is_one_error(url: str) -> None:
    with pytest.raises((IndexUnavailable, RequestRefused)):
        QdrantVectorIndex(QdrantSettings(url=url, timeout=2)).collections()


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        (QdrantSettings(host="10.0.0.9"), "http://10.0.0.9:6333"),
        (QdrantSettings(host="10.0.0.9", api_key="k"), "https://10.0.0.9:6333"),
        (QdrantSettings(host="localhost", api_key="k", port=7333), "http://localhost:7333"),
        (QdrantSettings(host="10.0.0.9", api_key="k", https=False), "http://10.0.0.9:6333"),
        (QdrantSettings(url="localhost:6333"), "http://localhost:6333"),
    ],
)
def test_a_key_leaves_this_computer_over_tls_unless_told_otherwise(settings: QdrantSettings, place: str) -> None:
    client = driver.connect(settings)

    assert place == settings.place == client._client.rest_uri  # type: ignore[attr-defined]
    client.close()


def _in_memory() -> Any:
    return pytest.importorskip("qdrant_client").QdrantClient(":memory:")


def test_a_collection_of_something_else_is_neither_listed_nor_dropped_nor_filled() -> None:
    client = _in_memory()
    client.create_collection("theirs", vectors_config={})
    index = QdrantVectorIndex(QdrantSettings(), lambda _: client)

    assert ([], None) == (list(index.collections()), index.facts("theirs"))
    with pytest.raises(IndexUnavailable, match="not created by CiteKit"):
        index.create("theirs", MODEL)
    index.drop("theirs")
    assert client.collection_exists("theirs")


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect", "ignore:Local mode performs exact")
def test_what_another_process_dropped_is_missing_and_not_remembered() -> None:
    client = _in_memory()
    index = QdrantVectorIndex(QdrantSettings(), lambda _: client)
    index.create("books", MODEL)
    index.put("books", [Entry("00000000-0000-0000-0000-000000000001", "g", [1.0, 0.0, 0.0])])
    client.delete_collection("books")

    with pytest.raises(CiteKitError, match="There is no collection 'books'"):
        index.search("books", Question([1.0, 0.0, 0.0], None, 5))
    index.create("books", MODEL)
    assert 0 == index.count("books")


def test_every_exception_of_the_client_is_in_the_table() -> None:
    from qdrant_client.common import client_exceptions  # imported here: it takes a fifth of the collection of all tests
    from qdrant_client.http import exceptions

    modules = (exceptions, client_exceptions, httpx)
    exported = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Exception)
    }

    table = driver.table()

    unmapped = {kind for kind in exported if not any(parent in table for parent in kind.__mro__)}
    assert {httpx.StreamError, httpx.CookieConflict} >= {kind for kind in unmapped if kind.__base__ is Exception}
    assert grpc.RpcError in table
    assert set(Kind) - {Kind.MISSING, Kind.EXISTS, Kind.KEY, Kind.FULL} <= set(table.values())


def test_every_code_of_grpc_that_means_something_here_exists() -> None:
    assert set(driver.GRPC_CODES) <= {code.name for code in grpc.StatusCode}


def test_the_client_is_not_imported_before_it_is_used() -> None:
    code = (
        "import sys; from citekit.adapters.search.vector_index import server, edge\n"
        "server.QdrantVectorIndex(server.QdrantSettings(host='x'))\n"
        "print([name for name in ('qdrant_client', 'qdrant_edge', 'numpy', 'grpc', 'httpx') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == done.stdout
