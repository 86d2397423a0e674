"""Converts errors to and from plain data, for workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.domain import errors
from citekit.domain.errors import CiteKitError, DriverMissing, FaultyAnswer

CAUSE_LIMIT = 2000
"""Maximum number of characters of the text of an error's cause."""

TEXT_LIMIT = 2000
"""Maximum number of characters of a worker's error text, and of each fault."""

_BY_NAME: dict[str, type[CiteKitError]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, CiteKitError) and kind.__init__ is CiteKitError.__init__
} | {kind.__name__: kind for kind in (errors.LocationMalformed, errors.LocationOutside)}
"""The errors that are made from their text alone."""


class DriverError(Exception):
    """An error of a library in a worker, the cause of a CiteKit error."""


def to_plain_error(error: CiteKitError) -> dict[str, Any]:
    """Return an error in a worker as plain data, with the text of its cause."""
    plain: dict[str, Any] = {"error": type(error).__name__, "text": str(error)}
    if isinstance(error, DriverMissing):
        plain |= {"what": error.what, "extra": error.extra}
    if isinstance(error, FaultyAnswer):
        plain |= {"what": error.what, "faults": list(error.faults)}
    if error.__cause__ is not None:
        plain["cause"] = f"{type(error.__cause__).__name__}: {error.__cause__}"[:CAUSE_LIMIT]
    return plain


def from_plain_error(data: Mapping[Any, Any]) -> CiteKitError:
    """Convert plain data to an error: `SourceUnsupported` for an unknown type."""
    error = _error(data)
    if "cause" in data:
        error.__cause__ = DriverError(str(data["cause"])[:CAUSE_LIMIT])
    return error


def _error(data: Mapping[Any, Any]) -> CiteKitError:
    match data:
        case {"error": "DriverMissing", "what": str(what), "extra": str(extra)}:
            return DriverMissing(what[:TEXT_LIMIT], extra[:TEXT_LIMIT])
        case {"error": "FaultyAnswer", "what": str(what), "faults": [*faults]}:
            return FaultyAnswer(what[:TEXT_LIMIT], [str(fault)[:TEXT_LIMIT] for fault in faults])
    text = str(data.get("text") or "The file cannot be read.")[:TEXT_LIMIT]
    return _BY_NAME.get(str(data.get("error")), errors.SourceUnsupported)(text)
