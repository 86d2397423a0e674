"""A text index in PostgreSQL, which several machines can share.

The text is stored in compressed blocks. The full-text index (tsvector) records only which blocks contain a word.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from citekit.adapters.libraries.postgres import terms
from citekit.adapters.libraries.postgres.database import Database, changed, id_of, key_of
from citekit.adapters.search.text_index.kept_blocks import KeptBlocks
from citekit.adapters.search.text_index.stored_form import to_bytes
from citekit.domain.ports.text_index import FoundBlock, Generation, IndexedText
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.words import words_of

if TYPE_CHECKING:
    from psycopg import Connection

VERSION = 1
"""The version of the terms and of the blocks in the tables."""

BATCHES = (64, 500)
"""Maximum numbers of blocks that a search reads with its first query and with one of its last: each reads twice as many
as the one before.
"""

LOTS = 64
"""Number of lots among which the blocks are distributed evenly."""

_TOGETHER = (1, 2, 4, 8, 16, 16, 17)
"""Numbers of lots that a search for some of the blocks searches together, one group after another. Their sum is `LOTS`."""

_WORD, _LOT = "wl"
"""The letters before the words and before the number of the lot in the terms of a block."""

_KEYS = "SELECT resource, at FROM citekit_block WHERE space = %s AND terms @@ %s::tsquery"
_EVERY_KEY = "SELECT resource, at FROM citekit_block WHERE space = %s"
_OF_SOME = "SELECT resource, at FROM ({}) AS found WHERE resource = ANY (%s)"
_COUNT = "SELECT count(*) FROM ({} LIMIT %s) AS found"
_BLOCKS = (
    "SELECT b.resource, b.at, t.version, b.data FROM unnest(%s::bytea[], %s::integer[]) AS each (resource, at)"
    " JOIN citekit_block b ON b.space = %s AND b.resource = each.resource AND b.at = each.at"
    " JOIN citekit_text t ON t.space = b.space AND t.resource = b.resource"
)
_NUMBERED = (
    "SELECT b.at, b.data FROM citekit_text t JOIN citekit_block b ON b.space = t.space AND b.resource = t.resource"
    " WHERE t.space = %s AND t.resource = %s AND t.version = %s AND b.at = ANY (%s) ORDER BY b.at"
)
_TEXT = (
    "INSERT INTO citekit_text (space, resource, version, note, blocks) VALUES (%s, %s, %s, '', %s)"
    " ON CONFLICT (space, resource) DO UPDATE SET version = excluded.version, note = '', blocks = excluded.blocks"
)
_BLOCK = "INSERT INTO citekit_block (space, resource, at, data, terms) VALUES (%s, %s, %s, %s, array_to_tsvector(%s::text[]))"
_DELETE_BLOCKS = "DELETE FROM citekit_block WHERE space = %s AND resource = %s"
_DELETE_TEXT = "DELETE FROM citekit_text WHERE space = %s AND resource = %s"
_NOTE = (
    "UPDATE citekit_text t SET note = each.note FROM unnest(%s::bytea[], %s::text[], %s::text[])"
    " AS each (resource, version, note) WHERE t.space = %s AND t.resource = each.resource AND t.version = each.version"
)


class PostgresTextIndex:
    """A `TextIndex` in a database. The texts that one machine has indexed are available to the others.

    The methods raise `StoreUnavailable` if the database cannot be used.
    """

    def __init__(self, database: Database, name: Callable[[], str]) -> None:
        """`name` returns the name of the map store."""
        self._database = database
        self._name = name
        self._kept = KeptBlocks()

    def versions(self, resources: Sequence[str]) -> Mapping[str, str]:
        """See `TextIndex.versions`."""
        asked = self._space, [key_of(name) for name in resources]
        rows = self._database.rows(
            "SELECT resource, version FROM citekit_text WHERE space = %s AND resource = ANY (%s)", asked
        )
        return {id_of(resource): version for resource, version in rows}

    def texts(self) -> Mapping[str, IndexedText]:
        """See `TextIndex.texts`."""
        rows = self._database.rows("SELECT resource, version, note FROM citekit_text WHERE space = %s", (self._space,))
        return {id_of(resource): IndexedText(version, note) for resource, version, note in rows}

    def generation(self) -> Generation | None:
        """See `TextIndex.generation`."""
        rows = self._database.rows("SELECT made, changes FROM citekit_space WHERE id = %s", (self._space,))
        return next((Generation(made, changes) for made, changes in rows), None)

    def note(self, texts: Mapping[str, IndexedText]) -> None:
        """See `TextIndex.note`."""
        names = [key_of(name) for name in texts]
        values = [text.version for text in texts.values()], [text.note for text in texts.values()]
        space = self._space

        def noted(connection: Connection) -> None:
            connection.execute(_NOTE, (names, *values, space))

        self._database.run(noted)

    def put(self, resource_id: str, version: str, blocks: Iterable[TextBlock]) -> bool:
        """See `TextIndex.put`."""
        space, key = self._space, key_of(resource_id)
        made = [
            (at, to_bytes(block), terms.parts(space, _lexemes((key, at), block))) for at, block in enumerate(blocks)
        ]
        rows = [(space, key, at, data, parts[0] if len(parts) == 1 else None) for at, data, parts in made]

        def stored(connection: Connection) -> None:
            connection.execute(_TEXT, (space, key, version, len(rows)))  # other writers of this text wait here
            connection.execute(_DELETE_BLOCKS, (space, key))
            terms.remove_long(connection, space, key)
            with connection.cursor() as cursor:
                cursor.executemany(_BLOCK, rows)
            terms.add_long(connection, space, (((key, at), parts) for at, _, parts in made))
            changed(connection, space)

        self._database.run(stored)
        return True

    def drop(self, resource_id: str) -> None:
        """See `TextIndex.drop`."""
        asked = space, _ = self._space, key_of(resource_id)

        def dropped(connection: Connection) -> None:
            if connection.execute(_DELETE_TEXT, asked).rowcount:
                connection.execute(_DELETE_BLOCKS, asked)
                terms.remove_long(connection, *asked)
                changed(connection, space)

        self._database.run(dropped)

    def size(self, resource_id: str, version: str) -> int:
        """See `TextIndex.size`."""
        asked = self._space, key_of(resource_id), version
        query = "SELECT blocks FROM citekit_text WHERE space = %s AND resource = %s AND version = %s"
        return next((int(blocks) for (blocks,) in self._database.rows(query, asked)), 0)

    def blocks(self, resource_id: str, version: str, numbers: Sequence[int]) -> Mapping[int, TextBlock]:
        """See `TextIndex.blocks`."""
        rows = self._database.rows(_NUMBERED, (self._space, key_of(resource_id), version, list(numbers)))
        blocks = {at: self._block(resource_id, data) for at, data in rows}
        found = {at: block for at, block in blocks.items() if block is not None}
        return found if len(found) == len(blocks) else {}

    def find(
        self, words: Sequence[str], versions: Mapping[str, str], *, every: bool = True
    ) -> Iterator[tuple[str, TextBlock]]:
        """See `TextIndex.find`. Resources are in the order of their IDs."""
        current = self.versions(list(versions))
        names = [name for name, version in versions.items() if current.get(name) == version]
        lexemes: list[terms.Lexeme] = [(_WORD + word, False) for word in words]
        condition = [[each] for each in lexemes] if every else [lexemes] if lexemes else []
        for each in self._found(sorted(self._keys(condition, names))) if names else ():
            if each.version == versions[each.resource_id]:
                yield each.resource_id, each.block

    def count_everywhere(self, words: Sequence[str], most: int) -> int:
        """See `TextIndex.count_everywhere`."""
        query, values = self._having(_all_of(words))
        return int(self._database.rows(_COUNT.format(query), [*values, most])[0][0])

    def find_everywhere(self, words: Sequence[str], *, spread: bool = False) -> Iterator[FoundBlock]:
        """See `TextIndex.find_everywhere`."""
        if not spread:
            yield from self._found(sorted(self._keys(_all_of(words))))
            return
        lots = iter(range(LOTS))
        for number in _TOGETHER:
            some = [(f"{_LOT}{lot}", False) for lot in islice(lots, number)]
            yield from self._found(sorted(self._keys([*_all_of(words), some]), key=_hash))

    @property
    def _space(self) -> int:
        """The ID of the space of this index (see `Database.space`).

        Another version of Unicode in Python folds words differently, so it has another index.
        """
        return self._database.space(f"texts {VERSION} {unicodedata.unidata_version} {self._name()}")

    def _keys(self, condition: terms.Condition, names: Sequence[str] | None = None) -> list[terms.Key]:
        """Return the keys of the blocks that fulfill the condition, in all resources or in those with these names."""
        query, values = self._having(condition)
        if names is not None:
            query, values = _OF_SOME.format(query), [*values, [key_of(name) for name in names]]
        return [(resource, at) for resource, at in self._database.rows(query, values)]

    def _having(self, condition: terms.Condition) -> tuple[str, list[object]]:
        """Return a query, with its values, for the keys of the blocks that fulfill the condition."""
        if not condition:
            return _EVERY_KEY, [self._space]
        long, values = terms.long_rows(self._space, condition)
        return f"{_KEYS} UNION ALL {long}", [self._space, terms.query(self._space, condition), *values]

    def _found(self, keys: Sequence[terms.Key]) -> Iterator[FoundBlock]:
        """Yield the blocks with these keys, in this order, except removed or damaged ones."""
        rest, (number, most) = iter(keys), BATCHES
        while batch := list(islice(rest, number)):
            number = min(2 * number, most)
            rows = self._database.rows(_BLOCKS, ([name for name, _ in batch], [at for _, at in batch], self._space))
            blocks = {(resource, at): (version, data) for resource, at, version, data in rows}
            for key in batch:
                version, data = blocks.get(key, ("", None))
                block = None if data is None else self._block(id_of(key[0]), data)
                if block is not None:
                    yield FoundBlock(id_of(key[0]), version, key[1], block)

    def _block(self, resource_id: str, data: bytes) -> TextBlock | None:
        """Return a stored block; None if it is damaged, after removing the text of the resource from the index."""
        try:
            return self._kept.of(data)
        except (zlib.error, ValueError, LookupError, TypeError):
            self.drop(resource_id)
            return None


def _all_of(words: Sequence[str]) -> list[list[terms.Lexeme]]:
    return [[(_WORD + word, False)] for word in words]


def _lexemes(key: terms.Key, block: TextBlock) -> list[str]:
    return [f"{_LOT}{_hash(key) % LOTS}", *(_WORD + word for word in set(words_of(block.text)))]


def _hash(key: terms.Key) -> int:
    return zlib.crc32(b"%s %d" % key)
