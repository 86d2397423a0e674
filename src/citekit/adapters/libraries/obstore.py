"""Connects to object stores: S3 and compatible services, Google Cloud Storage, and Azure.

Credentials come from where each service expects them (environment variables, or the identity of the machine), and are
not stored.
"""

from __future__ import annotations

import importlib
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from citekit.domain.errors import CiteKitError, DriverMissing, RequestRefused, StoreUnavailable

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore as Client

T = TypeVar("T")

SCHEMES = ("s3", "gs", "az")
"""The schemes of the addresses: S3, Google Cloud Storage, Azure."""

CONNECT_SECONDS = 5
"""The maximum time to connect, in seconds."""

RETRY_SECONDS = 30
"""The time in seconds during which a request is repeated after a temporary failure."""

_RETRIES = 1000  # the time is the limit
_REQUEST_SECONDS = 60
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_PROXIES = ("http", "https", "all")
_LONGEST_MESSAGE = 200
_SHORTEST_PAUSE = 0.1
_LONGEST_PAUSE = 3.0
_PAGE = 1000
_REFUSED = re.compile(r"status code: 40[13]\b")
_OUTSIDE = re.compile(r"status code: 416\b|Wanted range starting at")  # messages of the service and the client
_UNREACHED = "HTTP error: error sending request"
_BROKEN_OFF = re.compile(r"request or response body error")
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")


class Kind(StrEnum):
    """The kinds of failures that exceptions of the client represent."""

    MISSING = "missing"
    EXISTS = "exists"
    FORBIDDEN = "forbidden"
    OTHER = "other"


