"""A line of a ledger as JSON text (RFC 8259), and back."""

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


def checked(entry: LedgerEntry) -> LedgerEntry:
    """The entry with its time in UTC. Raises `RequestRefused` for a time without a zone: nobody could order the lines."""
    if entry.at.utcoffset() is None:
        raise RequestRefused(f"A line of the ledger needs a time with its zone, not {entry.at.isoformat()}.")
    return evolve(entry, at=entry.at.astimezone(UTC))


def written(entry: LedgerEntry) -> str:
    """The entry as one line of ASCII. Raises `RequestRefused` for what is not plain data."""
    plain = {name: getattr(entry, name) for name in _NAMES}
    plain |= {"deed": entry.deed.value, "at": checked(entry).at.isoformat(), "digest": entry.digest.hex}
    plain |= {name: dict(plain[name]) for name in ("parameters", "counts", "seconds")}
    try:
        return json.dumps(plain, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestRefused(f"A line of the ledger holds plain data only: {error}.") from error


def read(text: str) -> LedgerEntry:
    """The entry. Raises `ValueError` for any other text; fields of a later version are omitted."""
    try:
        plain: dict[str, Any] = json.loads(text)
        known = {name: plain[name] for name in _NAMES if name in plain}
        return LedgerEntry(**known | {name: make(known[name]) for name, make in _READ.items()})
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
