"""A node search index in PostgreSQL, which several machines can share.

Every query first updates the index to the current maps of the store.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from citekit.adapters.libraries.postgres.database import Database
from citekit.adapters.search.node_search.postgres_tables import (
    PostgresRow,
    PostgresTables,
    PostgresWriter,
    versions_of,
)
from citekit.adapters.search.node_search.query_plan import Asking
from citekit.adapters.search.node_search.scanning import ScanningNodeIndex
from citekit.domain.errors import MapCorrupt, ResourceMissing
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.node_index import SCORED, FoundNode

if TYPE_CHECKING:
    from psycopg import Connection

VERSION = 1
"""The version of the terms and of the data in the tables."""

ATTEMPTS = 3
"""Maximum number of attempts to answer a query while maps change, before the maps are read without the index."""

TOGETHER = 32
"""Maximum number of maps that are read in parallel and then added in one transaction."""

MANY = 1 << 40
"""More nodes than any index has."""

_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_STATE = "SELECT state FROM citekit_space WHERE id = %s"
_LOCK = "SELECT 1 FROM citekit_space WHERE id = %s FOR NO KEY UPDATE"
_NOTE_STATE = "UPDATE citekit_space SET state = %s WHERE id = %s"


class PostgresNodeIndex:
    """A `NodeIndex` in a database. The maps that one machine has indexed are available to the others.

    If the map store has no state, each query of all maps compares them one by one. `best` raises `StoreUnavailable` if
    the database cannot be used.
    """

    def __init__(self, maps: MapStore, database: Database, name: Callable[[], str]) -> None:
        """`name` returns the name of the map store in the database."""
        self._maps = maps
        self._database = database
        self._name = name
        self._scan = ScanningNodeIndex(maps)

    def best(
        self, words: Sequence[str], *, limit: int, resources: Sequence[str] | None = None, scored: int = SCORED
    ) -> Sequence[FoundNode]:
        """See `NodeIndex.best`."""
        if not words:
            return []
        # Machines whose Python knows another version of Unicode fold words differently, so they use another index.
        space = self._database.space(f"nodes {VERSION} {unicodedata.unidata_version} {self._name()}")
        wanted = None if resources is None else list(dict.fromkeys(resources))
        for _ in range(ATTEMPTS):
            found = self._attempt(space, words, min(limit, MANY), wanted, scored)
            if found is not None:
                return found
        return self._scan.best(words, limit=limit, resources=wanted, scored=scored)

    def _attempt(
        self, space: int, words: Sequence[str], limit: int, wanted: Sequence[str] | None, scored: int
    ) -> Sequence[FoundNode] | None:
        """Update the index and return the best nodes; None if the map of a result has changed since the update."""
        state = self._maps.state()
        if wanted is None:
            self._follow(space, state)
        else:
            known = self._database.run(lambda connection: versions_of(connection, space, wanted))
            current = {name: self._maps.version(name) for name in wanted}
            self._renew(space, {name: each for name, each in current.items() if known.get(name) != each})

        def asked(connection: Connection) -> tuple[list[tuple[float, PostgresRow]], Mapping[str, str]]:
            connection.execute(_SNAPSHOT)
            asking = Asking(PostgresTables(connection, space), words, limit, scored)
            best = asking.everywhere() if wanted is None else asking.within(wanted)
            return best, versions_of(connection, space, {row.resource_id for _, row in best})

        best, versions = self._database.run(asked)
        is_same = state is not None and self._maps.state() == state
        if not is_same and any(self._maps.version(name) != version for name, version in versions.items()):
            return None
        return [FoundNode(row.resource_id, row.head, row.is_leaf, score) for score, row in best]

    def _follow(self, space: int, state: str | None) -> None:
        """Update the index to the current maps, unless a machine has already done so for this `state` of the store."""
        if state is not None and self._database.run(lambda connection: _state_of(connection, space)) == state:
            return
        current: dict[str, str | None] = dict(self._maps.versions().items())
        known = self._database.run(lambda connection: versions_of(connection, space))
        stale = {name: version for name, version in current.items() if known.get(name) != version}
        self._renew(space, stale | dict.fromkeys(known.keys() - current.keys()))
        if state is not None:
            self._database.run(lambda connection: connection.execute(_NOTE_STATE, (state, space)))

    def _renew(self, space: int, stale: Mapping[str, str | None]) -> None:
        """Update the maps in the index to the versions in `stale`, or remove them if the version is None."""
        names = sorted(stale)
        with ThreadPoolExecutor(TOGETHER) as pool:
            for start in range(0, len(names), TOGETHER):
                self._renew_batch(space, {name: stale[name] for name in names[start : start + TOGETHER]}, pool)

    def _renew_batch(self, space: int, batch: Mapping[str, str | None], pool: ThreadPoolExecutor) -> None:
        known = self._database.run(lambda connection: versions_of(connection, space, batch))
        new = [name for name, version in batch.items() if known.get(name) != version]
        read = zip(new, pool.map(self._nodes, new), strict=True)
        maps = {name: (batch[name], nodes) for name, nodes in read}
        self._database.run(lambda connection: _write(connection, space, maps))

    def _nodes(self, resource_id: str) -> Sequence[Node]:
        """Return the nodes of a map; none if the map is missing or damaged."""
        try:
            return list(self._maps.get(resource_id).walk())
        except (MapCorrupt, ResourceMissing):
            return ()


def _write(connection: Connection, space: int, maps: Mapping[str, tuple[str | None, Iterable[Node]]]) -> None:
    """Write the nodes of maps with their versions. A map without a version is removed."""
    connection.execute(_LOCK, (space,))  # counts of words are changed by one transaction at a time
    known = versions_of(connection, space, maps)
    writer = PostgresWriter(connection, space)
    for name, (version, nodes) in maps.items():
        if version is None:
            writer.drop(name)
        elif known.get(name) != version:
            writer.put(name, version, nodes)
    writer.finish()


def _state_of(connection: Connection, space: int) -> str | None:
    row = connection.execute(_STATE, (space,)).fetchone()
    return row[0] if row else None
