"""A content-addressed evidence store on disk. Evidence is found by key through an index that can be rebuilt."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from attrs import field, frozen

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.storage.access_times import Uses
from citekit.adapters.storage.eviction import Eviction
from citekit.adapters.storage.evidence_index import DATABASE, TABLES, EvidenceIndex
from citekit.adapters.storage.evidence_record import EvidenceRecord
from citekit.adapters.storage.objects import Objects, StoredObject
from citekit.adapters.storage.staging import StagingArea, digest_of, made_by
from citekit.adapters.system.clock import SystemClock
from citekit.adapters.system.file_locks import Locks
from citekit.adapters.system.files import open_home_file, writing
from citekit.adapters.system.permissions import EVERYBODY, narrow
from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, StoredEvidence
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.evidence_store import Make, StoreCheck, StoreStats
from citekit.domain.ports.locks import report_waiting, wait_silently
from citekit.domain.progress import Progress, silent

DEFAULT_LIMIT = 10 * 10**9
"""Default limit on the total size of the objects, in bytes."""

KEPT_SHARE = 0.99
"""Fraction of the limit that remains after an eviction, so that not every new object causes another."""

GRACE = 10.0
"""Seconds after its last access during which an object is not evicted, because it may still be copied."""

_WAITING = "waiting for another caller that is creating the same evidence"

Waiting = Callable[[], object]
"""A callback that runs periodically while a lock is awaited."""

REMEMBERED = 8192
"""Maximum number of cached records; the least recently used is evicted first."""


class FileEvidenceStore:
    """An `EvidenceStore` in a folder with `objects/ab/cdef...`, `locks/`, and `making/` (the staging area).

    If several callers request the same key at once, one of them makes the evidence. `make` must not request other
    evidence. The limit applies to the objects: if an output is a hard link to an object, its bytes stay on the disk
    after the object is evicted.

    If a process is killed, every object is still complete. After a power failure, objects written in the last few
    seconds may be incomplete, because the store does not wait for the disk if the system reports a boot ID. Therefore,
    an object from an earlier boot is verified before it is returned, and a damaged one is made again.
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
        """`folder` is created by the first `obtain`. `limit` is in bytes.

        `grace` is in seconds; accesses are timed with `clock` (None: the system clock).
        """
        self._objects = Objects(folder / "objects", Locks(folder / "locks", passing=True))
        self._staging = StagingArea(folder / "making", folder / "locks")
        self._clock = clock or SystemClock()
        self._index = EvidenceIndex(index.beside(DATABASE, TABLES), index.seal)
        self._uses = Uses(folder / "uses", self._clock)
        self._eviction = Eviction(self._objects, self._index, self._uses, grace)
        self._hot = HotEvidences()
        self._limit = limit

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """See `EvidenceStore.find`. If the state of the file has changed, its bytes are verified first."""
        return self.cached(key) or self._find(key, wait_silently)

    def cached(self, key: EvidenceKey) -> StoredEvidence | None:
        """See `EvidenceStore.cached`."""
        hot = self._hot.get(key)
        if hot is None:
            return None
        self._uses.note(hot.stored.digest)  # recorded before the check, because eviction checks the access times last
        return hot.stored if hot.is_current() else None

    def read(self, key: EvidenceKey, start: int, length: int) -> bytes | None:
        """See `EvidenceStore.read`."""
        found = self.find(key)
        if found is None:
            return None
        try:
            with open_home_file(found.path) as file:
                file.seek(start)
                return file.read(length)
        except FileNotFoundError:  # it was evicted after `find`
            return None

    def link(self, digest: Digest, seconds: int) -> str | None:  # noqa: ARG002
        """Return None, because nobody else can read the files of this store."""
        return None

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
        """See `EvidenceStore.obtain`."""
        waiting = report_waiting(progress, _WAITING)
        found = self.cached(key) or self._find(key, waiting)
        if found is None:
            with self._staging.turn(key, waiting):
                found = self.cached(key) or self._find(key, waiting)
                if found is None:
                    return self._made(key, make, waiting, readers)
        narrow(found.path, readers)
        return found

    def is_intact(self, digest: Digest) -> bool | None:
        """See `EvidenceStore.is_intact`."""
        return None if self._objects.status(digest) is None else self._objects.is_intact(digest)

    def stats(self) -> StoreStats:
        """See `EvidenceStore.stats`. The objects are counted on the disk."""
        objects, size, linked = 0, 0, 0
        for each in self._objects:
            objects += 1
            size += each.size
            linked += each.size if each.linked else 0
        return StoreStats(objects=objects, size=size, limit=self._limit, linked=linked)

    def verify(self) -> StoreCheck:
        """See `EvidenceStore.verify`. Also forget missing objects, and clean up after killed processes."""
        checked, healed = 0, []
        for each in self._objects:
            checked += 1
            if not self._objects.is_intact(each.digest) and os.path.lexists(self._objects.path(each.digest)):
                self._eviction.remove(each.digest)
                healed.append(each.digest.hex)
        leftovers = self._staging.clean()
        self._eviction.count()
        return StoreCheck(checked=checked, healed=healed, leftovers=leftovers)

    def prune(self, limit: int | None = None) -> int:
        """See `EvidenceStore.prune`."""
        self._staging.clean()
        self._eviction.count()
        return _freed(self._eviction.drop(self._total(), self._limit if limit is None else limit, None))

    def clear(self) -> int:
        """See `EvidenceStore.clear`."""
        self._staging.clean()
        freed = _freed(gone for each in self._objects if (gone := self._eviction.remove(each.digest)) is not None)
        self._eviction.count()
        return freed

    def _look_again(self, key: EvidenceKey, record: EvidenceRecord, waiting: Waiting) -> StoredEvidence | None:
        """Verify an object whose file state has changed. If its bytes are not correct, remove it and return None."""
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
        with self._staging.folder(key) as folder:
            made = folder / "evidence"
            extraction = made_by(make, made)
            digest, size = digest_of(made)
            total = self._index.expect(digest, size, self._uses.now())
            self._uses.note(digest)  # recorded before the object exists, or before it is found
            with self._objects.turn(digest, waiting), writing(self._objects.path(digest)):
                status = self._objects.take_in(made, digest, readers)
        record = EvidenceRecord.of(digest, status, extraction, self._clock.now(), time.time())
        self._index.remember(key, record, self._uses.now())
        if total is None:
            self._eviction.count()  # the index is new and has no total yet
            total = self._total()
        if total > self._limit:
            self._eviction.drop(total, self._limit, digest, kept=int(self._limit * KEPT_SHARE))
        return record.stored(key, self._objects.path(digest), made_now=True)

    def _total(self) -> int:
        total = self._index.total()
        return self.stats().size if total is None else total


