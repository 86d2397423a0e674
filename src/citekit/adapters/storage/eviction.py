"""Which objects go when there is not room for all, and bringing the index in line with what lies on the disk."""

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
    """Drops the least recently used objects.

    The index gives them in the order of the uses that it knows, which may be older than the real ones: an object that turns
    out to be used later is put back in its place, once for all its uses. So what a new object costs does not grow with
    their number, and no more than `BATCH` of them are in memory.
    """

    objects: Objects
    index: EvidenceIndex
    uses: Uses
    grace: float

    def drop(self, total: int, limit: int, protected: Digest | None, kept: int | None = None) -> list[StoredObject]:
        """Drop objects, but never `protected`, until of `total` bytes at most `limit` remain. Raises `HomeUnwritable`.

        Goes on to `kept` bytes, where that is less, with those that it has looked at anyway.
        """
        dropped = list[StoredObject]()
        batches = self._indexed() if self.index.total() is not None else self._unindexed()
        while total > limit and (batch := next(batches, None)) is not None:
            total -= self._drop_from(batch, total - (limit if kept is None else kept), protected, dropped)
        return dropped

    def _indexed(self) -> Iterator[list[Known]]:
        last: Known | None = None
        while batch := self.index.oldest(last):
            last = batch[-1]
            yield batch

    def _unindexed(self) -> Iterator[list[Known]]:
        """All at once, in the order of the disk: nobody keeps another."""
        yield [Known(each.digest, each.touched, each.size) for each in self.objects]

    def _drop_from(self, batch: list[Known], excess: int, protected: Digest | None, dropped: list[StoredObject]) -> int:
        """Drop those whose turn comes before that of every object after the batch; by how many bytes the total shrinks."""
        horizon = batch[-1].used if len(batch) == BATCH else math.inf  # fewer, or more, are the last
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
        """When the object was asked for (by the index, and the file of uses), and made or linked; none if it is gone."""
        status = self.objects.status(known.digest)
        if status is None:
            return ()
        return known.used, self.uses.last(known.digest), StoredObject.of(known.digest, status).touched

    def _is_in_use(self, times: tuple[float, ...]) -> bool:
        """Whether somebody was given the object so lately that they may not have laid it out yet.

        Each time counts: of two, the later one may have been noted before the clock was set back.
        """
        now = self.uses.now()
        return any(abs(now - time) < self.grace for time in times)

    def _let_go(self, digest: Digest, dropped: list[StoredObject]) -> bool:
        """Remove the object, unless somebody has asked for it since it was judged; whether it is gone.

        A reader records its use and then looks at the file. This method changes how the file looks and then checks the uses.
        So either this method sees the use, or the reader sees a changed file and takes the lock to read it.
        """
        with self.objects.turn(digest):
            self.objects.touch(digest)
            if self.objects.status(digest) is not None and self._is_in_use((self.uses.last(digest),)):
                return False
            dropped += [object for object in [self.remove(digest)] if object is not None]
            return True

    def remove(self, digest: Digest) -> StoredObject | None:
        """Remove an object from the disk; what it was. Raises `HomeUnwritable`."""
        with writing(self.objects.path(digest)):
            return self.objects.drop(digest)

    def count(self) -> None:
        """Bring the index in line with the disk, folder by folder."""
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
