"""What the index says about evidence: which object a key means, and when an object was last asked for."""

from __future__ import annotations

from citekit.adapters.drivers.diskcache import Index
from citekit.adapters.storage.evidence_record import EvidenceRecord
from citekit.adapters.storage.objects import Objects, StoredObject
from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey
from citekit.domain.ports.clock import Clock

GRAIN = 1.0
"""Seconds to which the time of the last use is kept."""

REMEMBERED = 4096
"""Objects whose last use is known without asking the index."""

_TOTAL = "evidence-size"
_OBJECT = "object:"


class EvidenceIndex:
    """Rows `evidence:<key>` (a record), `object:<digest>` (its last use), `object:<digest>:<key>` (that key means it)."""

    def __init__(self, index: Index, clock: Clock) -> None:
        self._index = index
        self._clock = clock
        self._noted: dict[Digest, float] = {}

    def find(self, key: EvidenceKey) -> EvidenceRecord | None:
        """The record of that evidence."""
        return EvidenceRecord.from_plain(self._index.get(_key_row(key)))

    def remember(self, key: EvidenceKey, record: EvidenceRecord, *, new: bool) -> None:
        """Remember the record; `new` where the key may have meant another object, or none, before."""
        if new:
            self._index.put(f"{_OBJECT}{record.digest}:{key}", {})
        self._index.put(_key_row(key), record.to_plain())

    def note_use(self, digest: Digest) -> None:
        """Note that the object is asked for now."""
        now = self.now()
        if abs(now - self._noted.get(digest, 0.0)) < GRAIN:
            return
        if len(self._noted) >= REMEMBERED:
            self._noted.clear()
        self._noted[digest] = now
        self._index.put(f"{_OBJECT}{digest}", {"used": now})

    def last_use(self, stored: StoredObject) -> float:
        """When the object was last asked for, made, or linked, in seconds since the epoch."""
        match self._index.get(f"{_OBJECT}{stored.digest}"):
            case {"used": float(used)}:
                return max(used, stored.touched)
        return stored.touched

    def now(self) -> float:
        """The time, in seconds since the epoch."""
        return self._clock.now().timestamp()

    def forget_missing(self, objects: Objects) -> None:
        """Forget every row about an object that is not there."""
        for row in self._index.keys(_OBJECT):
            name, _, key = row.removeprefix(_OBJECT).partition(":")
            if not _is_there(name, objects):
                self._index.forget(row)
                if key and (self._index.get(f"evidence:{key}") or {}).get("digest") == name:
                    self._index.forget(f"evidence:{key}")

    def add(self, size: int) -> int | None:
        """How many bytes all objects have, after `size` more; None where nobody counts."""
        return self._index.add(_TOTAL, size)

    def reset(self, size: int) -> None:
        """Say how many bytes all objects have."""
        self._index.reset(_TOTAL, size)


def _key_row(key: EvidenceKey) -> str:
    return f"evidence:{key}"


def _is_there(name: str, objects: Objects) -> bool:
    try:
        return objects.status(Digest(name)) is not None
    except ValueError:
        return False