def _freed(dropped: Iterable[StoredObject]) -> int:
    """Return the number of bytes that were freed, without objects that have another hard link."""
    return sum(each.size for each in dropped if not each.linked)


@frozen
class HotEvidence:
    """A cached record of one piece of evidence."""

    stored: StoredEvidence
    record: EvidenceRecord
    _path: str = field(init=False)

    @_path.default
    def _path_of(self) -> str:
        return str(self.stored.path)

    def is_current(self) -> bool:
        """Return whether the object's file is certainly unchanged since its bytes were last verified.

        It is False if a change could have gone unnoticed; see `EvidenceRecord.matches`."""
        try:
            status = os.lstat(self._path)
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and self.record.matches(status)


class HotEvidences:
    """The `REMEMBERED` most recently used records, by evidence key."""

    def __init__(self) -> None:
        self._hot: OrderedDict[str, HotEvidence] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: EvidenceKey) -> HotEvidence | None:
        """Return the cached record, which may be out of date, or None."""
        name = key.digest.hex
        hot = self._hot.get(name)
        if hot is not None:
            with self._lock:
                if name in self._hot:
                    self._hot.move_to_end(name)
        return hot

    def keep(self, stored: StoredEvidence, record: EvidenceRecord) -> None:
        """Cache a record."""
        with self._lock:
            self._hot[stored.key.digest.hex] = HotEvidence(stored, record)
            self._hot.move_to_end(stored.key.digest.hex)
            while len(self._hot) > REMEMBERED:
                self._hot.popitem(last=False)
