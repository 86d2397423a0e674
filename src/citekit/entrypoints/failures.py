"""Converts errors to exit codes and messages."""

from __future__ import annotations

import errno

from citekit.domain.errors import (
    AddressMalformed,
    CiteKitError,
    Damaged,
    DriverMissing,
    FaultyAnswer,
    Refused,
    RequestRefused,
    ResourceIdRefused,
    Unavailable,
)
from citekit.settings.secrets import concealed

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
"""The exit codes of the command line. 130 is 128 + SIGINT, as in shells."""

_EXIT_CODES: tuple[tuple[type[CiteKitError], int], ...] = (
    (RequestRefused, USAGE),
    (AddressMalformed, USAGE),
    (ResourceIdRefused, USAGE),
    (Refused, FAILED),
    (FaultyAnswer, FAILED),
    (DriverMissing, FAILED),
    (Unavailable, FAILED),
    (Damaged, FAILED),
)


def exit_code(error: CiteKitError) -> int:
    """Return the exit code for an error: 2 if the request is invalid, otherwise 1."""
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), FAILED)


def sentence(error: BaseException) -> str:
    """Return the message of an error for a user or an agent.

    For an error outside CiteKit and the operating system, it is a request to report it. Keys and passwords of this
    process are removed, because a service may repeat them in an error.
    """
    return concealed(_sentence(error))


def naming_variables(text: str) -> str:
    """Return the message of a mapper with the names of variables instead of options of the command line."""
    for option, variable in _VARIABLES.items():
        text = text.replace(option, variable)
    return text


_VARIABLES = {
    "--timeout or CITEKIT_TIMEOUT": "CITEKIT_TIMEOUT",
    "--mapper ": "CITEKIT_MAPPER=",
    "--model-concurrency": "CITEKIT_MODEL_CONCURRENCY",
    "--max-requests": "CITEKIT_MAX_REQUESTS",
    "--timeout": "CITEKIT_TIMEOUT",
    "--base-url": "CITEKIT_BASE_URL",
    "--model": "CITEKIT_MODEL",
}
"""Options of the command line in messages of mappers, and the variables for them, in the order of replacement."""


def _sentence(error: BaseException) -> str:
    if isinstance(error, CiteKitError):
        return str(error)
    if isinstance(error, OSError):
        return _of_system(error)
    return f"An unexpected error occurred inside CiteKit ({type(error).__name__}: {error}). Please report it."


def _of_system(error: OSError) -> str:
    where = f": {error.filename}" if error.filename else ""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return f"The disk is full, or the quota is exceeded{where}. Free some space and try again."
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return f"Permission denied{where}."
    return f"{error.strerror or error}{where}."
