"""A ranking index in SQLite: the index of each document as compressed bytes, and the documents of each term.

The latter are in a full-text index (FTS5), which appends and merges segments. With a B-tree, the cost of adding a
document would grow with the number of documents.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from sqlite3 import Connection, DatabaseError
from typing import NamedTuple

from citekit.adapters.libraries.sqlite.cache_file import SqliteFile
from citekit.adapters.libraries.sqlite.database import Tables
from citekit.adapters.search.ranking_index.stored_form import (
    DocumentMemory,
    StoredDocument,
    from_bytes,
    stored,
    to_bytes,
)
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.library.lexical import term_number
from citekit.domain.ports.ranking_index import DocumentFacts, PassageVectors
from citekit.domain.ranking.document_index import DocumentIndex
from citekit.domain.ranking.documents import DocumentMatches

DATABASE = "ranking.db"

VERSION = 2
"""The version of the tables and of the format of the data in them."""

_TABLES = Tables(
    zlib.crc32(f"CTKR {VERSION}".encode()) & 0x7FFFFFFF,
    (
        "CREATE TABLE document (number INTEGER PRIMARY KEY, resource_id TEXT NOT NULL UNIQUE, version TEXT NOT NULL,"
        " pages INTEGER NOT NULL, data BLOB NOT NULL, code BLOB NOT NULL)",
        "CREATE VIRTUAL TABLE term USING fts5 (tokens, content = '', detail = none, columnsize = 0, tokenize = 'ascii')",
        "CREATE VIRTUAL TABLE posting USING fts5vocab (term, instance)",
    ),
)
_DOCUMENTS = "SELECT resource_id, version, pages, number FROM document"
_FOUND = "SELECT term, group_concat(doc) FROM posting WHERE term >= ? AND term < ? GROUP BY term"
_ADD = "INSERT INTO term (rowid, tokens) VALUES (?, ?)"
_DELETE = "INSERT INTO term (term, rowid, tokens) VALUES ('delete', ?, ?)"
_TOKEN = re.compile(r"[0-9a-f]{8}p(\d{1,9})c(\d{1,9})")
_FOREIGN = "the file has documents that this home did not write"


_NO_DOCUMENTS: Mapping[str, DocumentFacts] = {}


class _Listed(NamedTuple):
    """The documents in the file, read through `connection` when the database was in the state `state`."""

    connection: Connection
    state: tuple[int, int]
    documents: Mapping[str, DocumentFacts]
    names: Mapping[int, str]
    """The resource IDs of the documents by their numbers."""


class SqliteRankingIndex:
    """A `RankingIndex` in a SQLite file. Threads and processes can share it.

    The data of each document has an authentication code of this CiteKit home. If `get`, `put`, or `drop` reads a
    document that this home did not write, the file is deleted, and all resources then count as not indexed.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Open the index in `folder`, which is created by the first `put`."""
        self._file = SqliteFile(os.path.join(folder, DATABASE), _TABLES)  # noqa: PTH118
        self._seal = HomeSeal(folder)
        self._read = DocumentMemory()
        self._listed: _Listed | None = None

    def documents(self) -> Mapping[str, DocumentFacts]:
        """See `RankingIndex.documents`."""
        listed = self._file.read(self._list)
        return _NO_DOCUMENTS if listed is None else listed.documents

    def _list(self, connection: Connection) -> _Listed:
        # the first number changes with the writes of other connections, the second with those of this one
        state = connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes
        known = self._listed
        if known is not None and known.connection is connection and known.state == state:
            return known
        rows = [
            (name, DocumentFacts(version, pages), number)
            for name, version, pages, number in connection.execute(_DOCUMENTS)
            if isinstance(name, str) and isinstance(version, str) and isinstance(pages, int)
        ]
        documents, names = {name: facts for name, facts, _ in rows}, {number: name for name, _, number in rows}
        self._listed = listed = _Listed(connection, state, documents, names)
        return listed

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
            connection.execute(_ADD, (number, _tokens(document)))
            return True

        return bool(self._file.write(written))

    def drop(self, resource_id: str) -> None:
        """See `RankingIndex.drop`."""
        self._file.write(lambda connection: self._take(connection, resource_id), create=False)

    def get(self, resource_id: str, version: str) -> StoredDocument | None:
        """See `RankingIndex.get`."""
        key = resource_id, version
        known = self._read.get(key)
        if known is not None:
            return known
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
        return self._read.put(key, document)

    def find(self, terms: Sequence[str]) -> Mapping[str, Sequence[DocumentMatches]]:
        """See `RankingIndex.find`."""
        return self._file.read(lambda connection: self._found(connection, terms)) or {}

    def _found(self, connection: Connection, terms: Sequence[str]) -> Mapping[str, Sequence[DocumentMatches]]:
        while True:
            listed = self._list(connection)
            found = {term: list(_matches(connection, term, listed.names)) for term in terms}
            if self._list(connection) is listed:  # else the numbers may mean other documents
                return {term: matches for term, matches in found.items() if matches}

    def close(self) -> None:
        """Close the file. The next access reopens it."""
        self._listed = None
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
        connection.execute(_DELETE, (number, _tokens(from_bytes(data))))
        connection.execute("DELETE FROM document WHERE number = ?", (number,))

    def _holds(self, code: object, resource_id: str, version: str, pages: int, data: bytes) -> bool:
        return self._seal.holds(code, *_parts(resource_id, version, pages, data))


def _matches(connection: Connection, term: str, names: Mapping[int, str]) -> Iterator[DocumentMatches]:
    """Yield the documents of a term, grouped by token. `names` has the resource IDs by number."""
    start = f"{term_number(term):08x}"
    for token, numbers in connection.execute(_FOUND, (start + "p", start + "q")).fetchall():
        counts = _TOKEN.fullmatch(token)
        known = [names[number] for number in map(int, numbers.split(",")) if number in names]
        if counts is not None and known:  # else this home did not write it
            yield DocumentMatches(int(counts[1]), int(counts[2]), known)


def _tokens(document: StoredDocument) -> str:
    return " ".join(starmap(_token, document.terms()))


def _token(term: int, pages: int, count: int) -> str:
    """Return a token for a document: the number of the term, the number of pages with it, and how often it occurs."""
    return f"{term:08x}p{pages}c{count}"


def _parts(resource_id: str, version: str, pages: int, data: bytes) -> tuple[bytes, ...]:
    return b"ranking", resource_id.encode("utf-8", "surrogatepass"), version.encode(), b"%d" % pages, data
