"""Defines the keys of objects in an object store."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Self

from attrs import field, frozen

from citekit.domain.digest import Digest

LONGEST_KEY = 512
"""Maximum number of characters of a key. S3 allows 1024 bytes, including the prefix of the store."""

_SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}\Z")
"""A part of a key, safe in file names, in URLs, and in the requests that S3 services sign."""


def is_valid(text: str) -> bool:
    """Return whether `text` is a valid key."""
    return len(text) <= LONGEST_KEY and all(_SEGMENT.match(segment) for segment in text.split("/"))


@frozen(order=True)
class ObjectKey:
    """The key of an object: segments of ASCII letters, digits, `.`, `_`, and `-`, separated by `/`.

    A segment has 1 to 128 characters and does not begin with a dot. A key has at most `LONGEST_KEY` characters. The
    constructor raises `ValueError` for any other text.
    """

    text: str = field()

    @text.validator
    def _check(self, _: object, text: str) -> None:
        if not is_valid(text):
            raise ValueError(f"{text!r} is not a valid object key.")

    def __str__(self) -> str:
        return self.text

    @classmethod
    def of_content(cls, area: str, digest: Digest) -> Self:
        """Return the key of the object with that digest, such as `area/ab/cdef...`."""
        return cls("/".join((area, *digest.fan_out)))


@frozen
class ListedObject:
    """An object as a listing shows it. `size` is in bytes, and `stored` has a time zone."""

    key: ObjectKey
    size: int
    stored: datetime