def place(url: str) -> str:
    """Return the address of the store without a user name, a password, or parameters."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def package() -> Any:
    """Import and return the client library. Raise `DriverMissing` if it is not installed."""
    try:
        return importlib.import_module("obstore")
    except ImportError as error:
        raise DriverMissing("Using a remote object store", "scale") from error


def connect(url: str, retry_seconds: float = RETRY_SECONDS) -> Client:
    """Return a client for the store at `url` (`s3://BUCKET/PREFIX`, `gs://...`, or `az://...`).

    Unencrypted HTTP is used only if the endpoint in the environment (such as `AWS_ENDPOINT_URL`) starts with `http://`.
    Raise `RequestRefused` if the address or the configuration is not valid, `DriverMissing` if obstore is not
    installed, or `OSError` if that endpoint of an S3 service cannot be reached.
    """
    package()
    stores = importlib.import_module("obstore.store")
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.netloc:
        raise RequestRefused(
            f"{place(url)} is not the address of an object store; use an address such as s3://BUCKET/PREFIX."
        )
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
    options: dict[str, object] = {
        "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
        "timeout": timedelta(seconds=_REQUEST_SECONDS),
    }
    if urlsplit(endpoint).scheme == "http":
        options["allow_http"] = True
    backoff = {
        "init_backoff": timedelta(seconds=_SHORTEST_PAUSE),
        "max_backoff": timedelta(seconds=_LONGEST_PAUSE),
        "base": 2,
    }
    retries = {"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=retry_seconds), "backoff": backoff}
    config = {"endpoint": endpoint} if endpoint and parts.scheme == "s3" else {}
    if config:
        _check_reachable(endpoint)
    try:
        client: Client = stores.from_url(place(url), config=config, client_options=options, retry_config=retries)
    except Exception as error:
        raise RequestRefused(f"{place(url)} cannot be used as an object store ({message(error)}).") from error
    return client


def _check_reachable(endpoint: str) -> None:
    """Raise `OSError` if no connection to the endpoint can be made, unless there is a proxy."""
    from urllib.request import getproxies, proxy_bypass  # imports more modules than most commands need

    parts = urlsplit(endpoint)
    if not parts.hostname or not (getproxies().keys().isdisjoint(_PROXIES) or proxy_bypass(parts.hostname)):
        return
    port = parts.port or (80 if parts.scheme == "http" else 443)
    try:
        socket.create_connection((parts.hostname, port), CONNECT_SECONDS).close()
    except OSError as error:
        raise OSError(_UNREACHED) from error


def repeated(
    use: Callable[[], T], retry_seconds: float = RETRY_SECONDS, sleep: Callable[[float], None] = time.sleep
) -> T:
    """Return the result of the request `use`, which is repeated if the answer breaks off, for up to `retry_seconds`."""
    deadline, pause = time.monotonic() + retry_seconds, _SHORTEST_PAUSE
    while True:
        try:
            return use()
        except Exception as error:
            if not is_broken_off(error) or time.monotonic() >= deadline:
                raise
        sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def pages(
    client: Client,
    prefix: str | None,
    retry_seconds: float = RETRY_SECONDS,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Sequence[ObjectMeta]]:
    """Yield the pages of the listing of the objects whose paths start with `prefix`.

    If an answer breaks off, the listing is continued until `retry_seconds` pass without a new page.
    """
    last: str | None = None
    listing: Iterator[Sequence[ObjectMeta]] | None = None

    def following() -> Sequence[ObjectMeta] | None:
        nonlocal listing
        try:
            listing = listing or iter(package().list(client, prefix=prefix, offset=last, chunk_size=_PAGE))
            return next(listing, None)
        except Exception:
            listing = None
            raise

    while (page := repeated(following, retry_seconds, sleep)) is not None:
        if page:
            last = page[-1]["path"]
            yield page


def signed_link(client: Client, path: str, seconds: int) -> str | None:
    """Return a URL that reads one object for `seconds`, or None if none can be made."""
    try:
        link: str = package().sign(client, "GET", path, timedelta(seconds=seconds))
    except Exception as error:
        if kind(error) is None:
            raise
        return None
    return link


def kind(error: BaseException) -> Kind | None:
    """Return the kind of failure, or None if the exception does not come from the client."""
    if isinstance(error, CiteKitError):
        return None
    exceptions = importlib.import_module("obstore.exceptions")
    if isinstance(error, FileNotFoundError):
        return Kind.MISSING
    if isinstance(error, exceptions.AlreadyExistsError | exceptions.PreconditionError):
        return Kind.EXISTS
    is_refusal = _REFUSED.search(str(error)) is not None  # of a listing, whose errors have no kind
    if is_refusal or isinstance(error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError):
        return Kind.FORBIDDEN
    return Kind.OTHER if isinstance(error, exceptions.BaseError | OSError | ValueError) else None


def message(error: BaseException) -> str:
    """Return the first line of the message of `error`, shortened."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].strip().rstrip(".:")[:_LONGEST_MESSAGE]


def failure(kind: Kind, error: Exception) -> str:
    """Return a predicate for an error message about the store, with advice if it is known."""
    if is_without_bucket(error):
        return "does not exist; create the bucket or container first"
    if kind is Kind.FORBIDDEN:
        return (
            "refuses the credentials, or they do not permit this operation; check the credentials in the environment "
            "variables of the service"
        )
    if _UNREACHED in str(error):
        return "cannot be reached; check the network and the address of the service"
    return f"failed ({message(error)})"


def is_without_bucket(error: Exception) -> bool:
    """Return whether `error` means that the bucket does not exist."""
    text = str(error)
    return any(code in text for code in _NO_BUCKET)


def is_broken_off(error: BaseException) -> bool:
    """Return whether `error` means that the answer ended before it was complete."""
    return _BROKEN_OFF.search(str(error)) is not None


def is_outside(error: BaseException) -> bool:
    """Return whether `error` means that the object has no bytes in the requested range."""
    return _OUTSIDE.search(str(error)) is not None


@contextmanager
def accessing(what: str) -> Iterator[None]:
    """Convert exceptions of the client to `StoreUnavailable`. `what` is the subject of the message."""
    try:
        yield
    except Exception as error:
        found = kind(error)
        if found is None:
            raise
        raise StoreUnavailable(f"{what} {failure(found, error)}.") from error
