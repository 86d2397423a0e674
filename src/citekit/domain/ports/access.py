"""The ports of the HTTP server: its subjects, an issuer of tokens, and the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from citekit.domain.subject import Claims, Subject, TokenEntry


class Subjects(Protocol):
    """The subjects of the HTTP server. The methods raise `RequestRefused` if the record of them cannot be trusted."""

    def entries(self) -> Sequence[TokenEntry]:
        """Return all entries."""

    def strangers(self) -> Sequence[str]:
        """Return the names of entries that somebody else wrote. These entries admit nobody."""

    def with_token(self, token: str) -> Subject | None:
        """Return the subject with this token, even if the token has expired, or None."""

    def issued_to(self, issued: str) -> Subject | None:
        """Return the subject with this name at the issuer, or else the subject for all other names, or None."""

    def named(self, name: str) -> Subject | None:
        """Return the subject with this name, or None."""

    def add(self, subject: Subject, issued: str | None = None) -> str | None:
        """Add a subject, and return its new token, or None if `issued`, its name at an issuer, is given.

        Raise `RequestRefused` if the subject cannot be added, for example because its name is taken.
        """

    def revoke(self, name: str) -> None:
        """Remove a subject. Raise `RequestRefused` if no subject has this name."""


class TokenIssuer(Protocol):
    """An issuer of tokens."""

    def verify(self, token: str) -> Claims:
        """Return the claims of a token.

        Raise `TokenInvalid` if the token is not valid, or `IssuerUnavailable` if the issuer's keys cannot be fetched.
        """


class Audit(Protocol):
    """Records the requests of subjects."""

    def __call__(self, entry: Mapping[str, object]) -> None:
        """Record an entry with the current time. Raise `OSError` if it cannot be written."""
