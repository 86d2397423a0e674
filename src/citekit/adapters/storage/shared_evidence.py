"""An evidence store that shares evidence with other machines through an object store.

The bytes of evidence are the object `objects/DIGEST`, and `evidence/KEY` records the digest and the extraction. The
local store, which has the size limit, keeps fetched evidence.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path

from attrs import evolve, frozen

from citekit.adapters.system.files import writing
from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence
from citekit.domain.object_key import ObjectKey
from citekit.domain.ports.evidence_store import EvidenceStore, Make, StoreCheck, StoreStats
from citekit.domain.ports.object_store import ObjectStore
from citekit.domain.progress import Progress, silent
from citekit.wire import receipts

BLOCK = 8 << 20
"""The maximum number of bytes that one request fetches."""


class _NotSharedError(Exception):
    """No machine has shared the evidence, or what is shared is damaged."""


@frozen
class SharedEvidenceStore:
    """An `EvidenceStore` with a local store and the objects of other machines."""

    local: EvidenceStore
    objects: ObjectStore

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """See `EvidenceStore.find`. Evidence that the local store lacks is fetched if a machine has shared it."""
        found = self.local.find(key)
        if found is not None:
            return found
        try:
            return evolve(self.local.obtain(key, partial(self._fetch, key)), made_now=False)
        except _NotSharedError:
            return None

    def cached(self, key: EvidenceKey) -> StoredEvidence | None:
        """See `EvidenceStore.cached`. Only the local store is asked."""
        return self.local.cached(key)

    def read(self, key: EvidenceKey, start: int, length: int) -> bytes | None:
        """See `EvidenceStore.read`."""
        return None if self.find(key) is None else self.local.read(key, start, length)

    def link(self, digest: Digest, seconds: int) -> str | None:
        """See `EvidenceStore.link`. The evidence is not fetched."""
        return self.objects.link(_object_key(digest), seconds)

    def obtain(
        self, key: EvidenceKey, make: Make, progress: Progress = silent, *, readers: int = 0o444
    ) -> StoredEvidence:
        """See `EvidenceStore.obtain`. Evidence that is neither in the local store nor shared is extracted and shared."""
        fetched: list[bool] = []
        found = self.local.obtain(key, partial(self._fetch_or_make, key, make, fetched), progress, readers=readers)
        return evolve(found, made_now=False) if any(fetched) else found

    def is_intact(self, digest: Digest) -> bool | None:
        """See `EvidenceStore.is_intact`. Only the local store is checked."""
        return self.local.is_intact(digest)

    def stats(self) -> StoreStats:
        """See `EvidenceStore.stats`. Only the local store counts."""
        return self.local.stats()

    def verify(self) -> StoreCheck:
        """See `EvidenceStore.verify`. Only the local store is checked."""
        return self.local.verify()

    def prune(self, limit: int | None = None) -> int:
        """See `EvidenceStore.prune`. Shared objects are kept."""
        return self.local.prune(limit)

    def clear(self) -> int:
        """See `EvidenceStore.clear`. Shared objects are kept."""
        return self.local.clear()

    def _fetch_or_make(self, key: EvidenceKey, make: Make, fetched: list[bool], target: Path) -> Extraction:
        try:
            found = self._fetch(key, target)
        except _NotSharedError:
            target.unlink(missing_ok=True)
            return self._share(key, make(target), target)
        fetched.append(True)
        return found

    def _share(self, key: EvidenceKey, extraction: Extraction, made: Path) -> Extraction:
        if not made.exists():
            return extraction  # the local store refuses it
        with made.open("rb", buffering=0) as file:
            digest = Digest(hashlib.file_digest(file, "sha256").hexdigest())
        self.objects.put_file(_object_key(digest), made, extraction.media_type)
        record = {"digest": digest.hex, "extraction": receipts.extraction_to_plain(extraction)}
        self.objects.put(_record_key(key), json.dumps(record).encode())
        return extraction

    def _fetch(self, key: EvidenceKey, target: Path) -> Extraction:
        """Write the shared evidence to `target`. Raise `_NotSharedError` if there is none, or if it is damaged and was
        removed.
        """
        digest, extraction = self._record(key)
        place = _object_key(digest)
        size = self.objects.size(place)
        if size is None:
            raise _NotSharedError
        seen = hashlib.sha256()
        with writing(target), target.open("wb") as file:
            for at in range(0, size, BLOCK):
                block = self.objects.read(place, at, BLOCK) or b""
                seen.update(block)
                file.write(block)
        if seen.hexdigest() != digest.hex:
            self.objects.remove(place)
            raise _NotSharedError
        return extraction

    def _record(self, key: EvidenceKey) -> tuple[Digest, Extraction]:
        data = self.objects.read(_record_key(key))
        if data is None:
            raise _NotSharedError
        try:
            plain = json.loads(data)
            return Digest(plain["digest"]), receipts.extraction_from_plain(plain["extraction"])
        except (ValueError, KeyError, TypeError, RecursionError, FaultyAnswer) as error:
            self.objects.remove(_record_key(key))
            raise _NotSharedError from error


def _object_key(digest: Digest) -> ObjectKey:
    return ObjectKey.of_content("objects", digest)


def _record_key(key: EvidenceKey) -> ObjectKey:
    return ObjectKey.of_content("evidence", key.digest)
