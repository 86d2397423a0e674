"""Removes from an object store the maps that no reader can reach anymore."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from attrs import frozen

from citekit.adapters.storage.map_files import SIZE_LIMIT, parsed
from citekit.adapters.storage.shared_map_keys import MAPPED, MAPS, PATHS, hinted_ids, numbered
from citekit.domain.errors import MapCorrupt
from citekit.domain.map_card import MapCard
from citekit.domain.object_key import ListedObject, ObjectKey
from citekit.domain.ports.object_store import ObjectStore


@frozen
class SharedMapCollection:
    """Removes unreachable maps from `objects` (garbage collection).

    These are the maps of removed resources with their hints, and maps that were replaced by one of the same mapper and
    bytes. The empty objects of removed maps are kept, so that no number is used twice.
    """

    objects: ObjectStore

    def collect(self, grace: timedelta) -> int:
        """Remove objects that no reader has been able to reach for `grace`. Return the number of removed objects.

        `grace` must exceed `BASE_SECONDS` of the map store, so that no other machine is about to replace a map that it
        read before. A collection can be interrupted.
        """
        limit = self._time_of_store() - grace
        removed, dead = 0, set()
        for name, versions in numbered(self.objects, MAPS):
            newest = versions[max(versions)] if versions else None
            if newest is not None and not newest.size and newest.stored < limit:
                dead.add(name)
            for number in self._unreachable(name, versions, limit):
                self.objects.remove(versions[number].key)
                removed += 1
        for area in (MAPPED, PATHS) if dead else ():
            for name, each in hinted_ids(self.objects, area):
                if name in dead and each.stored < limit:
                    self.objects.remove(each.key)
                    removed += 1
        return removed

    def _unreachable(self, name: str, versions: Mapping[int, ListedObject], limit: datetime) -> Iterator[int]:
        """Yield the numbers of the maps that can be removed, oldest first."""
        removals = [number for number, each in versions.items() if not each.size]
        gone = max((number for number in removals if versions[number].stored < limit), default=0)
        ordered = sorted(set(versions) - set(removals))
        yield from (number for number in ordered if number < gone)
        live = [number for number in ordered if number > max(removals, default=0)]
        for number, after in pairwise(live):
            if versions[after].stored < limit:
                old, new = self._card(name, versions[number].key), self._card(name, versions[after].key)
                if old and new and (old.source_hash, old.mapper) == (new.source_hash, new.mapper):
                    yield number

    def _card(self, name: str, key: ObjectKey) -> MapCard | None:
        data = self.objects.read(key, 0, SIZE_LIMIT + 1)
        with suppress(MapCorrupt):
            return None if data is None else parsed(name, Path(key.text), data).card()
        return None

    def _time_of_store(self) -> datetime:
        """Return the time by the clock of the object store."""
        key = ObjectKey(f"clock/{secrets.token_hex(8)}")
        self.objects.put(key, b"")
        try:
            return max(each.stored for each in self.objects.listing("clock") if each.key == key)
        finally:
            self.objects.remove(key)
