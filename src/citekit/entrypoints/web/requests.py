"""Reads the parameters of requests, and answers in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from attrs import field, frozen
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from citekit.domain.errors import (
    AddressMalformed,
    CiteKitError,
    LocationOutside,
    MapperUnavailable,
    NodeMissing,
    ReceiptMissing,
    RequestRefused,
    ResourceMissing,
    SourceChanged,
    SourceMoved,
    in_a_note,
)
from citekit.entrypoints.failures import naming_variables, sentence

BODY_LIMIT = 2 * 2**20
"""The maximum size of a request in JSON, in bytes."""

_MISSING = (ResourceMissing, NodeMissing, ReceiptMissing, LocationOutside)
FOREVER = "private, max-age=31536000, immutable"
"""The header `Cache-Control` for content that does not change at its URL (RFC 8246)."""


@frozen
class Asked:
    """The parameters of a request, from its URL or the JSON object in its body."""

    values: Mapping[str, object] = field(repr=False)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string. Raise `RequestRefused` for another value, or if it is missing without a default."""
        value = self.values.get(name, default)
        if not isinstance(value, str):
            raise RequestRefused(f"The parameter {name} is missing or is not a string.")
        return value

    def number(self, name: str, default: int | None = None) -> int:
        """Return a whole number. Raise `RequestRefused` for another value, or if it is missing without a default."""
        value = self.values.get(name, default)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 12:
            return int(value)
        raise RequestRefused(f"The parameter {name} is missing or is not a whole number.")

    def numbers(self, name: str) -> list[int]:
        """Return a list of whole numbers. Raise `RequestRefused` for another value."""
        value = self.values.get(name)
        if not isinstance(value, list) or not all(type(each) is int for each in value):
            raise RequestRefused(f"The parameter {name} is missing or is not a list of whole numbers.")
        return value


def reading(path: str, answer: Callable[[Asked], Response]) -> Route:
    """Return the route for a request that only reads, with `answer` in a thread."""

    async def endpoint(request: Request) -> Response:
        return await _answered(answer, Asked(dict(request.query_params)))

    return Route(path, endpoint, methods=["GET"])


def acting(path: str, answer: Callable[[Asked], Response]) -> Route:
    """Return the route for a request with a JSON object as its body, with `answer` in a thread."""

    async def endpoint(request: Request) -> Response:
        try:
            values = json.loads(await body_of(request, BODY_LIMIT, "Use a shorter text."))
        except CiteKitError as error:
            return failed(error)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            return failed(RequestRefused("The request must be a JSON object."))
        return await _answered(answer, Asked(values))

    return Route(path, endpoint, methods=["POST"])


async def body_of(request: Request, limit: int, advice: str = "") -> bytes:
    """Return the body of a request. Raise `RequestRefused`, with `advice`, if it is larger than `limit` bytes."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit:
            raise RequestRefused(f"The request is larger than {limit >> 20} MB. {advice}".rstrip())
    return bytes(body)


async def _answered(answer: Callable[[Asked], Response], asked: Asked) -> Response:
    try:
        return await run_in_threadpool(answer, asked)
    except (CiteKitError, OSError) as error:
        return failed(error)
    except UnicodeEncodeError:  # JSON can contain half of a character, as an escape
        return failed(RequestRefused("The request contains text that is not valid Unicode."))


def failed(error: BaseException) -> Response:
    """Return the answer to a request that failed."""
    status = 500
    if isinstance(error, CiteKitError):
        status = (
            404 if isinstance(error, _MISSING) else 400 if isinstance(error, RequestRefused | AddressMalformed) else 422
        )
    return plain({"error": type(error).__name__, "message": message_of(error)}, status)


def message_of(error: BaseException) -> str:
    """Return the message of an error, without options of commands that the user of the page did not run."""
    match error:
        case MapperUnavailable():
            return naming_variables(sentence(error))
        case SourceChanged(during_mapping=False):
            told = f"The source of '{error.resource_id}' has changed since it was mapped: {error.path}."
            return f"{told} To map it again, run: {error.command}"
        case SourceMoved():
            return in_a_note(error)
    return sentence(error)


def plain(data: object, status: int = 200, *, forever: bool = False) -> Response:
    """Return plain data as JSON. The browser may cache it permanently if `forever`, because its URL contains a version."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    headers = {"cache-control": FOREVER} if forever else None
    return Response(text, status, media_type="application/json", headers=headers)


def kept(data: bytes, media_type: str) -> Response:
    """Return bytes that the browser may cache permanently, because their URL contains a version."""
    return Response(data, media_type=media_type, headers={"cache-control": FOREVER})
