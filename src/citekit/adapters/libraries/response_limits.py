"""Limits the size and the duration of the body of an HTTP response.

A read timeout limits only the time between two packets, and nothing in the HTTP client limits the decompressed size of
a body. A broken or hostile server could otherwise fill the memory, or keep a request open forever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

MAX_BYTES = 64_000_000
"""The maximum size of a decompressed response. The longest answer of a model (65,536 tokens, each in an event) has
about 20 MB."""

MIN_SECONDS = 3600.0
READ_TIMEOUTS = 12
"""A response ends after `READ_TIMEOUTS` times the read timeout, but not before `MIN_SECONDS`."""


class ResponseLimitError(Exception):
    """The body of a response is too large or takes too long. A retry does not help."""


def limit_body(response: Any) -> None:
    """Limit the body of an `httpx` response that has not been read yet; a response hook of the client.

    Reading the body then raises `ResponseLimitError`.
    """
    read = response.iter_bytes
    timeout = (response.request.extensions.get("timeout") or {}).get("read") or 0
    seconds = max(MIN_SECONDS, READ_TIMEOUTS * timeout)

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        size, began = 0, time.monotonic()
        for chunk in read(chunk_size):
            size += len(chunk)
            if size > MAX_BYTES:
                raise ResponseLimitError(f"the answer is larger than {MAX_BYTES / 1e6:.0f} MB")
            if time.monotonic() - began > seconds:
                raise ResponseLimitError(f"the answer did not end within {seconds:.0f} s")
            yield chunk

    response.iter_bytes = iter_bytes


def exceeded_limit(error: BaseException) -> ResponseLimitError | None:
    """The `ResponseLimitError` that `error` is, or that an SDK wrapped in it; None if there is none."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ResponseLimitError):
        cause = cause.__cause__ or cause.__context__
    return cause
