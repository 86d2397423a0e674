"""Connects to a Qdrant server or cluster. The client library is imported on first use."""

from __future__ import annotations

import importlib
import json
import socket
import warnings
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import field, frozen

from citekit.domain.errors import CiteKitError, DriverMissing

if TYPE_CHECKING:
    from types import ModuleType

    from qdrant_client import QdrantClient

CONNECT_SECONDS = 5.0
"""Maximum time to connect, in seconds. A running server usually answers much sooner."""

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Kind(StrEnum):
    """The kinds of failures that client exceptions represent."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    KEY = "key"
    MISSING = "missing"
    EXISTS = "exists"
    REFUSED = "refused"
    FULL = "full"
    SERVER = "server"
    FOREIGN = "foreign"
    ADDRESS = "address"


@frozen
class Trouble:
    """A classified exception: its kind, and the message of the server or exception (`words`)."""

    kind: Kind
    words: str = ""


@frozen
class QdrantSettings:
    """The connection settings of a Qdrant server and the options for new collections.

    The address is `url`, or else `host` and `port`. `timeout` is in seconds per response. `shards` and `replicas` are
    for a cluster (None: the server's default). `quantized` keeps int8 copies of the vectors in memory. `on_disk` leaves
    vectors, payloads, and the word index on disk.
    """

    url: str | None = field(default=None, repr=False)
    host: str | None = None
    port: int = 6333
    grpc_port: int = 6334
    grpc: bool = False
    https: bool | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    shards: int | None = None
    replicas: int | None = None
    quantized: bool = True
    on_disk: bool = False

    @property
    def place(self) -> str:
        """The address of the server without a user name or password."""
        if self.url:
            scheme, _, rest = self.url.rpartition("://")
            return f"{scheme or 'http'}://{rest.rpartition('@')[2]}"
        return f"{'https' if self.is_encrypted else 'http'}://{self.host}:{self.port}"

    @property
    def is_encrypted(self) -> bool:
        """Whether connections to `host` use TLS; by default, with an API key and a server on another computer."""
        return self.https if self.https is not None else bool(self.api_key) and self.host not in _LOOPBACK


def package() -> ModuleType:
    """Import and return the client library, which takes about a second.

    Raise `DriverMissing` if it is not installed.
    """
    try:
        return importlib.import_module("qdrant_client")
    except ImportError as error:
        raise DriverMissing("Using a Qdrant server", "library") from error


def connect(settings: QdrantSettings) -> QdrantClient:
    """Return a client for the server in `settings`.

    Raise `DriverMissing` if the library is not installed, or exceptions that `trouble` classifies if connecting fails.
    With gRPC, a TCP connection is tested first, because gRPC waits for a server to start. For a server on this
    computer, proxy variables are ignored.
    """
    url = settings.url if settings.url is None or "://" in settings.url else f"http://{settings.url}"
    host = urlsplit(url).hostname if url else settings.host
    if settings.grpc:
        socket.create_connection((host or "localhost", settings.grpc_port), CONNECT_SECONDS).close()
    where: dict[str, object] = {"url": url} if url else {"host": settings.host, "https": settings.is_encrypted}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a key without TLS; see docs/how-to/qdrant-server.md
        client: QdrantClient = package().QdrantClient(
            **where,
            port=settings.port,
            grpc_port=settings.grpc_port,
            prefer_grpc=settings.grpc,
            api_key=settings.api_key,
            timeout=max(1, round(settings.timeout)),
            check_compatibility=False,
            trust_env=host not in _LOOPBACK,
        )
    _limit_connecting(client, settings.timeout)
    return client


def _limit_connecting(client: Any, timeout: float) -> None:
    """Limit the time to connect to `CONNECT_SECONDS`, or to `timeout` if that is shorter.

    The client itself has only a single timeout.
    """
    httpx = importlib.import_module("httpx")
    client.http.client._client.timeout = httpx.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout))


def table() -> dict[type[BaseException], Kind]:
    """Map each exception of the client and its dependencies to a kind of failure, which `_refined` makes more precise."""
    http = importlib.import_module("qdrant_client.http.exceptions")
    common = importlib.import_module("qdrant_client.common.client_exceptions")
    httpx = importlib.import_module("httpx")
    grpc = importlib.import_module("grpc")
    pydantic = importlib.import_module("pydantic")
    return {
        http.ApiException: Kind.SERVER,
        http.UnexpectedResponse: Kind.SERVER,
        http.ResponseHandlingException: Kind.FOREIGN,
        common.QdrantException: Kind.SERVER,
        common.ResourceExhaustedResponse: Kind.SERVER,
        httpx.HTTPError: Kind.UNREACHABLE,
        httpx.TimeoutException: Kind.TIMEOUT,
        httpx.ConnectTimeout: Kind.UNREACHABLE,
        httpx.RemoteProtocolError: Kind.FOREIGN,
        httpx.DecodingError: Kind.FOREIGN,
        httpx.InvalidURL: Kind.ADDRESS,
        httpx.UnsupportedProtocol: Kind.ADDRESS,
        grpc.RpcError: Kind.SERVER,
        pydantic.ValidationError: Kind.FOREIGN,
        json.JSONDecodeError: Kind.FOREIGN,
        AssertionError: Kind.FOREIGN,  # the client asserts that a response has a result
        ValueError: Kind.REFUSED,
        TypeError: Kind.REFUSED,
        OSError: Kind.UNREACHABLE,
        RuntimeError: Kind.SERVER,
    }


STATUSES: dict[int, Kind] = {
    400: Kind.REFUSED,
    401: Kind.KEY,
    403: Kind.KEY,
    404: Kind.MISSING,
    409: Kind.EXISTS,
    413: Kind.REFUSED,
    422: Kind.REFUSED,
    429: Kind.SERVER,
    507: Kind.FULL,
}
"""The kind of failure for each HTTP status. All other statuses are server failures."""

GRPC_CODES: dict[str, Kind] = {
    "UNAVAILABLE": Kind.UNREACHABLE,
    "DEADLINE_EXCEEDED": Kind.TIMEOUT,
    "UNAUTHENTICATED": Kind.KEY,
    "PERMISSION_DENIED": Kind.KEY,
    "NOT_FOUND": Kind.MISSING,
    "ALREADY_EXISTS": Kind.EXISTS,
    "INVALID_ARGUMENT": Kind.REFUSED,
}

_WORDINGS = {"no space left": Kind.FULL, "already exists": Kind.EXISTS, "not found": Kind.MISSING}


def trouble(error: BaseException, secret: str | None = None) -> Trouble | None:
    """Return the kind and the message of `error`, without the API key `secret`; None if it is not from the client."""
    source = getattr(error, "source", None)
    if isinstance(source, BaseException) and trouble(source) is not None:
        return trouble(source, secret)
    known = table()
    kind = next((known[parent] for parent in type(error).__mro__ if parent in known), None)
    if kind is None or isinstance(error, CiteKitError):
        return None
    words = _words(error)
    shown = words.replace(secret, "(the key)") if secret else words
    return Trouble(_refined(kind, error, words), " ".join(shown.split())[:300])


def _refined(kind: Kind, error: BaseException, words: str) -> Kind:
    """Return the kind of failure that a status, a gRPC code, or the message gives, or else `kind`."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        kind = STATUSES.get(status, Kind.SERVER)
        if kind is Kind.MISSING and not words:
            return Kind.FOREIGN
    code = getattr(error, "code", None)
    if callable(code):
        kind = GRPC_CODES.get(getattr(code(), "name", ""), Kind.SERVER)
    if kind in (Kind.SERVER, Kind.REFUSED):
        return next((better for text, better in _WORDINGS.items() if text in words.lower()), kind)
    return kind


def _words(error: BaseException) -> str:
    """Return the server's message (`status.error`), the text of another response, or that of the exception.

    For a web page, the result is "".
    """
    content = getattr(error, "content", None)
    if isinstance(content, bytes):
        try:
            said = json.loads(content)["status"]["error"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return "" if content.lstrip()[:1] in (b"<", b"") else content[:300].decode("utf-8", "replace")
        return str(said)
    details = getattr(error, "details", None)
    return str(details()) if callable(details) else str(error) or type(error).__name__
