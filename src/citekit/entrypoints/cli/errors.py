"""Errors of the command line, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.domain.errors import CiteKitError
from citekit.entrypoints.failures import FAILED

INTERRUPTION = "Interrupted. No incomplete files were left behind."
"""The message after Ctrl-C."""


class CommandError(Exception):
    """A command ran, and its result is negative.

    `kind` is the error type in JSON, `plain` the rest of the JSON document, and `code` the exit code. The lines for
    people are already printed; the message is the one sentence on standard error.
    """

    def __init__(self, kind: str, message: str, plain: Mapping[str, Any] | None = None, code: int = FAILED) -> None:
        self.kind, self.plain, self.code = kind, dict(plain or {}), code
        super().__init__(message)


def plain_error(error: BaseException, message: str) -> dict[str, Any]:
    """An error as plain data: its type, its message, and if it has them, `nearest` names and `faults`."""
    kind = error.kind if isinstance(error, CommandError) else type(error).__name__
    plain: dict[str, Any] = {"type": kind, "message": message}
    if isinstance(error, CiteKitError):
        plain |= {name: list(found) for name in ("nearest", "faults") if (found := getattr(error, name, None))}
    return plain
