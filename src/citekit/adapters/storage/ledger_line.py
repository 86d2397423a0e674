"""Converts ledger entries to lines of JSON (RFC 8259) and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from attrs import evolve, fields

from citekit.domain.digest import Digest
from citekit.domain.errors import RequestRefused
from citekit.domain.library.ledger import Deed, LedgerEntry

_NAMES = tuple(field.name for field in fields(LedgerEntry))
_READ = {"deed": Deed, "at": datetime.fromisoformat, "digest": Digest}
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(_NAMES, (str,)),
    **dict.fromkeys(("size", "copy", "replacing"), (int,)),
    **dict.fromkeys(("parameters", "counts", "seconds"), (dict,)),
    "book_id": (int, type(None)),
    "error": (str, type(None)),
}
"""The types of the fields in JSON."""


def checked(entry: LedgerEntry) -> LedgerEntry:
    """Return the entry with its time in UTC. Raise `RequestRefused` if the time has no time zone."""
    if entry.at.utcoffset() is None:
        raise RequestRefused(f"The time of a ledger entry must have a time zone, but {entry.at.isoformat()} has none.")
    return evolve(entry, at=entry.at.astimezone(UTC))


def written(entry: LedgerEntry) -> str:
    """Return the entry as one line of ASCII. Raise `RequestRefused` if it is not plain data or its time has no time
    zone.
    """
    plain = {name: getattr(entry, name) for name in _NAMES}
    plain |= {"deed": entry.deed.value, "at": checked(entry).at.isoformat(), "digest": entry.digest.hex}
    plain |= {name: dict(plain[name]) for name in ("parameters", "counts", "seconds")}
    try:
        return json.dumps(plain, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestRefused(f"The data of a ledger entry must be representable as JSON: {error}.") from error


def read(text: str) -> LedgerEntry:
    """Return the entry that `text` contains, without fields of later versions.

    Raise `ValueError` if it is not valid.
    """
    try:
        plain: dict[str, Any] = json.loads(text)
        known = {name: plain[name] for name in _NAMES if name in plain}
        wrong = [name for name, value in known.items() if not isinstance(value, _KINDS[name])]
        numbers = (*known.get("counts", {}).values(), *known.get("seconds", {}).values())
        if wrong or not all(isinstance(each, int | float) for each in numbers):
            raise TypeError(
                f"the field {wrong[0]!r} has the wrong type"
                if wrong
                else "a value in counts or seconds is not a number"
            )
        return LedgerEntry(**known | {name: make(known[name]) for name, make in _READ.items()})
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
