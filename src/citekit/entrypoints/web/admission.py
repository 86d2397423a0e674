"""Proves to a process that a server is genuine, and admits browsers of the user.

Other users can see the arguments of the program that opens the browser, and can listen on a port before the server
does.
"""

from __future__ import annotations

import secrets
import time
from hashlib import sha256
from hmac import compare_digest, new

from attrs import define, field, frozen

CODE = "code"
"""The name of the parameter of a link with a code."""

SECONDS = 60
"""The time in seconds for which a code is valid."""


@frozen
class Keys:
    """The keys that the server on one port and the user's processes derive from the user's `token`."""

    token: str
    port: int

    def proof(self, nonce: str) -> str:
        """Return the genuine server's answer to a challenge, which is not valid on another port."""
        return self._signed("server", nonce)

    def proves(self, proof: str, nonce: str) -> bool:
        """Return whether `proof` is the genuine server's answer to `nonce`."""
        return compare_digest(proof.encode("utf-8", "replace"), self.proof(nonce).encode())

    def code(self) -> str:
        """Return a new code, which admits one browser once within `SECONDS` seconds."""
        said = f"{int(time.time()) + SECONDS}-{secrets.token_hex(8)}"
        return f"{said}-{self._signed('code', said)}"

    def _signed(self, purpose: str, text: str) -> str:
        return new(self.token.encode(), f"{purpose} {self.port} {text}".encode("utf-8", "replace"), sha256).hexdigest()

    def end_of(self, code: str) -> int:
        """Return the time at which a code expires, in seconds since the epoch, or 0 if the code is not genuine."""
        said, _, signature = code.rpartition("-")
        genuine = compare_digest(signature.encode("utf-8", "replace"), self._signed("code", said).encode())
        return int(said.partition("-")[0]) if genuine else 0


@define
class Codes:
    """Accepts each code once."""

    keys: Keys
    _used: dict[str, int] = field(factory=dict, init=False)

    def accept(self, code: str) -> bool:
        """Return whether the code is genuine, valid, and unused, and record it as used."""
        now, end = time.time(), self.keys.end_of(code)
        self._used = {used: until for used, until in self._used.items() if until > now}
        if end <= now or code in self._used:
            return False
        self._used[code] = end
        return True
