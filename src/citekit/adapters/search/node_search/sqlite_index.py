"""A node search index in SQLite (FTS5). Every query first updates it to the current maps of the store."""

from __future__ import annotations

import functools
import itertools
import json
import sqlite3
import threading
import time
import unicodedata
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from sqlite3 import SQLITE_BUSY, Connection, OperationalError

from attrs import frozen

from citekit.adapters.libraries.sqlite.cache_file import SqliteFile, UnusableError
from citekit.adapters.libraries.sqlite.database import Tables
from citekit.adapters.libraries.sqlite.errors import EXCEPTIONS
from citekit.adapters.search.node_search.index_writer import INDEXED, STRIDE, IndexWriter, code_parts, writable
from citekit.adapters.search.node_search.query_plan import Asking
from citekit.adapters.search.node_search.scanning import ScanningNodeIndex
from citekit.adapters.search.node_search.sqlite_tables import NodeRow, SqliteTables
from citekit.adapters.system.file_locks import log_once
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.errors import MapCorrupt, ResourceMissing
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.node_index import SCORED, FoundNode
from citekit.wire.locations import from_plain

BREATH = 1.0
"""Maximum number of seconds that SQLite waits for a lock at a time."""

TURN = 1.0
"""Seconds for which one process writes before it lets others write."""

LOOK_RATE = 1_000
"""While the state of the store is unchanged, a comparison of all maps is used for one second per this many maps."""

LOOK_LIMIT = 60.0
"""Seconds after which a comparison of all maps is no longer used."""

MANY = 1 << 40
"""More nodes than any index has."""

BATCH = 1_000
"""Number of maps whose versions are compared at a time."""

_VERSION = "SELECT version FROM map WHERE resource_id = ?"
_VERSIONS = "SELECT resource_id, version FROM map WHERE resource_id IN (SELECT value FROM json_each(?))"
_MAP_OF = "SELECT resource_id, version FROM map WHERE first <= ? ORDER BY first DESC LIMIT 1"

__all__ = ["DATABASE", "TABLES", "Database", "UnusableError", "has_fts5"]

DATABASE = "nodes.db"

VERSION = 4
"""The version of the tables, and of the terms in them."""

TABLES = Tables(
    zlib.crc32(f"CTKN {VERSION} {unicodedata.unidata_version}".encode()) & 0x7FFFFFFF,
    (
        "CREATE TABLE map (resource_id TEXT PRIMARY KEY, first INTEGER NOT NULL, slots INTEGER NOT NULL,"
        " version TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE node (number INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT NOT NULL, type TEXT NOT NULL,"
        " summary TEXT, location TEXT NOT NULL, leaf INTEGER NOT NULL, code BLOB NOT NULL)",
        "CREATE INDEX map_by_first ON map (first)",
        "CREATE TABLE word (word TEXT PRIMARY KEY, nodes INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE VIRTUAL TABLE term USING fts5 (terms, content = '', detail = none, columnsize = 0, tokenize = 'ascii',"
        f" prefix = '{' '.join(str(letters + 1) for letters in range(1, INDEXED + 1))}')",
        "CREATE TABLE beginning (letters TEXT PRIMARY KEY, words INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE look (made TEXT NOT NULL, state TEXT, at REAL NOT NULL, maps INTEGER NOT NULL, code BLOB)",
        "INSERT INTO look VALUES (lower(hex(randomblob(16))), NULL, 0, 0, NULL)",
    ),
)
"""The tables. They are rebuilt if the version of Unicode changes, because case folding may differ."""


class _NotOursError(Exception):
    """The database or a row of it has no valid authentication code of this CiteKit home."""


