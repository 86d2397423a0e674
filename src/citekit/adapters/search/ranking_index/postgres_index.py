"""A ranking index in PostgreSQL, which several machines can share.

A GIN index finds the documents that contain a term. A row has up to `TERMS` terms of a document, because one row for
each term would take much more storage. Each term is stored with the ID of its space (see `Database.space`), so that
queries do not find the documents of other indexes.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from citekit.adapters.libraries.postgres.database import Database, changed, id_of, key_of
from citekit.adapters.search.ranking_index.stored_form import (
    DocumentMemory,
    StoredDocument,
    from_bytes,
    stored,
    to_bytes,
)
from citekit.domain.library.lexical import term_number
from citekit.domain.ports.ranking_index import DocumentFacts, PassageVectors
from citekit.domain.ranking.document_index import DocumentIndex
from citekit.domain.ranking.documents import DocumentMatches

if TYPE_CHECKING:
    from psycopg import Connection

VERSION = 1
"""The version of the format of the data in the tables."""

TERMS = 64
"""Maximum number of terms in a row. A row of this size is so small that PostgreSQL does not compress it."""

_PUT = (
    "INSERT INTO citekit_ranked (space, resource, version, pages, data) VALUES (%s, %s, %s, %s, %s)"
    " ON CONFLICT (space, resource) DO UPDATE SET version = excluded.version, pages = excluded.pages,"
    " data = excluded.data"
)
_PUT_TERMS = (
    "INSERT INTO citekit_ranked_term (space, resource, part, terms, pages, counts)"
    " VALUES (%s, %s, %s, %s::bigint[], %s::integer[], %s::integer[])"
)
_DROP = "DELETE FROM citekit_ranked WHERE space = %s AND resource = %s"
_DROP_TERMS = "DELETE FROM citekit_ranked_term WHERE space = %s AND resource = %s"
_GET = "SELECT data FROM citekit_ranked WHERE space = %s AND resource = %s AND version = %s"
_EVERY = "SELECT resource, version, pages FROM citekit_ranked WHERE space = %s"
_CHANGES = "SELECT made, changes FROM citekit_space WHERE id = %s"
_FOUND = (
    "SELECT term, resource, pages[at], counts[at] FROM unnest(%s::bigint[]) AS asked (term)"
    " JOIN citekit_ranked_term ON terms @> ARRAY[term] CROSS JOIN LATERAL array_position(terms, term) AS at"
)


class PostgresRankingIndex:
    """A `RankingIndex` in a database. The documents that one machine has indexed are available to the others.

    The methods raise `StoreUnavailable` if the database cannot be used.
    """

    def __init__(self, database: Database, name: Callable[[], str]) -> None:
        """`name` returns a text that names the format of the document indexes and the map store."""
        self._database = database
        self._name = name
        self._read = DocumentMemory()
        self._listed: tuple[object, Mapping[str, DocumentFacts]] | None = None

    def documents(self) -> Mapping[str, DocumentFacts]:
        """See `RankingIndex.documents`."""
        space, known = self._space, self._listed

        def read(connection: Connection) -> tuple[object, Mapping[str, DocumentFacts]]:
            state = space, connection.execute(_CHANGES, (space,)).fetchone()
            if known is not None and known[0] == state:
                return known
            rows = connection.execute(_EVERY, (space,)).fetchall()
            return state, {id_of(resource): DocumentFacts(version, pages) for resource, version, pages in rows}

        self._listed = listed = self._database.run(read)
        return listed[1]

    def put(
        self, resource_id: str, version: str, index: DocumentIndex, names: Iterable[str], passages: PassageVectors
    ) -> bool:
        """See `RankingIndex.put`."""
        document = stored(index, names, passages)
        space, key = self._space, key_of(resource_id)
        row = space, key, version, len(index), to_bytes(document)
        found = sorted((_term(space, number), pages, count) for number, pages, count in document.terms())
        parts = [
            (space, key, first // TERMS, *map(list, zip(*found[first : first + TERMS], strict=True)))
            for first in range(0, len(found), TERMS)
        ]

        def written(connection: Connection) -> None:
            connection.execute(_PUT, row)  # other processes that store this document wait here
            connection.execute(_DROP_TERMS, (space, key))
            with connection.cursor() as cursor:
                cursor.executemany(_PUT_TERMS, parts)
            changed(connection, space)

        self._database.run(written)
        return True

    def drop(self, resource_id: str) -> None:
        """See `RankingIndex.drop`."""
        asked = space, _ = self._space, key_of(resource_id)

        def dropped(connection: Connection) -> None:
            if connection.execute(_DROP, asked).rowcount:
                connection.execute(_DROP_TERMS, asked)
                changed(connection, space)

        self._database.run(dropped)

    def get(self, resource_id: str, version: str) -> StoredDocument | None:
        """See `RankingIndex.get`. A damaged document is removed."""
        key = resource_id, version
        known = self._read.get(key)
        if known is not None:
            return known
        rows = self._database.rows(_GET, (self._space, key_of(resource_id), version))
        if not rows:
            return None
        try:
            document = from_bytes(rows[0][0])
        except (zlib.error, ValueError, LookupError, TypeError):
            self.drop(resource_id)
            return None
        return self._read.put(key, document)

    def find(self, terms: Sequence[str]) -> Mapping[str, Sequence[DocumentMatches]]:
        """See `RankingIndex.find`."""
        space = self._space
        asked = {term: _term(space, term_number(term)) for term in terms}
        numbers = list(set(asked.values()))
        rows = self._database.rows(_FOUND, (numbers,))
        found: dict[int, dict[tuple[int, int], list[str]]] = {}
        for number, resource, pages, count in rows:
            found.setdefault(number, {}).setdefault((pages, count), []).append(id_of(resource))
        return {
            term: [DocumentMatches(*numbers, names) for numbers, names in found[number].items()]
            for term, number in asked.items()
            if number in found
        }

    @property
    def _space(self) -> int:
        """The ID of the space of this index (see `Database.space`).

        Another version of Unicode in Python splits texts differently, so it has another index.
        """
        return self._database.space(f"ranking {VERSION} {unicodedata.unidata_version} {self._name()}")


def _term(space: int, number: int) -> int:
    return space << 32 | number
