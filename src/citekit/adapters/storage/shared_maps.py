"""A map store in an object store, which several machines share.

Each stored map is one object, and the highest number is the current one. A removed map is an empty object with the next
number. Writing a number only if it is absent is the only coordination.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock

from attrs import evolve

from citekit.adapters.storage.hinted_maps import ids_of, map_of
from citekit.adapters.storage.map_cards import MapCards, RememberedCard
from citekit.adapters.storage.map_files import SIZE_LIMIT, parsed, written
from citekit.adapters.storage.shared_map_keys import (
    MAPS,
    RENAMED,
    hinted_ids,
    id_segments,
    map_key,
    mapped_folder,
    numbered,
    path_folder,
    renamed_key,
)
from citekit.domain.digest import Digest
from citekit.domain.errors import MapCorrupt, RequestRefused, ResourceIdRefused, ResourceMissing, StoreUnavailable
from citekit.domain.ids import check_resource_id
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.object_key import ObjectKey
from citekit.domain.ports.object_store import ObjectStore
from citekit.domain.resource_map import ResourceMap
from citekit.domain.suggestions import nearest_names

CATALOG = ObjectKey("catalog")
"""The object with the name of the store's catalog in a database (see `cataloged_maps`)."""

HOT_LIMIT = 16 * 1024 * 1024
"""Limit on the total size of the objects of the maps in memory, in bytes. Parsed maps take about a third more memory."""

CARDS_IN_MEMORY = 100_000
"""The maximum number of cards in memory."""

BASES_IN_MEMORY = 100_000
"""The maximum number of resources whose last number is kept in memory, which saves a listing."""

REQUESTS = 16
"""The maximum number of maps that are read at the same time when cards are listed."""

ATTEMPTS = 20
"""Maximum number of attempts to write a map while other machines write maps of the same source."""

LISTING_SECONDS = 5.0
"""Seconds for which a listing of all maps, which may lack new maps of other processes, is reused."""

BASE_SECONDS = 6 * 3600
"""Seconds after which a map number that was read is too old to be the base of a write."""


