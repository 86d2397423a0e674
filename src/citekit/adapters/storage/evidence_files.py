"""Evidence as files named by their content, found by key through an index that may be lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.storage.access_times import Uses
from citekit.adapters.storage.eviction import Eviction
from citekit.adapters.storage.evidence_cache import HotEvidences
from citekit.adapters.storage.evidence_index import DATABASE, TABLES, EvidenceIndex
from citekit.adapters.storage.evidence_record import EvidenceRecord
from citekit.adapters.storage.objects import Objects, StoredObject
from citekit.adapters.storage.staging import StagingArea, digest_of, made_by
from citekit.adapters.system.clock import SystemClock
from citekit.adapters.system.file_locks import Locks
from citekit.adapters.system.files import writing
from citekit.adapters.system.permissions import EVERYBODY, narrow
from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, StoredEvidence
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.evidence_store import Make, StoreCheck, StoreStats
from citekit.domain.ports.locks import report_waiting, wait_silently
from citekit.domain.progress import Progress, silent

DEFAULT_LIMIT = 10 * 10**9
"""Bytes that the objects may take together."""

KEPT_SHARE = 0.99
"""After the limit was passed, so much of it stays: making room is not repeated for every object."""

GRACE = 10.0
"""Seconds after its last use in which an object is not dropped to make room: a caller may still copy it."""

_WAITING = "waiting for another caller who makes the same evidence"

Waiting = Callable[[], object]
"""What is called now and then while a lock is waited for."""


class FileEvidenceStore:
    """An `EvidenceStore` in a folder: `objects/ab/cdef...`, `locks/`, and `making/` for what is not finished.

    Of those who want the same key at once one holds the key's lock and makes it. `make` must not ask the store for other
    evidence. The limit is on the objects: a file elsewhere that is a link to one (as the output files are) keeps its
    bytes on the disk when the object goes.

    After a kill every object is whole. After a power cut, objects of the last seconds may be torn, since nobody waits for
    the disk (where the system says which run of the machine this is; elsewhere one waits): none is given out before its
    bytes were read again, and a torn one is made again. A disk that is pulled out while it is written to is not noticed so
    before `verify`.
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
        self._objects = Objects(folder / "objects", Locks(folder / "locks", passing=True))
        self._workshop = StagingArea(folder / "making", folder / "locks")
        self._clock = clock or SystemClock()
        self._index = EvidenceIndex(index.beside(DATABASE, TABLES), index.seal)
        self._uses = Uses(folder / "uses", self._clock)
        self._eviction = Eviction(self._objects, self._index, self._uses, grace)
        self._hot = HotEvidences()
        self._limit = limit

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """The evidence; its bytes are read again only where its file does not look as it did."""
        return self.cached(key) or self._find(key, wait_silently)

    def cached(self, key: EvidenceKey) -> StoredEvidence | None:
        """The evidence, if it was asked for before and its file looks as it did."""
        hot = self._hot.get(key)
        if hot is None:
            return None
        self._uses.note(hot.stored.digest)  # before the look: eviction checks uses last
        return hot.stored if hot.is_current() else None

    def _find(self, key: EvidenceKey, waiting: Waiting) -> StoredEvidence | None:
        record = self._index.find(key)
        if record is None:
            return None
        self._uses.note(record.digest)
        status = self._objects.status(record.digest)
        if status is None:
            return None
        return self._known(key, record) if record.matches(status) else self._look_again(key, record, waiting)

    def _known(self, key: EvidenceKey, record: EvidenceRecord) -> StoredEvidence:
        stored = record.stored(key, self._objects.path(record.digest), made_now=False)
        self._hot.keep(stored, record)
        return stored

    def obtain(
        self, key: EvidenceKey, make: Make, progress: Progress = silent, *, readers: int = EVERYBODY
    ) -> StoredEvidence:
        """The evidence, made where it is missing. Raises `HomeUnwritable`, and what both steps raise."""
        waiting = report_waiting(progress, _WAITING)
        found = self.cached(key) or self._find(key, waiting)
        if found is None:
            with self._workshop.turn(key, waiting):
                found = self.cached(key) or self._find(key, waiting)
                if found is None:
                    return self._made(key, make, waiting, readers)
        narrow(found.path, readers)
        return found

    def is_intact(self, digest: Digest) -> bool | None:
        """Whether the object's file has the bytes of its name."""
        return None if self._objects.status(digest) is None else self._objects.is_intact(digest)

    def stats(self) -> StoreStats:
        """How full the store is, counted on the disk."""
        objects, size, linked = 0, 0, 0
        for each in self._objects:
            objects += 1
            size += each.size
            linked += each.size if each.linked else 0
        return StoreStats(objects=objects, size=size, limit=self._limit, linked=linked)

    def verify(self) -> StoreCheck:
        """Read every object, drop the damaged, forget what is gone, clean up after killed processes."""
        checked, healed = 0, []
        for each in self._objects:
            checked += 1
            if not self._objects.is_intact(each.digest) and os.path.lexists(self._objects.path(each.digest)):
                self._eviction.remove(each.digest)
                healed.append(each.digest.hex)
        leftovers = self._workshop.clean()
        self._eviction.count()
        return StoreCheck(checked=checked, healed=healed, leftovers=leftovers)

    def prune(self, limit: int | None = None) -> int:
        """Drop the least recently used until `limit` bytes remain; return what it freed. Raises `HomeUnwritable`."""
        self._workshop.clean()
        self._eviction.count()
        return _freed(self._eviction.drop(self._total(), self._limit if limit is None else limit, None))

    def clear(self) -> int:
        """Drop everything; return what it freed. Raises `HomeUnwritable`."""
        self._workshop.clean()
        freed = _freed(gone for each in self._objects if (gone := self._eviction.remove(each.digest)) is not None)
        self._eviction.count()
        return freed

    def _look_again(self, key: EvidenceKey, record: EvidenceRecord, waiting: Waiting) -> StoredEvidence | None:
        """Keep an object whose file looks different but whose bytes are right, drop any other."""
        with self._objects.turn(record.digest, waiting):
            seen = time.time()
            status = self._objects.status(record.digest)
            if status is None or not self._objects.is_intact(record.digest):
                with suppress(OSError):
                    self._objects.drop(record.digest)
                return None
        record = record.again(status, seen)
        self._index.remember(key, record, self._uses.now())
        return self._known(key, record)

    def _made(self, key: EvidenceKey, make: Make, waiting: Waiting, readers: int) -> StoredEvidence:
        with self._workshop.folder(key) as folder:
            made = folder / "evidence"
            extraction = made_by(make, made)
            digest, size = digest_of(made)
            total = self._index.expect(digest, size, self._uses.now())
            self._uses.note(digest)  # before it is there to be dropped, or is found to be there
            with self._objects.turn(digest, waiting), writing(self._objects.path(digest)):
                status = self._objects.take_in(made, digest, readers)
        record = EvidenceRecord.of(digest, status, extraction, self._clock.now(), time.time())
        self._index.remember(key, record, self._uses.now())
        if total is None:
            self._eviction.count()  # nobody has: the index is new
            total = self._total()
        if total > self._limit:
            self._eviction.drop(total, self._limit, digest, kept=int(self._limit * KEPT_SHARE))
        return record.stored(key, self._objects.path(digest), made_now=True)

    def _total(self) -> int:
        total = self._index.total()
        return self.stats().size if total is None else total


def _freed(dropped: Iterable[StoredObject]) -> int:
    """What the disk has gained: the bytes of an object that another file is a link to are still on it."""
    return sum(each.size for each in dropped if not each.linked)
