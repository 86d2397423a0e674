"""The identity of bytes."""

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
    """The SHA-256 of some bytes, as 64 lower-case hexadecimal digits."""

    hex: str = field(validator=matches_re(_HEX))

    def __str__(self) -> str:
        return self.hex

    @property
    def fan_out(self) -> tuple[str, str]:
        """(first two digits, the rest): the folder and the name an object is stored under."""
        return self.hex[:2], self.hex[2:]

    @classmethod
    def of_bytes(cls, data: bytes) -> Self:
        """The digest of `data`."""
        return cls(hashlib.sha256(data).hexdigest())

    @classmethod
    def of_stream(cls, stream: BufferedIOBase) -> Self:
        """The digest of a binary stream from its position to its end, in bounded memory."""
        digest = hashlib.sha256()
        while block := stream.read(
            _BLOCK
        ):  # hashlib.file_digest would digest all of a BytesIO, from wherever it stands
            digest.update(block)
        return cls(digest.hexdigest())
