"""Evidence as files named by their content, found by key through an index that may be lost."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from citekit.adapters.drivers.diskcache import Index
from citekit.adapters.drivers.filelock import Locks
from citekit.adapters.drivers.files import unwritable, writing
from citekit.adapters.storage.evidence_record import EvidenceRecord
from citekit.adapters.storage.objects import Objects
from citekit.domain.digest import Digest
from citekit.domain.errors import ExtractionFailed
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence
from citekit.domain.ports.evidence_store import Make, StoreCheck, StoreStats

DEFAULT_LIMIT = 10 * 10**9
"""Bytes that the objects may take together."""

KEPT_SHARE = 0.9
"""After the limit was passed, so much of it stays: making room is not repeated for every object."""

SLOT_DIGITS = 3
"""Hexadecimal digits of a key that choose its lock: at most 4096 lock files."""

_TOTAL = "evidence-size"


class FileEvidenceStore:
    """An `EvidenceStore` in a folder: `objects/ab/cdef...`, `locks/`, and `making/` for what is not finished.

    Of those who want the same key at once one holds the key's lock and makes it in a folder of its own below `making/`;
    whoever holds that lock later knows that anything left there belongs to a killed process. The time of an object's
    last use is its file's time of access. `make` must not ask the store for other evidence.
    """

    def __init__(self, folder: Path, index: Index, limit: int = DEFAULT_LIMIT) -> None:
        """`folder` is made at the first `obtain`; `limit` is in bytes."""
        self._objects = Objects(folder / "objects")
        self._making = folder / "making"
        self._locks = Locks(folder / "locks")
        self._index = index
        self._limit = limit

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """The evidence; its bytes are read again only where its file does not look as it did."""
        record = EvidenceRecord.from_plain(self._index.get(_key_row(key)))
        if record is None:
            return None
        status = self._objects.status(record.digest)
        if status is None:
            return None
        if not record.matches(status):
            return self._look_again(key, record)
        self._objects.touch(record.digest, status)
        return record.stored(key, self._objects.path(record.digest), made_now=False)

    def obtain(self, key: EvidenceKey, make: Make) -> StoredEvidence:
        """The evidence, made where it is missing. Raises, besides what `make` raises, `HomeUnwritable`."""
        found = self.find(key)
        if found is not None:
            return found
        with self._locks.hold(_slot(key)):
            found = self.find(key)
            return found if found is not None else self._made(key, make)

    def find_by_digest(self, digest: Digest) -> StoredEvidence | None:
        """Evidence whose bytes have that digest; one of the keys, where several mean the same bytes."""
        row = self._index.get(_digest_row(digest))
        try:
            key = EvidenceKey(Digest(str(row["key"]))) if row else None
        except (KeyError, ValueError):
            return None
        found = self.find(key) if key is not None else None
        return found if found is not None and found.digest == digest else None

    def stats(self) -> StoreStats:
        """How full the store is, counted on the disk."""
        sizes = [each.size for each in self._objects]
        return StoreStats(objects=len(sizes), size=sum(sizes), limit=self._limit)

    def verify(self) -> StoreCheck:
        """Read every object, drop the damaged, forget what is gone, clean up after killed processes."""
        checked, healed = 0, []
        for each in self._objects:
            checked += 1
            if not self._objects.is_intact(each.digest) and each.path.is_symlink() | each.path.exists():
                self._drop(each.digest)
                healed.append(each.digest.hex)
        leftovers = self._clean()
        self._forget_missing()
        self._index.reset(_TOTAL, self.stats().size)
        return StoreCheck(checked=checked, healed=healed, leftovers=leftovers)

    def prune(self, limit: int | None = None) -> int:
        """Drop the least recently used until `limit` bytes remain. Raises `HomeUnwritable`."""
        self._clean()
        return self._shrink(self._limit if limit is None else limit, None)

    def clear(self) -> int:
        """Drop everything. Raises `HomeUnwritable`."""
        gone = self.prune(0)
        gone += sum(self._drop(each.digest) for each in list(self._objects))
        self._forget_missing()
        self._index.reset(_TOTAL, self.stats().size)
        return gone

    def _look_again(self, key: EvidenceKey, record: EvidenceRecord) -> StoredEvidence | None:
        """Keep an object whose file looks different but whose bytes are right, drop any other."""
        if not self._objects.is_intact(record.digest):
            with suppress(OSError):
                self._index.add(_TOTAL, -self._objects.drop(record.digest))
            return None
        status = self._objects.status(record.digest)
        if status is None:
            return None
        record = record.seen(status)
        self._index.put(_key_row(key), record.to_plain())
        return record.stored(key, self._objects.path(record.digest), made_now=False)

    def _made(self, key: EvidenceKey, make: Make) -> StoredEvidence:
        with self._workshop(_slot(key)) as folder:
            made = folder / "evidence"
            extraction = _make(make, made)
            digest, size = _digest_of(made)
            with writing(self._objects.path(digest)):
                record = self._take_in(made, digest, size, extraction)
        self._index.put(_key_row(key), record.to_plain())
        self._index.put(_digest_row(digest), {"key": str(key)})
        return record.stored(key, self._objects.path(digest), made_now=True)

    def _take_in(self, made: Path, digest: Digest, size: int, extraction: Extraction) -> EvidenceRecord:
        new = self._objects.status(digest) is None
        total = self._index.add(_TOTAL, size if new else 0)
        status = self._objects.take_in(made, digest)
        if (self.stats().size if total is None else total) > self._limit:
            self._shrink(int(self._limit * KEPT_SHARE), digest)
        return EvidenceRecord.of(digest, status, extraction)

    @contextmanager
    def _workshop(self, slot: str) -> Iterator[Path]:
        """A folder for what is being made under the lock `slot`, gone afterwards."""
        folder = self._making / f"{slot}-{secrets.token_hex(4)}"
        with writing(folder):
            self._sweep(slot)
            folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _sweep(self, slot: str) -> int:
        """Remove what killed processes left under the lock `slot`, which we hold."""
        left = [each for each in _names(self._making) if each.startswith(f"{slot}-")]
        for name in left:
            shutil.rmtree(self._making / name, ignore_errors=True)
        return len(left)

    def _clean(self) -> int:
        cleaned = 0
        for slot in {name.partition("-")[0] for name in _names(self._making)}:
            with self._locks.hold_if_free(slot) as free:
                cleaned += self._sweep(slot) if free else 0
        return cleaned

    def _shrink(self, limit: int, protected: Digest | None) -> int:
        """Drop the least recently used, but never `protected`, and set the counter to what is really there."""
        objects = sorted(self._objects, key=lambda each: (each.used, each.digest))
        total = sum(each.size for each in objects)
        gone = 0
        for each in objects:
            if total - gone <= limit:
                break
            if each.digest != protected:
                gone += self._drop(each.digest)
        self._index.reset(_TOTAL, total - gone)
        return gone

    def _drop(self, digest: Digest) -> int:
        with writing(self._objects.path(digest)):
            size = self._objects.drop(digest)
        row = self._index.get(_digest_row(digest))
        if row is not None:
            self._index.forget(_digest_row(digest))
            self._index.forget(f"evidence:{row.get('key')}")
        return size

    def _forget_missing(self) -> None:
        for row in self._index.keys("evidence:"):
            record = EvidenceRecord.from_plain(self._index.get(row))
            if record is None or self._objects.status(record.digest) is None:
                self._index.forget(row)


def _make(make: Make, target: Path) -> Extraction:
    """What `make` says; a full disk on its way is said as such, whoever noticed it."""
    try:
        return make(target)
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not _is_full(cause):
            cause = cause.__cause__
        if isinstance(cause, OSError):
            raise unwritable(cause, target) from error
        raise


def _is_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def _digest_of(made: Path) -> tuple[Digest, int]:
    try:
        if not stat.S_ISREG(os.lstat(made).st_mode):
            raise ExtractionFailed("The extractor made something that is not a file.")
        with made.open("rb") as file:
            return Digest.of_stream(file), os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise ExtractionFailed("The extractor wrote nothing.") from None
    except OSError as error:
        raise unwritable(error, made) from error


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []


def _slot(key: EvidenceKey) -> str:
    return key.digest.hex[:SLOT_DIGITS]


def _key_row(key: EvidenceKey) -> str:
    return f"evidence:{key}"


def _digest_row(digest: Digest) -> str:
    return f"object:{digest}"
