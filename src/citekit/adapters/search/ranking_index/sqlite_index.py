"""A ranking index in SQLite: the index of each document as compressed bytes, and the documents of each term."""

from __future__ import annotations

import json
import os
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection, DatabaseError
from threading import Lock

from citekit.adapters.libraries.sqlite.cache_file import SqliteFile
from citekit.adapters.libraries.sqlite.database import Tables
from citekit.adapters.search.ranking_index.stored_form import StoredDocument, from_bytes, stored, to_bytes
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.library.lexical import term_number
from citekit.domain.ports.ranking_index import PassageVectors
from citekit.domain.ranking.document_index import DocumentIndex
from citekit.domain.ranking.documents import DocumentMatch

DATABASE = "ranking.db"

VERSION = 1
"""The form of the tables and of the data in them."""

KEPT = 48
"""The number of documents whose indexes stay in memory."""

_TABLES = Tables(
    zlib.crc32(f"CTKR {VERSION}".encode()) & 0x7FFFFFFF,
    (
        "CREATE TABLE document (number INTEGER PRIMARY KEY, resource_id TEXT NOT NULL UNIQUE, version TEXT NOT NULL,"
        " pages INTEGER NOT NULL, data BLOB NOT NULL, code BLOB NOT NULL)",
        "CREATE TABLE posting (term INTEGER, document INTEGER, pages INTEGER NOT NULL, count INTEGER NOT NULL,"
        " PRIMARY KEY (term, document)) WITHOUT ROWID",
    ),
)
_VERSIONS = "SELECT resource_id, version FROM document"
_FOUND = (
    "SELECT posting.term, document.resource_id, posting.pages, posting.count FROM posting"
    " JOIN document ON document.number = posting.document WHERE posting.term IN (SELECT value FROM json_each(?))"
)
_FOREIGN = "the file has documents that this home did not write"


class SqliteRankingIndex:
    """A `RankingIndex` in a SQLite file. Threads and processes can share it.

    The data of each document has an authentication code made with the secret key of this CiteKit home. If `get` or
    `put` reads a document that this home did not write, the file is deleted, and all resources then count as not
    indexed.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Open the index in `folder`, which is created by the first `put`."""
        self._file = SqliteFile(os.path.join(folder, DATABASE), _TABLES)  # noqa: PTH118
        self._seal = HomeSeal(folder)
        self._read: OrderedDict[tuple[str, str], StoredDocument] = OrderedDict()
        self._lock = Lock()

    def versions(self, resources: Sequence[str] | None = None) -> Mapping[str, str]:
        """See `RankingIndex.versions`."""
        rows = self._file.read(lambda connection: connection.execute(_VERSIONS).fetchall()) or []
        found = {name: version for name, version in rows if isinstance(name, str) and isinstance(version, str)}
        return found if resources is None else {name: found[name] for name in resources if name in found}

    def put(
        self, resource_id: str, version: str, index: DocumentIndex, names: Iterable[str], passages: PassageVectors
    ) -> bool:
        """See `RankingIndex.put`."""
        document = stored(index, names, passages)
        data = to_bytes(document)
        code = self._seal.code(*_parts(resource_id, version, len(index), data))

        def written(connection: Connection) -> bool:
            self._take(connection, resource_id)
            number: int = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM document").fetchone()[0]
            connection.execute(
                "INSERT INTO document VALUES (?, ?, ?, ?, ?, ?)", (number, resource_id, version, len(index), data, code)
            )
            rows = ((term, number, pages, count) for term, pages, count in document.terms())
            connection.executemany("INSERT INTO posting VALUES (?, ?, ?, ?)", rows)
            return True

        return bool(self._file.write(written))

    def drop(self, resource_id: str) -> None:
        """See `RankingIndex.drop`."""
        self._file.write(lambda connection: self._take(connection, resource_id), create=False)

    def get(self, resource_id: str, version: str) -> StoredDocument | None:
        """See `RankingIndex.get`."""
        key = resource_id, version
        with self._lock:
            if key in self._read:
                self._read.move_to_end(key)
                return self._read[key]
        row = self._file.read(
            lambda connection: connection.execute(
                "SELECT pages, data, code FROM document WHERE resource_id = ? AND version = ?", key
            ).fetchone()
        )
        if row is None:
            return None
        pages, data, code = row
        if not (isinstance(pages, int) and isinstance(data, bytes) and self._holds(code, *key, pages, data)):
            self._file.discard()
            return None
        document = from_bytes(data)
        with self._lock:
            self._read[key] = document
            while len(self._read) > KEPT:
                self._read.popitem(last=False)
        return document

    def sizes(self) -> Mapping[str, int]:
        """See `RankingIndex.sizes`."""
        rows = self._file.read(
            lambda connection: connection.execute("SELECT resource_id, pages FROM document").fetchall()
        )
        return {name: pages for name, pages in rows or () if isinstance(name, str) and isinstance(pages, int)}

    def find(self, terms: Sequence[str]) -> Mapping[str, Sequence[DocumentMatch]]:
        """See `RankingIndex.find`."""
        numbers = {term_number(term): term for term in terms}
        wanted = json.dumps(list(numbers))
        rows = self._file.read(lambda connection: connection.execute(_FOUND, (wanted,)).fetchall())
        found: dict[str, list[DocumentMatch]] = {}
        for number, name, pages, count in rows or ():
            found.setdefault(numbers[number], []).append(DocumentMatch(name, pages, count))
        return found

    def close(self) -> None:
        """Close the file. The next access reopens it."""
        self._file.close()

    def _take(self, connection: Connection, resource_id: str) -> None:
        """Remove a resource. Raise `DatabaseError` if this home did not write it; the caller then re-creates the file."""
        row = connection.execute(
            "SELECT number, version, pages, data, code FROM document WHERE resource_id = ?", (resource_id,)
        ).fetchone()
        if row is None:
            return
        number, version, pages, data, code = row
        if not (
            isinstance(version, str)
            and isinstance(pages, int)
            and isinstance(data, bytes)
            and self._holds(code, resource_id, version, pages, data)
        ):
            raise DatabaseError(_FOREIGN)
        terms = ((term, number) for term, _, _ in from_bytes(data).terms())
        connection.executemany("DELETE FROM posting WHERE term = ? AND document = ?", terms)
        connection.execute("DELETE FROM document WHERE number = ?", (number,))

    def _holds(self, code: object, resource_id: str, version: str, pages: int, data: bytes) -> bool:
        return self._seal.holds(code, *_parts(resource_id, version, pages, data))


def _parts(resource_id: str, version: str, pages: int, data: bytes) -> tuple[bytes, ...]:
    return b"ranking", resource_id.encode("utf-8", "surrogatepass"), version.encode(), b"%d" % pages, data
