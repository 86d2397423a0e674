"""A node search index in SQLite (FTS5), which is kept up to date with the maps of a store."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from sqlite3 import SQLITE_BUSY, Connection, OperationalError

from attrs import frozen

from citekit.adapters.search.node_search.database import Database, UnusableError
from citekit.adapters.search.node_search.index_writer import STRIDE, IndexWriter, code_parts, writable
from citekit.adapters.search.node_search.query_plan import Asking, NodeRow
from citekit.adapters.search.node_search.ranking import COUNTED
from citekit.adapters.search.node_search.scanning import ScanningNodeIndex
from citekit.adapters.system.file_locks import log_once
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.errors import MapCorrupt, ResourceMissing
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.node_index import FoundNode
from citekit.wire.locations import from_plain

BREATH = 1.0
"""Seconds that SQLite waits at a time."""

TURN = 1.0
"""Seconds for which one process writes before it lets others write."""

LOOK_RATE = 1_000
"""While the state of the store is unchanged, single maps are checked again after one second for each this many maps."""

LOOK_LIMIT = 60.0
"""Maximum number of seconds between two checks of single maps."""

MANY = 1 << 40
"""More nodes than any index has."""

BATCH = 1_000
"""Number of maps whose versions are compared at a time."""

_VERSION = "SELECT version FROM map WHERE resource_id = ?"
_VERSIONS = "SELECT resource_id, version FROM map WHERE resource_id IN (SELECT value FROM json_each(?))"
_MAP_OF = "SELECT resource_id, version FROM map WHERE first <= ? ORDER BY first DESC LIMIT 1"


class _NotOursError(Exception):
    """The database, or a row of it, does not have a valid code of this home."""


@frozen
class _Look:
    """The last comparison of an index with the maps: the state of the store before it, and the monotonic time in
    seconds.

    `index` identifies the database, and changes when it is rebuilt.
    """

    index: str
    state: str | None
    at: float
    maps: int

    def holds(self, index: str, state: str | None) -> bool:
        """Return whether the maps need not be checked one by one."""
        return (
            state is not None
            and (index, state) == (self.index, self.state)
            and 0 <= time.monotonic() - self.at < min(self.maps / LOOK_RATE, LOOK_LIMIT)
        )

    @classmethod
    def recorded(cls, connection: Connection) -> _Look:
        """Return the last comparison by any process.

        If its time is in the future, the clock was set back, and it is ignored.
        """
        index, state, at, maps = connection.execute("SELECT made, state, at, maps FROM look").fetchone()
        return cls(index, state, time.monotonic() - (time.time() - at), maps)

    def record(self, connection: Connection) -> None:
        """Record the comparison for other processes, unless one of them is writing."""
        (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute("PRAGMA busy_timeout = 0")
        with suppress(OperationalError):
            at = time.time() - (time.monotonic() - self.at)
            connection.execute("UPDATE look SET state = ?, at = ?, maps = ?", (self.state, at, self.maps))
        connection.execute(f"PRAGMA busy_timeout = {patience}")


class SqliteNodeIndex:
    """A `NodeIndex` in `folder`. If the index cannot be used, every map is read instead.

    The next query sees every map that was added, removed, or replaced, and each result is checked against the state of
    its map. If a program edits a map file in place, the change is found after one second for every 1,000 maps, at most
    a minute.

    The database and every node in it are authenticated by the seal of this home. A database from elsewhere is rebuilt.
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
        """`patience` is how many seconds to wait for another process that writes to the index.

        `counted` is the maximum number of nodes that are considered, and `stride` is the gap between maps.
        """
        self._maps = maps
        self._patience = patience
        self._database = Database(folder, min(patience, BREATH))
        self._seal = HomeSeal(folder)
        self._scan = ScanningNodeIndex(maps, counted)
        self._counted = counted
        self._stride = stride
        self._look = _Look("", None, 0.0, 0)
        self._following = threading.Lock()

    def best(self, words: Sequence[str], *, limit: int, resources: Sequence[str] | None = None) -> Sequence[FoundNode]:
        """Return the best nodes of all maps, or of the given ones."""
        if not words:
            return []
        if not self._database.exists() and not self._maps.ids():
            return []  # no database is created if there is nothing to index
        wanted = None if resources is None else [each for each in dict.fromkeys(resources) if _is_unicode(each)]
        with suppress(UnusableError):
            for attempt in range(3):
                try:
                    found = self._attempt(words, min(limit, MANY), wanted, anew=attempt > 0)
                except _NotOursError:
                    self._database.discard()
                    continue
                if found is not None:
                    return found
        return self._scan.best(words, limit=limit, resources=wanted)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _attempt(
        self, words: Sequence[str], limit: int, resources: Sequence[str] | None, *, anew: bool
    ) -> Sequence[FoundNode] | None:
        """Return the best nodes, or None if one of them no longer matches its map."""
        with self._database.connected() as connection:
            self._check_seal(connection)
            fresh = self._follow(connection, anew) if resources is None else self._follow_some(connection, resources)
            connection.execute("BEGIN")
            asking = Asking(connection, words, limit, self._counted)
            found = asking.everywhere() if resources is None else asking.within(resources)
            best = [(score, row, connection.execute(_MAP_OF, (row.number,)).fetchone()) for score, row in found]
        versions = dict(known for _, _, known in best)
        if not all(name in fresh or self._maps.version(name) == version for name, version in versions.items()):
            return None
        for _, row, (resource_id, version) in best:
            if not self._seal.holds(row.code, *code_parts(resource_id, version, row.facts)):
                raise _NotOursError
        return [_found(resource_id, row, score) for score, row, (resource_id, _) in best]

    def _check_seal(self, connection: Connection) -> None:
        """Seal an empty database. Raises `_NotOursError` for a database that was filled elsewhere."""
        made, code = connection.execute("SELECT made, code FROM look").fetchone()
        if self._seal.holds(code, b"nodes", str(made).encode()):
            return
        if code is not None or connection.execute("SELECT 1 FROM map UNION ALL SELECT 1 FROM word LIMIT 1").fetchone():
            raise _NotOursError
        connection.execute("UPDATE look SET code = ?", (self._seal.code(b"nodes", str(made).encode()),))

    def _follow(self, connection: Connection, anew: bool) -> Collection[str]:
        """Update the index to the current maps. Return the IDs of the maps that were read."""
        if self._is_followed(connection, anew):
            return ()
        with self._following:
            if self._is_followed(connection, anew):
                return ()
            state, at = self._maps.state(), time.monotonic()
            number, stale = self._compare(connection)
            self._renew(connection, sorted(stale))
            if state is not None:
                self._look = _Look(_Look.recorded(connection).index, state, at, number)
                self._look.record(connection)
            return stale

    def _is_followed(self, connection: Connection, anew: bool) -> bool:
        """Return whether any process recently checked all maps, and none was added or removed since."""
        if anew:
            return False
        state, recorded = self._maps.state(), _Look.recorded(connection)
        return recorded.holds(recorded.index, state) or self._look.holds(recorded.index, state)

    def _compare(self, connection: Connection) -> tuple[int, set[str]]:
        """Return the number of maps, and the IDs of those whose index entries are missing, out of date, or obsolete."""
        versions, number, known = iter(self._maps.versions().items()), 0, 0
        stale: set[str] = set()
        while batch := dict(itertools.islice(versions, BATCH)):
            number += len(batch)
            for resource_id, version in connection.execute(_VERSIONS, (json.dumps(list(batch)),)):
                known += 1
                if batch[resource_id] == version:
                    del batch[resource_id]
            stale.update(batch)
        (indexed,) = connection.execute("SELECT count(*) FROM map").fetchone()
        if known < indexed:
            ids = set(self._maps.ids())
            stale.update(name for (name,) in connection.execute("SELECT resource_id FROM map") if name not in ids)
        return number, stale

    def _follow_some(self, connection: Connection, resources: Iterable[str]) -> Collection[str]:
        """Update the index for a few maps, regardless of the others."""
        stale = [name for name in resources if _version_in(connection, name) != self._maps.version(name)]
        self._renew(connection, stale)
        return stale

    def _renew(self, connection: Connection, resources: Iterable[str]) -> None:
        """Update these maps in the index, and let other processes write in between."""
        pending = iter(resources)
        for resource_id in pending:
            self._begin(connection)
            writer, until = IndexWriter(connection, self._seal, self._stride), time.monotonic() + TURN
            self._renew_map(connection, writer, resource_id)
            while time.monotonic() < until and (following := next(pending, None)) is not None:
                self._renew_map(connection, writer, following)
            writer.finish()
            connection.execute("COMMIT")

    def _begin(self, connection: Connection) -> None:
        """Begin a write transaction.

        SQLite waits only for short periods, because during them the caller can neither cancel nor be notified.
        """
        deadline = time.monotonic() + self._patience
        told = log_once(
            f"The node search index is in use by another program. Waiting up to {self._patience:g} seconds; after "
            "that, the search reads every map instead."
        )
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except OperationalError as error:
                if error.sqlite_errorcode != SQLITE_BUSY or time.monotonic() >= deadline:
                    raise
            told()

    def _renew_map(self, connection: Connection, writer: IndexWriter, resource_id: str) -> None:
        """Update one map. Its version is determined before it is read, so that the row is never newer than the map."""
        version = self._maps.version(resource_id)
        if version is None:
            writer.drop(resource_id)
        elif version != _version_in(connection, resource_id):
            nodes = self._nodes(resource_id)
            if nodes is None:
                writer.drop(resource_id)
            else:
                writer.put(resource_id, version, nodes)

    def _nodes(self, resource_id: str) -> Iterable[Node] | None:
        """Return the nodes of a map; none of a damaged map; None if the map could not be read, which may be temporary."""
        try:
            return self._maps.get(resource_id).walk()
        except ResourceMissing:
            return ()
        except MapCorrupt as error:
            return None if isinstance(error.__cause__, OSError) else ()


def _is_unicode(resource_id: str) -> bool:
    """Return whether the ID is valid Unicode. No file has an ID with an unpaired surrogate, and SQLite rejects it."""
    return isinstance(writable(resource_id), str)


def _version_in(connection: Connection, resource_id: str) -> str | None:
    """Return the version of the map in the index."""
    known: tuple[str] | None = connection.execute(_VERSION, (resource_id,)).fetchone()
    return known and known[0]


def _found(resource_id: str, row: NodeRow, score: float) -> FoundNode:
    head = Node(row.id, row.title, row.type, from_plain(json.loads(row.location)), row.summary)
    return FoundNode(resource_id, head, bool(row.leaf), score)