class SharedMapStore:
    """A `MapStore` in an object store.

    If another machine stores the map of another file under the same ID at the same time, `put` raises
    `StoreUnavailable`.
    """

    def __init__(self, objects: ObjectStore, name: str, cards: MapCards | None = None) -> None:
        """`name` is the address of the object store for messages. `cards` is a cache on this machine."""
        self._objects = objects
        self._name = name
        self._remembered = cards
        self._maps: OrderedDict[ObjectKey, tuple[ResourceMap, int]] = OrderedDict()
        self._size = 0
        self._cards: OrderedDict[ObjectKey, MapCard] = OrderedDict()
        self._bases: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._listed: tuple[Mapping[str, int], float] | None = None
        self._writes = 0
        self._may_write = False
        self._lock = Lock()

    def ids(self) -> Sequence[str]:
        """See `MapStore.ids`. Changes by other processes within the last `LISTING_SECONDS` may be missing."""
        return tuple(sorted(self._current()))

    def get(self, resource_id: str, version: str | None = None) -> ResourceMap:
        """See `MapStore.get`. This takes one listing request without a `version`, and another request if the map is not
        in memory.
        """
        return self._read(resource_id, self._number(resource_id) if version is None else int(version))

    def cached(self, resource_id: str) -> ResourceMap | None:  # noqa: ARG002
        """Return None, because only the object store shows whether a map is up to date."""
        return None

    def cached_ids(self) -> Sequence[str] | None:
        """Return None, because only the object store shows which IDs are stored."""
        return None

    def card(self, resource_id: str) -> MapCard:
        """See `MapStore.card`. The map is read unless its card is in memory."""
        return self._card(resource_id, self._number(resource_id))

    def cards(self, resource_ids: Iterable[str] | None = None) -> Sequence[MapCard]:
        """See `MapStore.cards`. A cached card is valid as long as its number is the current one, because objects do not
        change.
        """
        current = self._current()
        if resource_ids is not None:
            current = {name: current[name] for name in resource_ids if name in current}
        found = self._cards_on_this_machine(current)
        missing = [(name, number) for name, number in current.items() if name not in found]
        with ThreadPoolExecutor(REQUESTS) as pool:
            read = [card for card in pool.map(lambda each: self._card_or_none(*each), missing) if card is not None]
        if self._remembered is not None:
            self._remembered.remember(*(RememberedCard(card, str(current[card.resource_id])) for card in read))
        found |= {card.resource_id: card for card in read}
        return [found[name] for name in sorted(found)]

    def versions(self) -> Mapping[str, str]:
        """See `MapStore.versions`. The version of a map is the number of its object."""
        return {name: str(number) for name, number in self._current().items()}

    def version(self, resource_id: str) -> str | None:
        """See `MapStore.version`. The version of a map is the number of its object."""
        with suppress(ResourceIdRefused, ResourceMissing):
            return str(self._number(resource_id))
        return None

    def state(self) -> str | None:
        """Return None: the state of the whole store cannot be determined by one request."""
        return None

    def put(self, resource_map: ResourceMap) -> None:
        """See `MapStore.put`, and the class for conflicts with other machines."""
        name = check_resource_id(resource_map.resource_id)
        data = written(resource_map)
        self._check_writable()
        self._write_hints(resource_map)
        number = self._base(name)
        for _ in range(ATTEMPTS):
            number += 1
            if self._objects.put(map_key(name, number), data):
                self._note_written(name, number, resource_map)
                self._remember(map_key(name, number), resource_map, len(data))
                return
            after = self._after_conflict(resource_map)
            if after is None:
                self._note_written(name, number, resource_map)
                return
            number = after
        raise StoreUnavailable(f"Other machines keep storing maps with the ID '{name}'. Try again later.")

    def note_renamed(self, old_id: str, new_id: str) -> None:
        """See `MapStore.note_renamed`."""
        self._check_writable()
        number = max(self._numbers(RENAMED, old_id), default=0)
        while not self._objects.put(renamed_key(old_id, number + 1), new_id.encode()):
            number += 1

    def remove(self, resource_id: str) -> None:
        """See `MapStore.remove`. An empty object with the next number is stored."""
        self._check_writable()
        number = self._number(resource_id)
        while not self._objects.put(map_key(resource_id, number + 1), b""):
            self._notice_others(resource_id)
            number = self._number(resource_id)
        self._note_written(resource_id, number + 1, None)

    def edition(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """See `MapStore.edition`."""
        check_resource_id(resource_id)
        with suppress(ResourceMissing, MapCorrupt):
            return next((each for each in self.editions(resource_id) if each.mapper == mapper), None)
        return None

    def editions(self, resource_id: str) -> Sequence[ResourceMap]:
        """See `MapStore.editions`."""
        found: list[ResourceMap] = []
        numbers = self._live_numbers(resource_id)
        if not numbers:
            raise self._missing(resource_id)
        for number in numbers:
            with suppress(*((MapCorrupt,) if found else ())):
                each = self._read(resource_id, number)
                new = each.mapper not in [known.mapper for known in found]
                if not found or (new and each.source_digest == found[0].source_digest):
                    found.append(each)
        return found

    def earlier_sources(self, resource_id: str) -> Sequence[Digest]:
        """See `MapStore.earlier_sources`."""
        sources: list[Digest] = []
        before: Digest | None = None
        for number in reversed(self._live_numbers(check_resource_id(resource_id))):
            with suppress(MapCorrupt, ResourceMissing):
                hex_digest = self._card(resource_id, number).source_hash
                now = Digest(hex_digest) if hex_digest else None
                if before is not None and before != now and before not in sources:
                    sources.append(before)
                before = now
        return sources

    def find_mapped(self, source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
        """See `MapStore.find_mapped`."""
        return map_of(self, self._hinted(mapped_folder(source, mapper)), source, mapper)

    def find_source(self, source_path: str) -> Sequence[str]:
        """See `MapStore.find_source`. The IDs are sorted."""
        return ids_of(self, self._hinted(path_folder(source_path)), source_path)

    def expected_at(self, resource_id: str) -> str:
        """See `MapStore.expected_at`. The result is the address of the map's objects."""
        return f"{self._name}/{MAPS}/{resource_id}"

    def _current(self) -> Mapping[str, int]:
        """Return the number of the current map of each resource ID that has one.

        The result is reused for `LISTING_SECONDS`, unless this process writes.
        """
        with self._lock:
            if self._listed is not None and time.monotonic() - self._listed[1] < LISTING_SECONDS:
                return self._listed[0]
            began, writes = time.monotonic(), self._writes
        current = {}
        for name, numbers in numbered(self._objects, MAPS):
            last = max(numbers, default=0)
            if last and numbers[last].size:
                current[name] = last
        with self._lock:
            if writes == self._writes:
                self._listed = current, began
        return current

    def _numbers(self, area: str, resource_id: str) -> dict[int, int]:
        """Return the numbers of the objects of one resource ID, and their sizes."""
        found = next((numbers for _, numbers in numbered(self._objects, area, resource_id)), {})
        return {number: each.size for number, each in found.items()}

    def _live_numbers(self, resource_id: str) -> list[int]:
        """Return the numbers of the current map and of the maps that it replaced, newest first."""
        check_resource_id(resource_id)
        numbers = self._numbers(MAPS, resource_id)
        removed = max((number for number, size in numbers.items() if not size), default=0)
        self._note_base(resource_id, max(numbers, default=0))
        return sorted((number for number in numbers if number > removed), reverse=True)

    def _number(self, resource_id: str) -> int:
        numbers = self._live_numbers(resource_id)
        if not numbers:
            raise self._missing(resource_id)
        return numbers[0]

    def _read(self, resource_id: str, number: int) -> ResourceMap:
        key = map_key(resource_id, number)
        with self._lock:
            if key in self._maps:
                self._maps.move_to_end(key)
                return self._maps[key][0]
        data = self._objects.read(key, 0, SIZE_LIMIT + 1)
        if data is None:  # removed by a garbage collection since the listing
            raise self._missing(resource_id)
        found = parsed(resource_id, Path(key.text), data)
        self._remember(key, found, len(data))
        return found

    def _cards_on_this_machine(self, current: Mapping[str, int]) -> dict[str, MapCard]:
        with self._lock:
            keys = {name: map_key(name, number) for name, number in current.items()}
            found = {name: self._cards[key] for name, key in keys.items() if key in self._cards}
        if self._remembered is not None and len(found) < len(current):
            for name, each in self._remembered.all().items():
                if name in current and each.digest == str(current[name]):
                    found.setdefault(name, each.card)
            with self._lock:
                self._keep_cards({keys[name]: card for name, card in found.items()})
        return found

    def _card(self, resource_id: str, number: int) -> MapCard:
        with self._lock:
            known = self._cards.get(map_key(resource_id, number))
        return known or self._read(resource_id, number).card()

    def _card_or_none(self, resource_id: str, number: int) -> MapCard | None:
        with suppress(ResourceMissing, MapCorrupt):
            return self._card(resource_id, number)
        return None

    def _remember(self, key: ObjectKey, found: ResourceMap, size: int) -> None:
        card = found.card()
        with self._lock:
            self._size += size - self._maps.pop(key, (found, 0))[1]
            self._maps[key] = found, size
            while self._size > HOT_LIMIT and len(self._maps) > 1:
                self._size -= self._maps.popitem(last=False)[1][1]
            self._keep_cards({key: card})

    def _keep_cards(self, cards: Mapping[ObjectKey, MapCard]) -> None:
        self._cards.update(islice(cards.items(), CARDS_IN_MEMORY))
        while len(self._cards) > CARDS_IN_MEMORY:
            self._cards.popitem(last=False)

    def _base(self, resource_id: str) -> int:
        """Return the number of the last known object of the resource, which is requested unless it was seen recently."""
        number, seen = self._bases.get(resource_id, (0, 0.0))
        if seen and time.monotonic() - seen < BASE_SECONDS:
            return number
        return max(self._numbers(MAPS, resource_id), default=0)

    def _note_base(self, resource_id: str, number: int) -> None:
        with self._lock:
            self._bases[resource_id] = number, time.monotonic()
            self._bases.move_to_end(resource_id)
            while len(self._bases) > BASES_IN_MEMORY:
                self._bases.popitem(last=False)

    def _check_writable(self) -> None:
        """Raise `RequestRefused` if other machines would not see what this one writes.

        This is checked until it succeeds once.
        """
        if not self._may_write and self._objects.size(CATALOG) is not None:
            raise RequestRefused(
                f"The maps of {self._name} have a catalog in PostgreSQL. Set CITEKIT_DATABASE to its database, because other "
                "machines would not see what is stored without the catalog."
            )
        self._may_write = True

    def _notice_others(self, resource_id: str) -> None:
        """Do nothing. Subclasses note that another machine stored an object of the resource."""

    def _note_written(self, resource_id: str, number: int, resource_map: ResourceMap | None) -> None:  # noqa: ARG002
        """Record that this process stored `resource_map` as object `number`, or removed the map if it is None."""
        self._note_base(resource_id, number)
        with self._lock:
            self._listed, self._writes = None, self._writes + 1

    def _after_conflict(self, mine: ResourceMap) -> int | None:
        """Return the number of the last object, after another machine stored a map under the same ID.

        Return None if that map equals `mine`. Raise `StoreUnavailable` if it is the map of another file.
        """
        name = mine.resource_id
        self._notice_others(name)
        with suppress(ResourceMissing):
            theirs = self.get(name)
            if evolve(theirs, created_at=mine.created_at) == mine:
                return None
            if theirs.source_digest != mine.source_digest and theirs.source_path != mine.source_path:
                raise self._conflict(name)
        return max(self._numbers(MAPS, name), default=0)

    def _write_hints(self, resource_map: ResourceMap) -> None:
        folders = [path_folder(resource_map.source_path)]
        if resource_map.source_digest is not None and resource_map.mapper is not None:
            folders.append(mapped_folder(resource_map.source_digest, resource_map.mapper))
        for folder in folders:
            self._objects.put(ObjectKey(f"{folder}/{id_segments(resource_map.resource_id)}"), b"")

    def _hinted(self, folder: str) -> Sequence[str]:
        return sorted(name for name, _ in hinted_ids(self._objects, folder))

    def _conflict(self, resource_id: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"Another machine stored the map of another file as '{resource_id}' at the same time. Try again; if you chose "
            "this ID, choose another one."
        )

    def _missing(self, resource_id: str) -> ResourceMissing:
        return ResourceMissing(resource_id, self.expected_at(resource_id), lambda: self._suggested(resource_id))

    def _suggested(self, resource_id: str) -> Sequence[str]:
        known, seen = self.ids(), [resource_id]
        while True:
            notes = self._numbers(RENAMED, seen[-1])
            data = self._objects.read(renamed_key(seen[-1], max(notes))) if notes else None
            name = (data or b"").decode("utf-8", "replace")
            if not name or name in seen:
                break
            seen.append(name)
        return [seen[-1]] if seen[1:] and seen[-1] in known else nearest_names(resource_id, known)
