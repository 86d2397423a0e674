"""Evidence as files named by their content, found by key through an index that may be lost."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from citekit.adapters.drivers.diskcache import Index
from citekit.adapters.drivers.files import writing
from citekit.adapters.storage.evidence_index import EvidenceIndex
from citekit.adapters.storage.evidence_record import EvidenceRecord
from citekit.adapters.storage.objects import Objects, StoredObject
from citekit.adapters.storage.system_clock import SystemClock
from citekit.adapters.storage.workshop import Workshop, digest_of, made_by
from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, StoredEvidence
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.evidence_store import Make, StoreCheck, StoreStats
from citekit.domain.progress import Progress, silent

DEFAULT_LIMIT = 10 * 10**9
"""Bytes that the objects may take together."""

KEPT_SHARE = 0.9
"""After the limit was passed, so much of it stays: making room is not repeated for every object."""

GRACE = 10.0
"""Seconds after its last use in which an object is not dropped to make room: whoever was given it may lay it out."""

_WAITING = "waiting for another caller who makes the same evidence"


class FileEvidenceStore:
    """An `EvidenceStore` in a folder: `objects/ab/cdef...`, `locks/`, and `making/` for what is not finished.

    Of those who want the same key at once one holds the key's lock and makes it. `make` must not ask the store for other
    evidence. The limit is on the objects: a file elsewhere that is a link to one (as the output files are) keeps its
    bytes on the disk when the object goes.
    """

    def __init__(
        self,
        folder: Path,
        index: Index,
        limit: int = DEFAULT_LIMIT,
        *,
        clock: Clock | None = None,
        grace: float = GRACE,
    ) -> None:
        """`folder` is made at the first `obtain`; `limit` is in bytes, `grace` in seconds of `clock`, the machine's."""
        self._objects = Objects(folder / "objects")
        self._workshop = Workshop(folder / "making", folder / "locks")
        self._clock = clock or SystemClock()
        self._index = EvidenceIndex(index, self._clock)
        self._limit = limit
        self._grace = grace

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """The evidence; its bytes are read again only where its file does not look as it did."""
        record = self._index.find(key)
        if record is None:
            return None
        self._index.note_use(record.digest)  # before the look: whoever drops objects looks at uses last of all
        status = self._objects.status(record.digest)
        if status is None:
            return None
        if not record.matches(status):
            return self._look_again(key, record)
        return record.stored(key, self._objects.path(record.digest), made_now=False)

    def obtain(self, key: EvidenceKey, make: Make, progress: Progress = silent) -> StoredEvidence:
        """The evidence, made where it is missing. Raises, besides what the two raise, `HomeUnwritable`."""
        found = self.find(key)
        if found is not None:
            return found
        with self._workshop.turn(key, partial(progress, 0.0, None, _WAITING)):
            found = self.find(key)
            return found if found is not None else self._made(key, make)

    def stats(self) -> StoreStats:
        """How full the store is, counted on the disk."""
        found = list(self._objects)
        linked = sum(each.size for each in found if each.linked)
        return StoreStats(objects=len(found), size=_size(found), limit=self._limit, linked=linked)

    def verify(self) -> StoreCheck:
        """Read every object, drop the damaged, forget what is gone, clean up after killed processes."""
        checked, healed = 0, []
        for each in self._objects:
            checked += 1
            if not self._objects.is_intact(each.digest) and each.path.is_symlink() | each.path.exists():
                self._drop(each.digest)
                healed.append(each.digest.hex)
        leftovers = self._workshop.clean()
        self._count_again()
        return StoreCheck(checked=checked, healed=healed, leftovers=leftovers)

    def prune(self, limit: int | None = None) -> int:
        """Drop the least recently used until `limit` bytes remain; return what it freed. Raises `HomeUnwritable`."""
        self._workshop.clean()
        return _freed(self._shrink(self._limit if limit is None else limit, None))

    def clear(self) -> int:
        """Drop everything; return what it freed. Raises `HomeUnwritable`."""
        self._workshop.clean()
        dropped = [self._drop(each.digest) for each in list(self._objects)]
        self._count_again()
        return _freed(each for each in dropped if each is not None)

    def _look_again(self, key: EvidenceKey, record: EvidenceRecord) -> StoredEvidence | None:
        """Keep an object whose file looks different but whose bytes are right, drop any other."""
        seen = time.time()
        status = self._objects.status(record.digest)
        if status is None or not self._objects.is_intact(record.digest):
            with suppress(OSError):
                dropped = self._objects.drop(record.digest)
                self._index.add(-dropped.size if dropped is not None else 0)
            return None
        record = record.again(status, seen)
        self._index.remember(key, record, new=False)
        return record.stored(key, self._objects.path(record.digest), made_now=False)

    def _made(self, key: EvidenceKey, make: Make) -> StoredEvidence:
        with self._workshop.folder(key) as folder:
            made = folder / "evidence"
            extraction = made_by(make, made)
            digest, size = digest_of(made)
            total = self._index.add(size if self._objects.status(digest) is None else 0)
            with writing(self._objects.path(digest)):
                status = self._objects.take_in(made, digest)
        record = EvidenceRecord.of(digest, status, extraction, self._clock.now(), time.time())
        self._index.remember(key, record, new=True)
        self._index.note_use(digest)
        if (self.stats().size if total is None else total) > self._limit:
            self._shrink(int(self._limit * KEPT_SHARE), digest)
        return record.stored(key, self._objects.path(digest), made_now=True)

    def _shrink(self, limit: int, protected: Digest | None) -> list[StoredObject]:
        """Drop the least recently used, but never `protected`, and set the counter to what is really there."""
        objects = sorted(self._objects, key=lambda each: (self._index.last_use(each), each.digest))
        total, dropped = _size(objects), list[StoredObject]()
        for each in objects:
            if total <= limit:
                break
            gone = None if each.digest == protected or self._is_in_use(each.digest) else self._drop(each.digest)
            if gone is not None:
                total -= gone.size
                dropped.append(gone)
        if dropped:
            self._index.forget_missing(self._objects)
        self._index.reset(total)
        return dropped

    def _is_in_use(self, digest: Digest) -> bool:
        """Whether somebody was given the object so lately that they may not have laid it out yet."""
        status = self._objects.status(digest)
        if status is None:
            return False
        last = self._index.last_use(StoredObject.of(self._objects.path(digest), digest, status))
        return abs(self._index.now() - last) < self._grace

    def _drop(self, digest: Digest) -> StoredObject | None:
        with writing(self._objects.path(digest)):
            return self._objects.drop(digest)

    def _count_again(self) -> None:
        self._index.forget_missing(self._objects)
        self._index.reset(self.stats().size)


def _size(objects: Iterable[StoredObject]) -> int:
    return sum(each.size for each in objects)


def _freed(dropped: Iterable[StoredObject]) -> int:
    """What the disk has gained: the bytes of an object that another file is a link to are still on it."""
    return sum(each.size for each in dropped if not each.linked)
