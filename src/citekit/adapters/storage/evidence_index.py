"""The index of evidence: the object for each key, the size of each object, and the order of last access."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from citekit.adapters.libraries.sqlite.cache_file import SqliteFile
from citekit.adapters.libraries.sqlite.database import Tables
from citekit.adapters.storage.evidence_record import EvidenceRecord
from citekit.adapters.system.home_seal import CODE_SIZE, HomeSeal
from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey

if TYPE_CHECKING:
    from sqlite3 import Connection

DATABASE = "evidence.db"

TABLES = Tables(
    0x434B4531,
    (
        "CREATE TABLE evidence (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, object BLOB NOT NULL,"
        " record TEXT NOT NULL)",
        "CREATE INDEX evidence_by_object ON evidence (object)",
        "CREATE TABLE object (digest BLOB PRIMARY KEY, used REAL NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE INDEX object_by_use ON object (used)",
        "CREATE TABLE total (size INTEGER NOT NULL)",
    ),
    shared=True,  # contains no text from files; users with read access to a shared home find evidence through it
)
"""The tables. Digests are stored as 32 bytes. `used` is the last access time in seconds since the epoch.

`total` has one row, the sum of all sizes. It is empty until the objects have been counted on the disk.
"""

_NAME = b"evidence"

BATCH = 500
"""Maximum number of objects that `EvidenceIndex.oldest` returns. A recount also writes this many objects at a time."""

_FIND = "SELECT object, record FROM evidence WHERE key = ?"
_REMEMBER = "INSERT OR REPLACE INTO evidence (key, object, record) VALUES (?, ?, ?)"
_FORGET = "DELETE FROM evidence WHERE object = ?"
_ADD = "INSERT OR IGNORE INTO object (digest, used, size) VALUES (?, ?, ?)"
_USE = "UPDATE object SET used = ? WHERE digest = ? AND used < ?"
_DROP = "DELETE FROM object WHERE digest = ? AND used = ?"
_OLDEST = "SELECT digest, used, size FROM object WHERE (used, digest) > (?, ?) ORDER BY used, digest LIMIT ?"
_BETWEEN = "SELECT digest, used, size FROM object WHERE digest BETWEEN ? AND ?"
_GROW = "UPDATE total SET size = size + ?"
_TOTAL = "SELECT size FROM total"
_COUNT = "INSERT INTO total SELECT coalesce(sum(size), 0) FROM object"


@frozen
class Known:
    """An indexed object: its size in bytes, and a lower bound of its last access time (`used`, seconds since the
    epoch).
    """

    digest: Digest
    used: float
    size: int


class EvidenceIndex:
    """Reads and writes the index. SQLite errors are not raised; they count as cache misses.

    Each transaction that changes rows of `object` changes `total` by the same amount. A record needs an authentication
    code that binds it to its key, its object, and this home; otherwise, it counts as missing. The other tables affect
    only the order of eviction.
    """

    def __init__(self, database: SqliteFile, seal: HomeSeal) -> None:
        self._database = database
        self._seal = seal

    def find(self, key: EvidenceKey) -> EvidenceRecord | None:
        """Return the record of the evidence, or None."""
        name = _blob(key.digest)
        row = self._database.read(lambda each: each.execute(_FIND, (name,)).fetchone())
        match row:
            case (bytes(blob), str(text)) if self._seal.holds(_code_in(text), _NAME, name, blob, _plain(text)):
                return _record(blob, text[2 * CODE_SIZE :])
        return None

    def remember(self, key: EvidenceKey, record: EvidenceRecord, now: float) -> None:
        """Store the record, and its object if the index no longer has it."""
        name, blob = _blob(key.digest), _blob(record.digest)
        plain = json.dumps(record.to_plain(), separators=(",", ":"))
        text = self._seal.code(_NAME, name, blob, plain.encode()).hex() + plain

        def write(connection: Connection) -> None:
            connection.execute(_REMEMBER, (name, blob, text))
            _grow(connection, _added(connection, [(blob, now, record.size)]))

        self._database.write(write)

    def expect(self, digest: Digest, size: int, now: float) -> int | None:
        """Register an object before it is created, so that the index knows it even if the process is killed.

        Return the total size of all objects in bytes, or None if they have not been counted or the index cannot be
        written.
        """

        def write(connection: Connection) -> int | None:
            _grow(connection, _added(connection, [(_blob(digest), now, size)]))
            connection.execute(_USE, (now, _blob(digest), now))
            row = connection.execute(_TOTAL).fetchone()
            return row[0] if row is not None else None

        return self._database.write(write)

    def total(self) -> int | None:
        """Return the total size of all objects in bytes, or None if they have not been counted."""
        row = self._database.read(lambda each: each.execute(_TOTAL).fetchone())
        return row[0] if row is not None else None

    def oldest(self, after: Known | None = None) -> list[Known]:
        """Return at most `BATCH` objects after `after`, least recently used first."""
        last = (after.used, _blob(after.digest)) if after is not None else (float("-inf"), b"")
        rows = self._database.read(lambda each: each.execute(_OLDEST, (*last, BATCH)).fetchall())
        return list(_known(rows or ()))

    def between(self, first: Digest, last: Digest) -> list[Known]:
        """Return the objects whose digests are from `first` to `last`, inclusive."""
        rows = self._database.read(lambda each: each.execute(_BETWEEN, (_blob(first), _blob(last))).fetchall())
        return list(_known(rows or ()))

    def learn(self, objects: Sequence[Known]) -> None:
        """Add objects that the index does not have."""
        rows = [(_blob(each.digest), each.used, each.size) for each in objects]
        if rows:
            self._database.write(lambda each: _grow(each, _added(each, rows)))

    def update(self, gone: Iterable[Known], used: Mapping[Digest, float]) -> None:
        """Remove the `gone` objects and their keys unless they were accessed since, and record the accesses in `used`."""
        lost, later = list(gone), [(time, _blob(digest), time) for digest, time in used.items()]

        def write(connection: Connection) -> None:
            connection.executemany(_USE, later)
            for each in lost:
                if connection.execute(_DROP, (_blob(each.digest), each.used)).rowcount:
                    connection.execute(_FORGET, (_blob(each.digest),))
                    _grow(connection, -each.size)

        if lost or later:
            self._database.write(write, create=False)

    def count(self) -> None:
        """Compute the total size again."""

        def write(connection: Connection) -> None:
            connection.execute("DELETE FROM total")
            connection.execute(_COUNT)

        self._database.write(write, create=False)


def _added(connection: Connection, rows: Sequence[tuple[bytes, float, int]]) -> int:
    """Insert objects. Return the total size in bytes of those that are new."""
    return sum(row[2] for row in rows if connection.execute(_ADD, row).rowcount)


def _grow(connection: Connection, size: int) -> None:
    if size:
        connection.execute(_GROW, (size,))


def _blob(digest: Digest) -> bytes:
    return bytes.fromhex(digest.hex)


def _known(rows: Iterable[tuple[object, object, object]]) -> Iterator[Known]:
    for row in rows:
        match row:
            case (bytes(blob), float(used), int(size)) if len(blob) == 32:
                yield Known(Digest(blob.hex()), used, size)


def _code_in(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text[: 2 * CODE_SIZE])
    except ValueError:
        return None


def _plain(text: str) -> bytes:
    return text[2 * CODE_SIZE :].encode("utf-8", "surrogatepass")


def _record(blob: bytes, text: str) -> EvidenceRecord | None:
    try:
        return EvidenceRecord.from_plain(Digest(blob.hex()), json.loads(text))
    except (ValueError, RecursionError):
        return None