@frozen
class _Look:
    """The last comparison of the index with all maps: the state of the store before it, the time, and the number of
    maps.

    `at` is in seconds of the monotonic clock. `index` changes when the database is rebuilt.
    """

    index: str
    state: str | None
    at: float
    maps: int

    def holds(self, index: str, state: str | None) -> bool:
        """Return whether the comparison is recent and the state of the store is unchanged."""
        return (
            state is not None
            and (index, state) == (self.index, self.state)
            and 0 <= time.monotonic() - self.at < min(self.maps / LOOK_RATE, LOOK_LIMIT)
        )

    @classmethod
    def recorded(cls, connection: Connection) -> _Look:
        """Return the last comparison that any process recorded."""
        index, state, at, maps = connection.execute("SELECT made, state, at, maps FROM look").fetchone()
        return cls(index, state, time.monotonic() - (time.time() - at), maps)

    def record(self, connection: Connection) -> None:
        """Record the comparison for other processes. Do nothing if another process is writing."""
        (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute("PRAGMA busy_timeout = 0")
        with suppress(OperationalError):
            at = time.time() - (time.monotonic() - self.at)
            connection.execute("UPDATE look SET state = ?, at = ?, maps = ?", (self.state, at, self.maps))
        connection.execute(f"PRAGMA busy_timeout = {patience}")


class SqliteNodeIndex:
    """A `NodeIndex` in a database in `folder`. If the database cannot be used, queries read all maps instead.

    A query sees every map that was added, removed, or replaced before it. If a program edits a map file in place, the
    change is found after one second for every 1,000 maps, at most after a minute. The database and its nodes have
    authentication codes of this CiteKit home. A database from elsewhere is rebuilt.
    """

    def __init__(
        self,
        maps: MapStore,
        folder: Path,
        *,
        patience: float = 30.0,
        stride: int = STRIDE,
    ) -> None:
        """Create the index. The database is opened on first use.

        `patience` is the number of seconds to wait for another process that writes.
        `stride` is the gap between the node numbers of two maps.
        """
        self._maps = maps
        self._patience = patience
        self._database = Database(folder, min(patience, BREATH))
        self._seal = HomeSeal(folder)
        self._scan = ScanningNodeIndex(maps)
        self._stride = stride
        self._look = _Look("", None, 0.0, 0)
        self._following = threading.Lock()

    def best(
        self, words: Sequence[str], *, limit: int, resources: Sequence[str] | None = None, scored: int = SCORED
    ) -> Sequence[FoundNode]:
        """See `NodeIndex.best`."""
        if not words:
            return []
        if not self._database.exists() and not self._maps.ids():
            return []  # no database is created if there is nothing to index
        wanted = None if resources is None else [each for each in dict.fromkeys(resources) if _is_unicode(each)]
        with suppress(UnusableError):
            for attempt in range(3):
                try:
                    found = self._attempt(words, min(limit, MANY), wanted, scored, force=attempt > 0)
                except _NotOursError:
                    self._database.discard()
                    continue
                if found is not None:
                    return found
        return self._scan.best(words, limit=limit, resources=wanted, scored=scored)

    def close(self) -> None:
        """Close the database. The next query reopens it."""
        self._database.close()

    def _attempt(
        self, words: Sequence[str], limit: int, resources: Sequence[str] | None, scored: int, *, force: bool
    ) -> Sequence[FoundNode] | None:
        """Update the index and return the best nodes; None if the map of a result has changed since the update.

        If `force` is True, compare all maps even if this was done recently. Raise `_NotOursError` if an authentication
        code is not valid.
        """
        with self._database.connected() as connection:
            self._check_seal(connection)
            fresh = self._follow(connection, force) if resources is None else self._follow_some(connection, resources)
            connection.execute("BEGIN")
            asking = Asking(SqliteTables(connection), words, limit, scored)
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
        """Add an authentication code to an empty database. Raise `_NotOursError` if a database was filled elsewhere."""
        made, code = connection.execute("SELECT made, code FROM look").fetchone()
        if self._seal.holds(code, b"nodes", str(made).encode()):
            return
        if code is not None or connection.execute("SELECT 1 FROM map UNION ALL SELECT 1 FROM word LIMIT 1").fetchone():
            raise _NotOursError
        connection.execute("UPDATE look SET code = ?", (self._seal.code(b"nodes", str(made).encode()),))

    def _follow(self, connection: Connection, force: bool) -> Collection[str]:
        """Update the index to the current maps, and return the IDs of the maps that were updated or removed."""
        if self._is_followed(connection, force):
            return ()
        with self._following:
            if self._is_followed(connection, force):
                return ()
            state, at = self._maps.state(), time.monotonic()
            number, stale = self._compare(connection)
            self._renew(connection, sorted(stale))
            if state is not None:
                self._look = _Look(_Look.recorded(connection).index, state, at, number)
                self._look.record(connection)
            return stale

    def _is_followed(self, connection: Connection, force: bool) -> bool:
        """Return whether all maps were compared recently and the state of the store is unchanged; False if `force` is
        True.
        """
        if force:
            return False
        state, recorded = self._maps.state(), _Look.recorded(connection)
        return recorded.holds(recorded.index, state) or self._look.holds(recorded.index, state)

    def _compare(self, connection: Connection) -> tuple[int, set[str]]:
        """Return the number of maps, and the IDs of those that are missing in the index, have changed, or no longer
        exist.
        """
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
        """Update the index for the maps `resources` only, and return the IDs of the maps that had changed."""
        stale = [name for name in resources if _version_in(connection, name) != self._maps.version(name)]
        self._renew(connection, stale)
        return stale

    def _renew(self, connection: Connection, resources: Iterable[str]) -> None:
        """Update the maps `resources` in the index. Other processes can write after each `TURN` seconds."""
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
        """Begin a write transaction. Wait up to `patience` seconds for other processes, then raise `OperationalError`."""
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
        """Update one map in the index, or remove it if it does not exist or cannot be read at the moment.

        The version is determined before the nodes are read, so that a change in between is found later.
        """
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
        """Return the nodes of a map: an empty result if it is missing or damaged, or None if it could not be read,
        perhaps temporarily.
        """
        try:
            return self._maps.get(resource_id).walk()
        except ResourceMissing:
            return ()
        except MapCorrupt as error:
            return None if isinstance(error.__cause__, OSError) else ()


def _is_unicode(resource_id: str) -> bool:
    """Return whether the ID has no unpaired surrogate, which SQLite rejects."""
    return isinstance(writable(resource_id), str)


def _version_in(connection: Connection, resource_id: str) -> str | None:
    known: tuple[str] | None = connection.execute(_VERSION, (resource_id,)).fetchone()
    return known and known[0]


def _found(resource_id: str, row: NodeRow, score: float) -> FoundNode:
    head = Node(row.id, row.title, row.type, from_plain(json.loads(row.location)), row.summary)
    return FoundNode(resource_id, head, bool(row.leaf), score)


@functools.cache
def has_fts5() -> bool:
    """Return whether the SQLite library has the full-text extension FTS5, which some systems omit."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(
                "CREATE VIRTUAL TABLE trial USING fts5 (terms, content = '', detail = none, columnsize = 0)"
            )
        except EXCEPTIONS:
            return False
    return True


class Database:
    """The connections to the database file in `folder`. A connection is used by one thread at a time."""

    def __init__(self, folder: Path, patience: float) -> None:
        """`patience` is the number of seconds to wait for another process that writes."""
        self._file = SqliteFile(folder / DATABASE, TABLES, patience=patience)

    @contextmanager
    def connected(self) -> Iterator[sqlite3.Connection]:
        """See `SqliteFile.lent`. Raise `UnusableError` if the file cannot be used or this SQLite has no FTS5."""
        if not has_fts5():
            raise UnusableError
        with self._file.lent() as connection:
            yield connection

    def discard(self) -> None:
        """Delete the file. The next access creates a new one."""
        self._file.discard()

    def exists(self) -> bool:
        """Return whether the database file exists."""
        return self._file.exists()

    def close(self) -> None:
        """Close the idle connections. The next access opens a new one."""
        self._file.close()
