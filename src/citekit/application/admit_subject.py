"""Decides which subject a token of the HTTP server admits."""

from __future__ import annotations

import time
from collections.abc import Callable

from attrs import frozen

from citekit.domain.errors import TokenInvalid
from citekit.domain.ports.access import Subjects, TokenIssuer
from citekit.domain.subject import Subject

LONGEST = 16_384
"""The maximum length of a token in characters."""

_UNKNOWN = "The token is unknown or was revoked."


@frozen
class AdmitSubject:
    """Admits subjects of the token file, by their own tokens or, if there is an issuer, by tokens that it issues."""

    subjects: Subjects
    issuer: TokenIssuer | None = None
    now: Callable[[], float] = time.time

    def __call__(self, token: str) -> Subject:
        """Return the subject of a token. Its scopes may be empty.

        Raise `TokenInvalid` if the token is unknown, not valid, too long, or expired, `IssuerUnavailable` if the
        issuer's keys cannot be fetched, or `RequestRefused` if the token file cannot be trusted.
        """
        if not 0 < len(token) <= LONGEST:
            raise TokenInvalid(_UNKNOWN)
        subject = self.subjects.with_token(token)
        if subject is None and self.issuer is not None and token.count(".") == 2:
            claims = self.issuer.verify(token)
            entry = self.subjects.issued_to(claims.issued)
            if entry is None:
                raise TokenInvalid("The subject of the token is not known to this server.")
            if self._is_over(entry):
                raise TokenInvalid("The access of the token's subject has expired.")
            subject = entry.limited(claims.scopes, claims.expires)
        if subject is None:
            raise TokenInvalid(_UNKNOWN)
        return self._valid(subject)

    def named(self, name: str) -> Subject | None:
        """Return the subject with this name, or None if there is no such subject or its admission has expired.

        Raise `RequestRefused` if the token file cannot be trusted.
        """
        subject = self.subjects.named(name)
        return None if subject is None or self._is_over(subject) else subject

    def _valid(self, subject: Subject) -> Subject:
        if self._is_over(subject):
            raise TokenInvalid("The token has expired.")
        return subject

    def _is_over(self, subject: Subject) -> bool:
        return subject.expires is not None and subject.expires <= self.now()
