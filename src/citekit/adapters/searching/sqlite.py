"""An index of words in SQLite (FTS5), which follows the maps of a store."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection

from attrs import frozen

from citekit.adapters.searching.asking import Asking, NodeRow
from citekit.adapters.searching.database import Database, UnusableError
from citekit.adapters.searching.ranking import COUNTED, Ranking
from citekit.adapters.searching.scanning import ScanningNodeIndex
from citekit.adapters.searching.shelving import STRIDE, Shelving
from citekit.domain.errors import MapCorrupt, ResourceMissing
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.node_index import FoundNode
from citekit.wire.locations import from_plain

TURN = 1.0
"""Seconds that one process writes before another may."""

LOOK_RATE = 1_000
"""Maps for which a second may pass until they are looked at one by one again, though the store as a whole looks the same."""

LOOK_LIMIT = 60.0
"""Seconds that may pass at most."""

MANY = 1 << 40
"""No index holds so many nodes."""

_VERSION = "SELECT version FROM map WHERE resource_id = ?"
_MAP_OF = "SELECT resource_id, version FROM map WHERE first <= ? ORDER BY first DESC LIMIT 1"


@frozen
class _Look:
    """When the index was last found to be that of the maps: the store's state before, and the monotonic time in seconds."""

    state: str | None
    at: float
    maps: int

    def holds(self, state: str | None) -> bool:
        """Whether the maps need not be looked at one by one."""
        return (
            state is not None
            and state == self.state
            and time.monotonic() - self.at < min(self.maps / LOOK_RATE, LOOK_LIMIT)
        )


class SqliteNodeIndex:
    """A `NodeIndex` in `folder`; where that cannot be used, every map is read instead.

    Whatever comes, goes or is replaced in the store is seen by the next question, and what is told of a node was checked
    against the state of its map. What somebody writes into the file of a map in place is found after a second for every 1,000
    maps, a minute at most, and at once by a new process.
    """

    def __init__(
        self,
        maps: MapStore,
        folder: Path,
        *,
        patience: float = 30.0,
        counted: int = COUNTED,
        stride: int = STRIDE,
    ) -> None:
        """`patience` is how many seconds to wait for another process that writes into the index.

        `counted` is how many nodes with the same words count at most; `stride` the room between maps.
        """
        self._maps = maps
        self._database = Database(folder, patience)
        self._scan = ScanningNodeIndex(maps, counted)
        self._counted = counted
        self._stride = stride
        self._look = _Look(None, 0.0, 0)
        self._following = threading.Lock()

    def best(self, words: Sequence[str], *, limit: int, resources: Sequence[str] | None = None) -> Sequence[FoundNode]:
        """The best nodes of all maps, or of some."""
        if not words:
            return []
        wanted = None if resources is None else list(dict.fromkeys(resources))
        with suppress(UnusableError):
            for attempt in range(3):
                found = self._attempt(words, min(limit, MANY), wanted, anew=attempt > 0)
                if found is not None:
                    return found
        return self._scan.best(words, limit=limit, resources=wanted)

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def _attempt(
        self, words: Sequence[str], limit: int, resources: Sequence[str] | None, *, anew: bool
    ) -> Sequence[FoundNode] | None:
        """The best nodes, or None where one of them is no longer what the index says."""
        with self._database.connected() as connection:
            fresh = self._follow(connection, anew) if resources is None else self._follow_some(connection, resources)
            ranking: Ranking[NodeRow] = Ranking(words, limit, self._counted)
            connection.execute("BEGIN")
            asking = Asking(connection, ranking)
            asking.everywhere(words) if resources is None else asking.within(resources)
            best = [
                (score, row, connection.execute(_MAP_OF, (row.number,)).fetchone()) for score, row in ranking.best()
            ]
        versions = dict(known for _, _, known in best)
        if not all(name in fresh or self._maps.version(name) == version for name, version in versions.items()):
            return None
        return [_found(resource_id, row, score) for score, row, (resource_id, _) in best]

    def _follow(self, connection: Connection, anew: bool) -> Collection[str]:
        """Bring the index up to what the maps are now; the ids of those that were read for that."""
        state = self._maps.state()
        if not anew and self._look.holds(state):
            return ()
        with self._following:
            state, at = self._maps.state(), time.monotonic()
            if not anew and self._look.holds(state):
                return ()
            versions = dict(self._maps.versions())
            number = len(versions)
            for resource_id, version in connection.execute("SELECT resource_id, version FROM map"):
                if versions.get(resource_id) == version:
                    del versions[resource_id]
                else:
                    versions.setdefault(resource_id, "")
            self._renew(connection, sorted(versions))
            self._look = _Look(state, at, number)
            return versions.keys()

    def _follow_some(self, connection: Connection, resources: Iterable[str]) -> Collection[str]:
        """The same for a few maps, whatever became of the others."""
        stale = [name for name in resources if _version_in(connection, name) != self._maps.version(name)]
        self._renew(connection, stale)
        return stale

    def _renew(self, connection: Connection, resources: Iterable[str]) -> None:
        """Put these maps into the index as they are now, in turns with other processes."""
        pending = iter(resources)
        for resource_id in pending:
            connection.execute("BEGIN IMMEDIATE")
            shelving, until = Shelving(connection, self._stride), time.monotonic() + TURN
            self._renew_map(connection, shelving, resource_id)
            while time.monotonic() < until and (following := next(pending, None)) is not None:
                self._renew_map(connection, shelving, following)
            shelving.finish()
            connection.execute("COMMIT")

    def _renew_map(self, connection: Connection, shelving: Shelving, resource_id: str) -> None:
        """One map; its version is told before it is read, so that the row is never newer than the map."""
        version = self._maps.version(resource_id)
        if version is None:
            shelving.drop(resource_id)
        elif version != _version_in(connection, resource_id):
            shelving.put(resource_id, version, self._nodes(resource_id))

    def _nodes(self, resource_id: str) -> Iterable[Node]:
        """The nodes of a map, none of a damaged one."""
        try:
            return self._maps.get(resource_id).walk()
        except (MapCorrupt, ResourceMissing):
            return ()


def _version_in(connection: Connection, resource_id: str) -> str | None:
    """The version of the map that the index has."""
    known: tuple[str] | None = connection.execute(_VERSION, (resource_id,)).fetchone()
    return known and known[0]


def _found(resource_id: str, row: NodeRow, score: float) -> FoundNode:
    head = Node(row.id, row.title, row.type, from_plain(json.loads(row.location)), row.summary)
    return FoundNode(resource_id, head, bool(row.leaf), score)
