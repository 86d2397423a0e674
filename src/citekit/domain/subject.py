"""Defines the subjects of the HTTP server: who may use it, in which home, and for what."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, field, frozen

READ, INGEST, ADMIN = SCOPES = ("read", "ingest", "admin")
"""The scopes: use maps and evidence; also map files; everything. A scope includes those before it."""


@frozen(kw_only=True)
class Subject:
    """A person or program that uses the HTTP server.

    `home` has its maps and evidence. In addition to files in the home, it may read and map those in `roots`. `scopes` are
    from `SCOPES`. From `expires` on (seconds since the epoch; None: never), it is refused.
    """

    name: str
    home: Path
    roots: tuple[Path, ...] = ()
    scopes: frozenset[str] = frozenset({READ})
    expires: float | None = None

    def may(self, scope: str) -> bool:
        """Return whether the subject has a scope, or one that includes it."""
        return any(each in self.scopes for each in SCOPES[SCOPES.index(scope) :])

    def limited(self, scopes: frozenset[str], expires: float) -> Subject:
        """Return this subject with the scopes that it and a token have in common, until the token expires."""
        granted = evolve(self, scopes=scopes & frozenset(SCOPES))
        common = frozenset(scope for scope in SCOPES if self.may(scope) and granted.may(scope))
        return evolve(self, scopes=common, expires=expires if self.expires is None else min(expires, self.expires))


@frozen
class TokenEntry:
    """A subject with the SHA-256 of its token, or with its name at the issuer, `issued`."""

    subject: Subject
    digest: str | None = field(default=None, repr=False)
    issued: str | None = None


@frozen
class Claims:
    """What a verified token of an issuer says: the issuer's name of the subject, its scopes, and when it expires."""

    issued: str
    scopes: frozenset[str]
    expires: float
