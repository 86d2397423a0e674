"""Signs links to evidence, which work for everyone until they expire or their subject is removed."""

from __future__ import annotations

import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest, new

from attrs import field, frozen

from citekit.domain.digest import Digest

PATH = "/evidence/"
SECONDS = 3600
"""The time in seconds for which a link is valid."""


@frozen
class EvidenceLinks:
    """Makes and reads the links of the server at `url`, which are signed with `key`."""

    url: str
    key: bytes = field(repr=False)
    now: Callable[[], float] = time.time

    def to(self, subject: str, digest: Digest) -> str:
        """Return a link to evidence of a subject."""
        said = f"{urlsafe_b64encode(subject.encode()).decode()}.{digest.hex}.{int(self.now()) + SECONDS}"
        return f"{self.url.rstrip('/')}{PATH}{said}.{self._signed(said)}"

    def read(self, text: str) -> tuple[str, Digest] | None:
        """Return the subject and the digest in the last part of a link, or None if it is forged or expired."""
        said, _, signature = text.rpartition(".")
        if not compare_digest(signature.encode("utf-8", "replace"), self._signed(said).encode()):
            return None
        name, digest, end = said.split(".")
        if int(end) <= self.now():
            return None
        return urlsafe_b64decode(name).decode(), Digest(digest)

    def _signed(self, said: str) -> str:
        return new(self.key, said.encode("utf-8", "replace"), sha256).hexdigest()
