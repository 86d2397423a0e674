"""Evicts objects when the store is over its limit, and rebuilds the index from the objects on disk."""

from __future__ import annotations

import math
from collections.abc import Iterator

from attrs import frozen

from citekit.adapters.storage.access_times import Uses
from citekit.adapters.storage.evidence_index import BATCH, EvidenceIndex, Known
from citekit.adapters.storage.objects import FIRST, Objects, StoredObject
from citekit.adapters.system.files import writing
from citekit.domain.digest import Digest


@frozen
class Eviction:
    """Evicts the least recently used objects.

    The index returns objects in the order of the access times that it knows. An object with a later access is moved to
    its correct position, once for all its accesses, so the cost of adding an object does not grow with the size of the
    store. An object is in use for `grace` seconds after its last access.
    """

    objects: Objects
    index: EvidenceIndex
    uses: Uses
    grace: float

    def drop(self, total: int, limit: int, protected: Digest | None, kept: int | None = None) -> list[StoredObject]:
        """Evict objects until the total size is at most `limit` bytes, and return them.

        Objects in use and `protected` stay, so more may remain. `total` is the size before. If `kept` is given,
        continue within the current batch of objects until at most `kept` bytes remain. Raise `HomeUnwritable` if an
        object cannot be removed.
        """
        dropped = list[StoredObject]()
        batches = self._indexed() if self.index.total() is not None else self._unindexed()
        while total > limit and (batch := next(batches, None)) is not None:
            total -= self._drop_from(*batch, total - (limit if kept is None else kept), protected, dropped)
        return dropped

    def _indexed(self) -> Iterator[tuple[list[Known], float]]:
        """Yield batches, each with the time after which its objects belong to a later batch."""
        last: Known | None = None
        while batch := self.index.oldest(last):
            last = batch[-1]
            yield batch, last.used if len(batch) == BATCH else math.inf

    def _unindexed(self) -> Iterator[tuple[list[Known], float]]:
        """Yield all objects on disk as one batch, because the index cannot record them."""
        yield [Known(each.digest, each.touched, each.size) for each in self.objects], math.inf

    def _drop_from(
        self, batch: list[Known], horizon: float, excess: int, protected: Digest | None, dropped: list[StoredObject]
    ) -> int:
        """Evict objects of a batch, least recently used first, until `excess` bytes are freed. Return how many were
        freed.

        Objects that were accessed after `horizon` are not evicted.
        """
        gone, used, freed = list[Known](), dict[Digest, float](), 0
        try:
            for times, known in sorted(((self._times(each), each) for each in batch), key=_turn):
                if freed >= excess:
                    break
                if times and max(times) > horizon:
                    used[known.digest] = max(times)
                elif known.digest != protected and not self._is_in_use(times) and self._let_go(known.digest, dropped):
                    gone.append(known)
                    freed += known.size
        finally:
            self.index.update(gone, used)
        return freed

    def _times(self, known: Known) -> tuple[float, ...]:
        """Return the access times in the index and in the file of access times, and the change time; empty if the
        object is gone.
        """
        status = self.objects.status(known.digest)
        if status is None:
            return ()
        return known.used, self.uses.last(known.digest), StoredObject.of(known.digest, status).touched

    def _is_in_use(self, times: tuple[float, ...]) -> bool:
        """Return whether the object was accessed so recently that the caller may still be copying it.

        Each time counts, because the clock may have been set back after the latest.
        """
        now = self.uses.now()
        return any(abs(now - time) < self.grace for time in times)

    def _let_go(self, digest: Digest, dropped: list[StoredObject]) -> bool:
        """Remove the object unless it was accessed after it was selected. Return whether it is gone.

        A reader records its access and then checks the file. This method changes the file's state and then checks the
        access times, so either this method sees the access, or the reader sees the changed file and takes the lock.
        """
        with self.objects.turn(digest):
            self.objects.touch(digest)
            if self.objects.status(digest) is not None and self._is_in_use((self.uses.last(digest),)):
                return False
            dropped += [object for object in [self.remove(digest)] if object is not None]
            return True

    def remove(self, digest: Digest) -> StoredObject | None:
        """Remove an object from the disk and return its former state; None if it was missing.

        Raise `HomeUnwritable` if it cannot be removed.
        """
        with writing(self.objects.path(digest)):
            return self.objects.drop(digest)

    def count(self) -> None:
        """Rebuild the index from the objects on disk, folder by folder."""
        for first in FIRST:
            there = {each.digest: each for each in self.objects.beginning(first)}
            known = self.index.between(Digest(first + "0" * 62), Digest(first + "f" * 62))
            right = {each.digest for each in known if each.digest in there and there[each.digest].size == each.size}
            missing = [each for each in known if each.digest not in right]
            for part in _parts(missing):
                self.index.update(part, {})
            unknown = [
                Known(each.digest, each.touched, each.size) for each in there.values() if each.digest not in right
            ]
            for part in _parts(unknown):
                self.index.learn(part)
        self.index.count()


def _turn(judged: tuple[tuple[float, ...], Known]) -> tuple[float, Digest]:
    return max(judged[0], default=-math.inf), judged[1].digest


def _parts(rows: list[Known]) -> Iterator[list[Known]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
