"""Limits the size and duration of HTTP response bodies.

A read timeout limits only the time between two packets, and the HTTP client does not limit the decompressed size, so
that a broken or hostile server could exhaust the memory or keep a request open forever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

MAX_BYTES = 64_000_000
"""Maximum size of a decompressed response, in bytes. The longest answer of a model has about 20 MB."""

MIN_SECONDS = 3600.0
READ_TIMEOUTS = 12
"""A response may take `READ_TIMEOUTS` times the read timeout, or `MIN_SECONDS` if that is longer."""


class ResponseLimitError(Exception):
    """A response body is too large or takes too long, so that a retry does not help."""


def limit_body(response: Any) -> None:
    """Make reading the body of an unread `httpx` response raise `ResponseLimitError` if it is too large or too slow.

    This is a response hook.
    """
    read = response.iter_bytes
    timeout = (response.request.extensions.get("timeout") or {}).get("read") or 0
    seconds = max(MIN_SECONDS, READ_TIMEOUTS * timeout)

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        size, began = 0, time.monotonic()
        for chunk in read(chunk_size):
            size += len(chunk)
            if size > MAX_BYTES:
                raise ResponseLimitError(f"the response is larger than {MAX_BYTES / 1e6:.0f} MB")
            if time.monotonic() - began > seconds:
                raise ResponseLimitError(f"the response did not end within {seconds:.0f} s")
            yield chunk

    response.iter_bytes = iter_bytes


def exceeded_limit(error: BaseException) -> ResponseLimitError | None:
    """Return the first `ResponseLimitError` among `error` and its causes, or None."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ResponseLimitError):
        cause = cause.__cause__ or cause.__context__
    return cause
