"""In-memory stores, for experiments and for tests of use cases."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import evolve

from citekit.adapters.system.clock import SystemClock
from citekit.adapters.system.file_locks import NAP
from citekit.adapters.system.permissions import EVERYBODY, OWNER, narrow, readers_at
from citekit.domain.digest import Digest
from citekit.domain.errors import ExtractionFailed, ResourceMissing
from citekit.domain.evidence import EvidenceKey, StoredEvidence
from citekit.domain.ids import check_resource_id
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.evidence_store import Make, StoreCheck, StoreStats
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.suggestions import nearest_names


class InMemoryMapStore:
    """A `MapStore` in a dictionary."""

    def __init__(self) -> None:
        self._maps: dict[str, ResourceMap] = {}
        self._new_ids: dict[str, str] = {}
        self._kept: dict[str, list[ResourceMap]] = {}
        self._earlier: dict[str, list[Digest]] = {}
        self._versions: dict[str, int] = {}
        self._puts = 0

    def ids(self) -> Sequence[str]:
        """Return every stored resource ID, sorted."""
        return sorted(self._maps)

    def get(self, resource_id: str, version: str | None = None) -> ResourceMap:
        """Return the map."""
        return self._found(resource_id)

    def cached(self, resource_id: str) -> ResourceMap | None:
        """Return the map, or None if there is none."""
        return self._maps.get(resource_id)

    def cached_ids(self) -> Sequence[str] | None:
        """Return None, because the IDs are collected on each call."""
        return None

    def card(self, resource_id: str) -> MapCard:
        """Return the card of the map."""
        return self._found(resource_id).card()

    def cards(self, resource_ids: Iterable[str] | None = None) -> Sequence[MapCard]:
        """Return the cards of these or of all maps."""
        wanted = self._maps if resource_ids is None else set(resource_ids)
        return [found.card() for name, found in sorted(self._maps.items()) if name in wanted]

    def versions(self) -> Mapping[str, str]:
        """Return the version of each stored resource ID: the sequence number of its last `put`."""
        return {name: str(self._versions[name]) for name in self.ids()}

    def version(self, resource_id: str) -> str | None:
        """Return the sequence number of the `put` that stored the map."""
        return str(self._versions[resource_id]) if resource_id in self._maps else None

    def state(self) -> str | None:
        """Return None: there is no folder whose state could be compared."""
        return None

    def put(self, resource_map: ResourceMap) -> None:
        """Store or replace the map. A replaced map by another mapper is retained as an edition."""
        name = check_resource_id(resource_map.resource_id)
        self._puts += 1
        self._versions[name] = self._puts
        replaced = [self._maps[name]] if name in self._maps else []
        self._kept[name] = [
            *replaced,
            *(each for each in self._kept.get(name, ()) if each.mapper != resource_map.mapper),
        ]
        earlier = self._earlier.setdefault(name, [])
        for each in replaced:
            digest = each.source_digest
            if digest is not None and digest != resource_map.source_digest and digest not in earlier:
                earlier.append(digest)
        self._maps[name] = resource_map

    def remove(self, resource_id: str) -> None:
        """Remove the map."""
        if self._maps.pop(check_resource_id(resource_id), None) is None:
            raise self._missing(resource_id)
        self._kept.pop(resource_id, None)
        self._earlier.pop(resource_id, None)

    def edition(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """Return the map of the resource that `mapper` made."""
        known = self.editions(resource_id) if resource_id in self._maps else ()
        return next((each for each in known if each.mapper == mapper), None)

    def editions(self, resource_id: str) -> Sequence[ResourceMap]:
        """Return the current map, followed by the other editions."""
        current = self.get(resource_id)
        kept = self._kept.get(resource_id, ())
        same = (each for each in kept if each.source_digest == current.source_digest and each.mapper != current.mapper)
        return [current, *same]

    def earlier_sources(self, resource_id: str) -> Sequence[Digest]:
        """Return the source digests of replaced maps."""
        return tuple(self._earlier.get(check_resource_id(resource_id), ()))

    def find_mapped(self, source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
        """Return a stored map of those bytes by that mapper, or None."""
        maps = (each for name in list(self._maps) for each in self.editions(name))
        return next((each for each in maps if (each.source_digest, each.mapper) == (source, mapper)), None)

    def find_source(self, source_path: str) -> Sequence[str]:
        """Return the resource IDs of the maps of the file at that path, sorted."""
        return [name for name, found in sorted(self._maps.items()) if found.source_path == source_path]

    def expected_at(self, resource_id: str) -> str:
        """Return a description of where the map is stored."""
        return f"memory/{resource_id}.json"

    def _found(self, resource_id: str) -> ResourceMap:
        try:
            return self._maps[check_resource_id(resource_id)]
        except KeyError:
            raise self._missing(resource_id) from None

    def _missing(self, resource_id: str) -> ResourceMissing:
        return ResourceMissing(resource_id, self.expected_at(resource_id), lambda: self._renamed(resource_id))

    def _renamed(self, resource_id: str) -> Sequence[str]:
        new = self._new_ids.get(resource_id)
        return [new] if new in self._maps else nearest_names(resource_id, self.ids())

    def note_renamed(self, old_id: str, new_id: str) -> None:
        """Remember the new ID for errors about the old one."""
        self._new_ids[old_id] = new_id


class InMemoryEvidenceStore:
    """An `EvidenceStore` with an in-memory index and objects in a folder of its own."""

    def __init__(self, limit: int = 10**9, folder: Path | None = None, clock: Clock | None = None) -> None:
        """`limit` is in bytes. Without `folder`, a temporary folder is created and removed with the store."""
        self._clock = clock or SystemClock()
        self._owned = tempfile.TemporaryDirectory(prefix="citekit-") if folder is None else None
        self._folder = Path(self._owned.name) if self._owned is not None else folder or Path()
        self._limit = limit
        self._stored: OrderedDict[EvidenceKey, StoredEvidence] = OrderedDict()
        self._table = threading.RLock()
        self._making: dict[EvidenceKey, threading.Lock] = {}

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """Return the evidence, verified on each call."""
        with self._table:
            found = self._stored.get(key)
            if found is None or not _is_intact(found):
                self._forget(key)
                return None
            self._stored.move_to_end(key)
            return found

    def read(self, key: EvidenceKey, start: int, length: int) -> bytes | None:
        """See `EvidenceStore.read`."""
        found = self.find(key)
        return None if found is None else found.path.read_bytes()[start : start + length]

    def link(self, digest: Digest, seconds: int) -> str | None:
        """Return None, because nobody else can read the files of this store."""
        return None

    def cached(self, key: EvidenceKey) -> StoredEvidence | None:
        """Return None, because only the bytes show whether the evidence is intact."""
        return None

    def obtain(
        self, key: EvidenceKey, make: Make, progress: Progress = silent, *, readers: int = EVERYBODY
    ) -> StoredEvidence:
        """Return the evidence, and make it if it is missing."""
        with self._table:
            lock = self._making.setdefault(key, threading.Lock())
        while not lock.acquire(timeout=NAP):
            progress(0.0, None, "waiting for another caller that is creating the same evidence")
        try:
            found = self.find(key) or self._made(key, make, readers)
            narrow(found.path, readers)
            return found
        finally:
            lock.release()

    def is_intact(self, digest: Digest) -> bool | None:
        """Return whether the file with that digest still has the matching bytes."""
        with self._table:
            path = next((each.path for each in self._stored.values() if each.digest == digest), None)
        try:
            return None if path is None else Digest.of_bytes(path.read_bytes()) == digest
        except FileNotFoundError:
            return None

    def stats(self) -> StoreStats:
        """Return the number and total size of the objects; an object with several keys counts once."""
        with self._table:
            found = {stored.digest: stored for stored in self._stored.values()}.values()
        linked = sum(stored.size for stored in found if _is_linked(stored))
        return StoreStats(
            objects=len(found), size=sum(stored.size for stored in found), limit=self._limit, linked=linked
        )

    def verify(self) -> StoreCheck:
        """Verify every object, and remove damaged ones."""
        with self._table:
            found = {stored.digest: (key, stored) for key, stored in self._stored.items()}
            damaged = [key for key, stored in found.values() if not _is_intact(stored)]
            healed = [self._stored[key].digest.hex for key in damaged]
            for key in damaged:
                self._forget(key)
        return StoreCheck(checked=len(found), healed=healed, leftovers=0)

    def prune(self, limit: int | None = None) -> int:
        """Evict the least recently used objects until at most `limit` bytes remain. Return what was freed."""
        with self._table:
            freed = 0
            while self._stored and self.stats().size > (self._limit if limit is None else limit):
                freed += self._forget(next(iter(self._stored)))
            return freed

    def clear(self) -> int:
        """Remove all objects. Return what was freed."""
        return self.prune(-1)

    def _made(self, key: EvidenceKey, make: Make, readers: int) -> StoredEvidence:
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            made = Path(folder, "evidence")
            extraction = make(made)
            if not made.is_file():
                raise ExtractionFailed("The extractor created no file. Please report this bug.")
            data = made.read_bytes()
            path = self._folder / Digest.of_bytes(data).hex
            before = readers_at(path)
            made.chmod(made.stat().st_mode & readers & (EVERYBODY if before is None else before) | OWNER)
            stored = StoredEvidence(
                key=key,
                path=path,
                digest=Digest.of_bytes(data),
                size=len(data),
                extraction=extraction,
                created=self._clock.now(),
                made_now=True,
            )
            with self._table:
                shutil.move(made, path)
                self._stored[key] = evolve(stored, made_now=False)
                self._make_room(key)
        return stored

    def _make_room(self, newest: EvidenceKey) -> None:
        for key in list(self._stored):
            if self.stats().size <= self._limit:
                return
            if self._stored[key].digest != self._stored[newest].digest:
                self._forget(key)

    def _forget(self, key: EvidenceKey) -> int:
        """Forget the key, and remove its object if no other key refers to it. Return how many bytes were freed."""
        gone = self._stored.pop(key, None)
        if gone is None or any(stored.digest == gone.digest for stored in self._stored.values()):
            return 0
        freed = 0 if _is_linked(gone) else gone.size
        with suppress(OSError):
            gone.path.unlink()
        return freed


def _is_linked(stored: StoredEvidence) -> bool:
    with suppress(OSError):
        return stored.path.stat().st_nlink > 1
    return False


def _is_intact(stored: StoredEvidence) -> bool:
    try:
        with stored.path.open("rb") as file:
            return Digest.of_stream(file) == stored.digest
    except OSError:
        return False
