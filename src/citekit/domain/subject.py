"""Defines the subjects of the HTTP server: who may use it, with which home, and for which operations."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, field, frozen

READ, INGEST, ADMIN = SCOPES = ("read", "ingest", "admin")
"""The scopes, each of which includes those before it: use maps and evidence, map files, do everything."""


@frozen(kw_only=True)
class Subject:
    """A person or program that uses the HTTP server.

    `home` contains the subject's maps and evidence. The subject may also read and map files in `roots`. `scopes` are
    from `SCOPES`. `store` is the address of the object store with the subject's maps, texts, and evidence, or None if
    these are in the home. `expires` is the time, in seconds since the epoch, after which the subject is refused, or
    None.
    """

    name: str
    home: Path
    roots: tuple[Path, ...] = ()
    scopes: frozenset[str] = frozenset({READ})
    expires: float | None = None
    store: str | None = None

    def may(self, scope: str) -> bool:
        """Return whether the subject has a scope, or one that includes it."""
        return any(each in self.scopes for each in SCOPES[SCOPES.index(scope) :])

    def limited(self, scopes: frozenset[str], expires: float) -> Subject:
        """Return this subject, limited to the scopes that it shares with a token and to the lifetime of the token."""
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
    """The content of a verified token: the issuer's name for the subject, its scopes, and when it expires."""

    issued: str
    scopes: frozenset[str]
    expires: float
