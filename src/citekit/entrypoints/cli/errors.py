"""How a command says that it failed, to a person and to a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.domain.errors import CiteKitError
from citekit.entrypoints.failures import FAILED

INTERRUPTION = "Interrupted. No incomplete files were left behind."
"""What is said after Ctrl-C."""


class CommandError(Exception):
    """A command that did its work and found that the answer is no.

    `kind` is the word for programs, `plain` the rest of the JSON document, `code` the exit code. The lines for a person
    were printed before; the text is the one sentence on standard error.
    """

    def __init__(self, kind: str, message: str, plain: Mapping[str, Any] | None = None, code: int = FAILED) -> None:
        self.kind, self.plain, self.code = kind, dict(plain or {}), code
        super().__init__(message)


def plain_error(error: BaseException, message: str) -> dict[str, Any]:
    """An error as plain data: its type, its sentence, and what it knows beside: `nearest` names, `faults`."""
    kind = error.kind if isinstance(error, CommandError) else type(error).__name__
    plain: dict[str, Any] = {"type": kind, "message": message}
    if isinstance(error, CiteKitError):
        plain |= {name: list(found) for name in ("nearest", "faults") if (found := getattr(error, name, None))}
    return plain
