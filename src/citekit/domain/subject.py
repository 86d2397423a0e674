"""Defines the subjects of the HTTP server."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, field, frozen

READ, INGEST, ADMIN = SCOPES = ("read", "ingest", "admin")
"""The scopes, each of which includes those before it."""


@frozen(kw_only=True)
class Subject:
    """A person or program that uses the HTTP server.

    `home` contains the subject's maps and evidence, unless they are in the object store at the address `store`. The
    subject may also read and map files in `roots`. `expires` is the end of its access in seconds since the epoch, or
    None.
    """

    name: str
    home: Path
    roots: tuple[Path, ...] = ()
    scopes: frozenset[str] = frozenset({READ})
    expires: float | None = None
    store: str | None = None

    def may(self, scope: str) -> bool:
        """Return whether the subject has a scope or one that includes it."""
        return any(each in self.scopes for each in SCOPES[SCOPES.index(scope) :])

    def limited(self, scopes: frozenset[str], expires: float) -> Subject:
        """Return this subject, limited by the scopes and the lifetime of a token."""
        granted = evolve(self, scopes=scopes & frozenset(SCOPES))
        common = frozenset(scope for scope in SCOPES if self.may(scope) and granted.may(scope))
        return evolve(self, scopes=common, expires=expires if self.expires is None else min(expires, self.expires))


@frozen
class TokenEntry:
    """A subject with the SHA-256 of its token, or with its name `issued` at the issuer."""

    subject: Subject
    digest: str | None = field(default=None, repr=False)
    issued: str | None = None


@frozen
class Claims:
    """The content of a verified token.

    `issued` is the issuer's name for the subject. `expires` is the end of the token in seconds since the epoch.
    """

    issued: str
    scopes: frozenset[str]
    expires: float
