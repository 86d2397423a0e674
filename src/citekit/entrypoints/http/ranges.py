"""Reads the header `Range` of requests for evidence (RFC 9110, 14)."""

from __future__ import annotations

import re

_RANGE = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.ASCII | re.IGNORECASE)


def wanted_range(header: str | None, size: int) -> range | None:
    """Return the bytes that a request wants of a file of `size` bytes; None for the whole file.

    The range is empty if no byte of the file is in it. Several ranges, and units other than bytes, are ignored.
    """
    found = _RANGE.fullmatch(header or "")
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return range(max(0, size - int(found[2])), size)
    first, last = int(found[1]), int(found[2]) if found[2] else size - 1
    if found[2] and last < first:
        return None  # not a valid range
    return range(first, min(last + 1, size))
