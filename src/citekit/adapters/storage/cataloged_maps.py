"""A map store in an object store, with a catalog in PostgreSQL.

The catalog has a row for each object, so that listings read no objects. An object is written first and then recorded.
If a process is killed in between, the next process that writes a map of the same resource records the object, and so
does a garbage collection.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import define, field

from citekit.adapters.libraries.postgres.database import Database, changed, id_of, key_of
from citekit.adapters.storage.shared_map_keys import MAPS, numbered
from citekit.adapters.storage.shared_maps import CATALOG, REQUESTS, SharedMapStore
from citekit.domain.digest import Digest
from citekit.domain.errors import MapCorrupt, RequestRefused, ResourceMissing
from citekit.domain.ids import check_resource_id
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.object_store import ObjectStore
from citekit.domain.resource_map import ResourceMap

if TYPE_CHECKING:
    from psycopg import Connection

BATCH = 1000
"""The number of resources whose rows are compared at a time."""

_CHANGES = "SELECT changes FROM citekit_space WHERE id = %s"
_CURRENT = "SELECT resource, number FROM citekit_resource WHERE space = %s AND number > removal ORDER BY resource"
_CARDS = "SELECT resource, card FROM citekit_resource WHERE space = %s AND number > removal ORDER BY resource"
_SOME_CARDS = (
    "SELECT resource, card FROM citekit_resource WHERE space = %s AND resource = ANY (%s) AND number > removal"
    " ORDER BY resource"
)
_OF_PATH = (
    "SELECT resource, card FROM citekit_resource WHERE space = %s AND path = %s AND number > removal ORDER BY resource"
)
_KNOWN = "SELECT number, removal, card FROM citekit_resource WHERE space = %s AND resource = %s"
_ALL_NUMBERS = "SELECT resource, number FROM citekit_edition WHERE space = %s AND resource = ANY (%s)"
_ALL_REMOVALS = "SELECT resource, removal FROM citekit_resource WHERE space = %s AND resource = ANY (%s)"
_SOURCES = "SELECT source FROM citekit_edition WHERE space = %s AND resource = %s ORDER BY number"
_EDITIONS = (
    "SELECT max(e.number) FROM citekit_resource r"
    " JOIN citekit_edition c ON c.space = r.space AND c.resource = r.resource AND c.number = r.number"
    " JOIN citekit_edition e ON e.space = r.space AND e.resource = r.resource AND e.source IS NOT DISTINCT FROM c.source"
    " WHERE r.space = %s AND r.resource = %s AND r.number > r.removal GROUP BY e.mapper ORDER BY 1 DESC"
)
"""Selects the numbers of the current map and of the latest map of each other mapper from the same bytes, newest first.
"""

_MAPPED = (
    "SELECT e.resource, max(e.number) FROM citekit_edition e"
    " JOIN citekit_resource r ON r.space = e.space AND r.resource = e.resource AND r.number > r.removal"
    " JOIN citekit_edition c ON c.space = r.space AND c.resource = r.resource AND c.number = r.number"
    " WHERE e.space = %s AND e.source = %s AND e.mapper = %s AND c.source = e.source GROUP BY e.resource ORDER BY 1"
)
_STORED = (
    "INSERT INTO citekit_resource (space, resource, number, removal, path, card) VALUES (%s, %s, %s, 0, %s, %s)"
    " ON CONFLICT (space, resource) DO UPDATE SET number = excluded.number, path = excluded.path, card = excluded.card"
    " WHERE citekit_resource.number < excluded.number"
)
_EDITION = (
    "INSERT INTO citekit_edition (space, resource, number, source, mapper)"
    " SELECT space, resource, %s, %s, %s FROM citekit_resource WHERE space = %s AND resource = %s AND removal < %s"
    " ON CONFLICT (space, resource, number) DO NOTHING"
)
_REMOVED = (
    "INSERT INTO citekit_resource (space, resource, number, removal) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT (space, resource) DO UPDATE SET removal = greatest(citekit_resource.removal, excluded.removal),"
    " number = greatest(citekit_resource.number, excluded.number),"
    " path = CASE WHEN citekit_resource.number > excluded.number THEN citekit_resource.path END,"
    " card = CASE WHEN citekit_resource.number > excluded.number THEN citekit_resource.card END"
)
_FORGET = "DELETE FROM citekit_edition WHERE space = %s AND resource = %s AND number <= %s"
_BIND = "INSERT INTO citekit_space (name, made) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
_FILLED = "SELECT is_filled FROM citekit_space WHERE id = %s FOR NO KEY UPDATE"


class CatalogedMapStore(SharedMapStore):
    """A `SharedMapStore` whose listings and look-ups are answered by a catalog in PostgreSQL.

    The first use of a store that already has maps records all of them. Everything that writes to the store must use the
    catalog.
    """

    def __init__(self, objects: ObjectStore, name: str, database: Database) -> None:
        """`name` is the address of the object store, which must be the same on all machines."""
        super().__init__(objects, name)
        self._database = database
        self._catalog_name = CatalogName(objects, name, database)
        self._found_space: int | None = None
        self._listing: tuple[int, Mapping[str, int]] | None = None
        self._may_write = True

    def ids(self) -> Sequence[str]:
        """See `MapStore.ids`."""
        return tuple(self._current())

    def card(self, resource_id: str) -> MapCard:
        """See `MapStore.card`. The map is read only if it was damaged when it was recorded."""
        number, card = self._known(resource_id)
        return card or self._read(resource_id, number).card()

    def cards(self, resource_ids: Iterable[str] | None = None) -> Sequence[MapCard]:
        """See `MapStore.cards`. Maps that were damaged when they were recorded are left out."""
        keys = None if resource_ids is None else [key_of(each) for each in resource_ids]
        rows = self._rows(_CARDS) if keys is None else self._rows(_SOME_CARDS, keys)
        return [_card(name, data) for name, data in rows if data is not None]

    def state(self) -> str | None:
        """See `MapStore.state`. It is the number of changes of the catalog."""
        return str(self._changes())

    def edition(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """See `MapStore.edition`."""
        check_resource_id(resource_id)
        for number in self._edition_numbers(resource_id):
            with suppress(ResourceMissing, MapCorrupt):
                found = self._read(resource_id, number)
                if found.mapper == mapper:
                    return found
        return None

    def editions(self, resource_id: str) -> Sequence[ResourceMap]:
        """See `MapStore.editions`."""
        numbers = self._edition_numbers(check_resource_id(resource_id))
        if not numbers:
            raise self._missing(resource_id)
        found = [self._read(resource_id, numbers[0])]
        for number in numbers[1:]:
            with suppress(MapCorrupt, ResourceMissing):
                found.append(self._read(resource_id, number))
        return found

    def earlier_sources(self, resource_id: str) -> Sequence[Digest]:
        """See `MapStore.earlier_sources`."""
        sources: list[Digest] = []
        before: Digest | None = None
        for (source,) in self._rows(_SOURCES, key_of(check_resource_id(resource_id))):
            now = Digest(source) if source else None
            if before is not None and before != now and before not in sources:
                sources.append(before)
            before = now
        return sources

    def find_mapped(self, source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
        """See `MapStore.find_mapped`."""
        for name, number in self._rows(_MAPPED, source.hex, _mapper(mapper)):
            with suppress(ResourceMissing, MapCorrupt):
                return self._read(id_of(name), number)
        return None

    def find_source(self, source_path: str) -> Sequence[str]:
        """See `MapStore.find_source`. The IDs are sorted."""
        cards = [_card(name, data) for name, data in self._rows(_OF_PATH, _path(source_path)) if data is not None]
        return [card.resource_id for card in cards if card.source_path == source_path]

    def record_missing(self) -> None:
        """Record objects that a killed process stored but did not record."""
        space = self._space
        self._database.run(lambda connection: self._record_missing(connection, space))

    @property
    def _space(self) -> int:
        """The ID of the space of this store in the catalog (see `Database.space`), which the first use fills."""
        if self._found_space is None:
            space = self._database.space(f"maps {self._catalog_name()}")
            self._database.run(lambda connection: self._fill(connection, space))
            self._found_space = space
        return self._found_space

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._database.rows(query, (self._space, *values))

    def _changes(self) -> int:
        return int(self._rows(_CHANGES)[0][0])

    def _current(self) -> Mapping[str, int]:
        """Return the number of the current map of each resource ID, sorted, and cached until the catalog changes."""
        known, changes = self._listing, self._changes()
        if known is not None and known[0] == changes:
            return known[1]
        current = {id_of(name): int(number) for name, number in self._rows(_CURRENT)}
        self._listing = changes, current
        return current

    def _known(self, resource_id: str) -> tuple[int, MapCard | None]:
        """Return the number of the current map, and its card (None if the map is damaged).

        Raise `ResourceMissing` if there is no map.
        """
        rows = self._rows(_KNOWN, key_of(check_resource_id(resource_id)))
        number, removal, card = rows[0] if rows else (0, 0, None)
        self._note_base(resource_id, int(number))
        if int(number) <= int(removal):
            raise self._missing(resource_id)
        return int(number), None if card is None else _card(key_of(resource_id), card)

    def _number(self, resource_id: str) -> int:
        return self._known(resource_id)[0]

    def _base(self, resource_id: str) -> int:
        """Return the number of the last object of the resource that this process has seen, or that in the catalog."""
        if resource_id not in self._bases:
            rows = self._rows(_KNOWN, key_of(resource_id))
            return int(rows[0][0]) if rows else 0
        return super()._base(resource_id)

    def _edition_numbers(self, resource_id: str) -> list[int]:
        return [int(number) for (number,) in self._rows(_EDITIONS, key_of(resource_id))]

    def _write_hints(self, resource_map: ResourceMap) -> None:
        """Do nothing, because the catalog contains the information of the hints."""

    def _notice_others(self, resource_id: str) -> None:
        """Record the objects of this resource that other machines stored but have not recorded."""
        space = self._space
        self._database.run(lambda connection: self._record_missing(connection, space, resource_id))

    def _note_written(self, resource_id: str, number: int, resource_map: ResourceMap | None) -> None:
        card = None if resource_map is None else resource_map.card()

        def recorded(connection: Connection) -> None:
            if card is None:
                _record_removal(connection, space, resource_id, number)
            else:
                _record(connection, space, [(resource_id, number, card)])
            changed(connection, space)

        space = self._space
        self._database.run(recorded)
        super()._note_written(resource_id, number, resource_map)

    def _fill(self, connection: Connection, space: int) -> None:
        """Record all maps that the store already has. Other processes wait until this has finished."""
        if connection.execute(_FILLED, (space,)).fetchone() == (True,):
            return
        self._record_missing(connection, space)
        connection.execute("UPDATE citekit_space SET is_filled = TRUE WHERE id = %s", (space,))

    def _record_missing(self, connection: Connection, space: int, resource_id: str | None = None) -> None:
        """Record the objects of one or of all resources that are not recorded."""
        resources = numbered(self._objects, MAPS, resource_id)
        with ThreadPoolExecutor(REQUESTS) as pool:
            while batch := list(islice(resources, BATCH)):
                objects: dict[str, dict[int, int]] = {}
                for name, numbers in batch:
                    sizes = {number: each.size for number, each in numbers.items()}
                    objects.setdefault(name, {}).update(sizes)
                missing, removals = _missing(connection, space, objects)
                cards = list(pool.map(lambda each: self._card_or_none(*each), missing))
                _record(connection, space, [(*each, card) for each, card in zip(missing, cards, strict=True)])
                for name, number in removals.items():
                    _record_removal(connection, space, name, number)
        changed(connection, space)


def _missing(
    connection: Connection, space: int, objects: Mapping[str, Mapping[int, int]]
) -> tuple[list[tuple[str, int]], dict[str, int]]:
    """Return the unrecorded maps and removals.

    `objects` has the size of each object, by resource ID and number; an empty object is a removal.
    """
    asked = space, [key_of(name) for name in objects]
    known: dict[bytes, set[int]] = {}
    for key, number in connection.execute(_ALL_NUMBERS, asked):
        known.setdefault(key, set()).add(number)
    removal: dict[bytes, int] = dict(connection.execute(_ALL_REMOVALS, asked).fetchall())
    maps, removals = list[tuple[str, int]](), dict[str, int]()
    for name, numbers in objects.items():
        key = key_of(name)
        last = max((number for number, size in numbers.items() if not size), default=0)
        if last > removal.get(key, 0):
            removals[name] = last
        live = (number for number in sorted(numbers) if number > max(last, removal.get(key, 0)))
        maps += [(name, number) for number in live if number not in known.get(key, ())]
    return maps, removals


@define
class CatalogName:
    """The name of the catalog of an object store in a database. The object `CATALOG` of the store contains it.

    In the database, the name is bound to the address of the store, so that a copy of the store cannot use the catalog.
    """

    objects: ObjectStore
    address: str
    database: Database
    _known: str | None = field(default=None, init=False)

    def __call__(self) -> str:
        """Return the name, which the first call for a store creates. Raise `RequestRefused` if another store has it."""
        if self._known is None:
            name = self._read()
            there = self.database.run(lambda connection: self._bound(connection, name))
            if there != self.address:
                raise RequestRefused(
                    f"The catalog of {self.address} belongs to {there}. If this is the same store, use {there} on "
                    f"every machine. If it is a copy, delete the object {CATALOG} in it."
                )
            self._known = name
        return self._known

    def _read(self) -> str:
        while True:
            known = self.objects.read(CATALOG)
            if known:
                return known.decode("ascii", "replace").replace("\0", "")
            self.objects.put(CATALOG, secrets.token_hex(16).encode())

    def _bound(self, connection: Connection, name: str) -> str:
        """Bind the name to the address of this store if it is not bound yet. Return the address to which it is bound."""
        connection.execute(_BIND, (f"store {name}", self.address))
        row = connection.execute("SELECT made FROM citekit_space WHERE name = %s", (f"store {name}",)).fetchone()
        return str(row[0]) if row else ""


def _record(connection: Connection, space: int, maps: Sequence[tuple[str, int, MapCard | None]]) -> None:
    """Record objects. `maps` has the resource ID, the number, and the card of each (None if the map is damaged).

    Repeated calls have no further effect, and calls can come in any order.
    """
    resources, editions = [], []
    for name, number, card in maps:
        key = key_of(name)
        path, data = (None, None) if card is None else (_path(card.source_path), _card_data(card))
        mapper = None if card is None or card.mapper is None else json.dumps(card.mapper)
        resources.append((space, key, number, path, data))
        editions.append((number, None if card is None else card.source_hash, mapper, space, key, number))
    with connection.cursor() as cursor:
        cursor.executemany(_STORED, resources)
        cursor.executemany(_EDITION, editions)


def _record_removal(connection: Connection, space: int, resource_id: str, number: int) -> None:
    """Record that the object with this number removed the resource.

    Repeated calls have no further effect, and calls can come in any order.
    """
    key = key_of(resource_id)
    connection.execute(_REMOVED, (space, key, number, number))
    connection.execute(_FORGET, (space, key, number))


def _path(source_path: str) -> bytes:
    return hashlib.sha256(source_path.encode("utf-8", "surrogatepass")).digest()


def _mapper(mapper: MapperIdentity) -> str:
    return json.dumps([mapper.name, mapper.model, mapper.version])


def _card_data(card: MapCard) -> bytes:
    return json.dumps(card[1:], separators=(",", ":")).encode()


def _card(key: bytes, data: bytes) -> MapCard:
    """Return the card that `_card_data` converted to `data`."""
    kind, title, nodes, path, source, length, form, mapper, structure_by, beside, size = json.loads(data)
    made, structured = (None if each is None else tuple(each) for each in (mapper, structure_by))
    return MapCard(id_of(key), kind, title, nodes, path, source, length, form, made, structured, beside, size)
