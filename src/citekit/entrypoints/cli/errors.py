"""Converts errors of the command line to messages and to JSON."""

from __future__ import annotations

from collections.abc import Mapping

from citekit.domain.errors import CiteKitError
from citekit.entrypoints.cli.session import same_home
from citekit.entrypoints.failures import FAILED, sentence

INTERRUPTION = "Interrupted."
"""The message after Ctrl-C."""


_COMMANDS = (
    ("citekit ingest", " --force "),
    ("citekit library rebuild", ""),
    ("citekit library remove", ""),
    ("citekit doctor", ""),
)
"""Commands in the messages of the application, which does not know the option `--home`, and what follows them."""


class CommandError(Exception):
    """Raised when a command ends with a negative result, such as nothing found, or files that failed.

    `kind` is the error type in JSON, `plain` is the rest of the JSON document, and `code` is the exit code. The lines
    of the result, if any, have already been printed.
    """

    def __init__(self, kind: str, message: str, plain: Mapping[str, object] | None = None, code: int = FAILED) -> None:
        self.kind, self.plain, self.code = kind, dict(plain or {}), code
        super().__init__(message)


def message_of(error: BaseException) -> str:
    """Return the message of an error, with the option `--home` of the current command in the commands that it names."""
    return in_same_home(sentence(error), same_home())


def in_same_home(text: str, home_words: str) -> str:
    """Return a message with `home_words` (see `Session.home_words`) after the names of commands that need them.

    A message that already has an option `--home` stays unchanged.
    """
    if not home_words or "--home" in text:
        return text
    for command, options in _COMMANDS:
        text = text.replace(command + options, command + home_words + options)
    return text


def plain_error(error: BaseException, message: str) -> dict[str, object]:
    """Return an error as plain data: its type, its message and, if any, `nearest` names and `faults`."""
    kind = error.kind if isinstance(error, CommandError) else type(error).__name__
    plain: dict[str, object] = {"type": kind, "message": message}
    if isinstance(error, CiteKitError):
        plain |= {name: list(found) for name in ("nearest", "faults") if (found := getattr(error, name, None))}
    return plain
