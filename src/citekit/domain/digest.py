"""Defines SHA-256 digests."""

from __future__ import annotations

import hashlib
import re
from io import BufferedIOBase
from typing import Self

from attrs import field, frozen
from attrs.validators import matches_re

_BLOCK = 1 << 20
_HEX = re.compile(r"[0-9a-f]{64}\Z")


@frozen(order=True)
class Digest:
    """A SHA-256 digest as 64 lowercase hexadecimal digits."""

    hex: str = field(validator=matches_re(_HEX))

    def __str__(self) -> str:
        return self.hex

    @property
    def fan_out(self) -> tuple[str, str]:
        """The first two digits and the remaining digits, which are the folder and file names of a stored object."""
        return self.hex[:2], self.hex[2:]

    @classmethod
    def of_bytes(cls, data: bytes) -> Self:
        """Return the digest of `data`."""
        return cls(hashlib.sha256(data).hexdigest())

    @classmethod
    def of_stream(cls, stream: BufferedIOBase) -> Self:
        """Return the digest of a binary stream from its current position to its end."""
        digest = hashlib.sha256()
        while block := stream.read(_BLOCK):  # hashlib.file_digest ignores the position of a BytesIO
            digest.update(block)
        return cls(digest.hexdigest())
