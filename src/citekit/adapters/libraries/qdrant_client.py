"""The client of a Qdrant server or cluster: imported on first use, told everything, its exceptions sorted by one table."""

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
"""How long a connection may take to come about; a server that is there answers much sooner."""

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Kind(StrEnum):
    """What sort of trouble an exception of the client means."""

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
    """What an exception says: the status where there was one, and the server's own words."""

    kind: Kind
    words: str = ""


@frozen
class QdrantSettings:
    """Where the server is, and how its collections are made.

    `url`, else `host` and `port`. `timeout` is in seconds, for one answer. `shards` and `replicas` spread a collection over
    a cluster (None: what the server is set to). `quantized` keeps int8 copies in memory, `on_disk` leaves the vectors, the
    payloads and the word index on the disk.
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
        """The address, without a key or password in it."""
        if self.url:
            scheme, _, rest = self.url.rpartition("://")
            return f"{scheme or 'http'}://{rest.rpartition('@')[2]}"
        return f"{'https' if self.is_encrypted else 'http'}://{self.host}:{self.port}"

    @property
    def is_encrypted(self) -> bool:
        """Whether `host` is spoken to over TLS: as told, else where a key would leave this computer."""
        return self.https if self.https is not None else bool(self.api_key) and self.host not in _LOOPBACK


def package() -> ModuleType:
    """The client's package; importing it takes about a second. Raises `DriverMissing`."""
    try:
        return importlib.import_module("qdrant_client")
    except ImportError as error:
        raise DriverMissing("A Qdrant server", "library") from error


def connect(settings: QdrantSettings) -> QdrantClient:
    """A client. With gRPC the server is knocked at first, as gRPC itself waits for it to come. Raises what `trouble` sorts.

    A server on this computer is reached without the proxy that the environment may name.
    """
    url = settings.url if settings.url is None or "://" in settings.url else f"http://{settings.url}"
    host = urlsplit(url).hostname if url else settings.host
    if settings.grpc:
        socket.create_connection((host or "localhost", settings.grpc_port), CONNECT_SECONDS).close()
    where: dict[str, Any] = {"url": url} if url else {"host": settings.host, "https": settings.is_encrypted}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a key without TLS; docs/how-to/qdrant-server.md explains how to fix that
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
    """A dead address must not be waited for as long as an answer; the client has one number for both."""
    httpx = importlib.import_module("httpx")
    client.http.client._client.timeout = httpx.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout))


def table() -> dict[type[BaseException], Kind]:
    """For every exception of the client, and of what it stands on: what sort of trouble it is where nothing else tells."""
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
        AssertionError: Kind.FOREIGN,  # the client asserts that an answer holds a result
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
"""What a status of HTTP means here; every other one is the server's trouble."""

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
    """What `error` means, or None where it is nothing of the client's; `secret`, the key, is taken out of the words."""
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
    """The sort of trouble, given the status or the words."""
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
    """The server's own sentence, `status.error` of its JSON; of a web page nothing, else the exception's text."""
    content = getattr(error, "content", None)
    if isinstance(content, bytes):
        try:
            said = json.loads(content)["status"]["error"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return "" if content.lstrip()[:1] in (b"<", b"") else content[:300].decode("utf-8", "replace")
        return str(said)
    details = getattr(error, "details", None)
    return str(details()) if callable(details) else str(error) or type(error).__name__
