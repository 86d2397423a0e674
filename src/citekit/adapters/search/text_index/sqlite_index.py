"""A text index in SQLite (FTS5).

The text is stored in compressed blocks. The full-text index records only which blocks contain a word.
"""

from __future__ import annotations

import json
import os
import unicodedata
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from sqlite3 import Connection, DatabaseError
from typing import Any, cast

from citekit.adapters.libraries.sqlite.cache_file import SqliteFile, UnusableError
from citekit.adapters.libraries.sqlite.database import Tables
from citekit.adapters.search.text_index.kept_blocks import KeptBlocks
from citekit.adapters.search.text_index.stored_form import from_bytes, to_bytes
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.ports.text_index import FoundBlock, Generation, IndexedText
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.words import words_of

DATABASE = "text.db"

VERSION = 3
"""The version of the tables and of the format of the blocks in them."""

BATCH = 500
"""Maximum number of blocks that a search of a resource reads at once. A search for some of the blocks of everything
reads this many block numbers at once.
"""

FEW = 8
"""Maximum number of blocks that a search of a resource reads first, for callers that need only one."""

FOUND = 64
"""Maximum number of blocks that a search of everything reads at once."""

SCANNED = 16_384
"""If fewer blocks than this match, a search for some of them goes through the numbers of all, which is faster then."""

SAMPLE = 48
"""Approximate number of evenly spaced positions in the index. A search for some of the blocks first takes the next
matching block from each position.
"""

_TABLES = Tables(
    zlib.crc32(f"CTKT {VERSION} {unicodedata.unidata_version}".encode()) & 0x7FFFFFFF,
    (
        "CREATE TABLE text (resource_id TEXT PRIMARY KEY, first INTEGER NOT NULL, blocks INTEGER NOT NULL,"
        " version TEXT NOT NULL, note TEXT NOT NULL, code BLOB NOT NULL) WITHOUT ROWID",
        "CREATE INDEX text_first ON text (first) WHERE blocks > 0",
        "CREATE TABLE generation (made TEXT NOT NULL, changes INTEGER NOT NULL)",
        "INSERT INTO generation VALUES (hex(randomblob(16)), 0)",
        "CREATE TABLE block (number INTEGER PRIMARY KEY, data BLOB NOT NULL, code BLOB NOT NULL)",
        "CREATE VIRTUAL TABLE term USING fts5 (terms, content = '', detail = none, columnsize = 0, tokenize = 'ascii')",
    ),
)
"""The tables are re-created if the version of Unicode changes, because words are then folded differently."""

_ALL = "SELECT * FROM text"
_TEXTS = "SELECT * FROM text WHERE resource_id IN (SELECT value FROM json_each(?))"
_OF_FIRST = "SELECT * FROM text WHERE first IN (SELECT value FROM json_each(?)) AND blocks > 0"
_HOLDING = "SELECT rowid FROM term WHERE term MATCH ? AND rowid >= ? ORDER BY rowid LIMIT ?"
_FIRST_OF_PARTS = "SELECT min(rowid) FROM term WHERE term MATCH ? GROUP BY rowid / ? ORDER BY 1"
_EVERY = "SELECT number FROM block WHERE number >= ? ORDER BY number LIMIT ?"
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM term WHERE term MATCH ? LIMIT ?)"
_COUNT_EVERY = "SELECT count(*) FROM (SELECT 1 FROM block LIMIT ?)"
_FIRSTS = (
    "SELECT value, (SELECT first FROM text WHERE first <= value AND blocks > 0 ORDER BY first DESC LIMIT 1)"
    " FROM json_each(?)"
)
"""Selects the numbers of blocks, each with the number of the first block of its resource."""

_OF_NUMBERS = "SELECT number, data, code FROM block WHERE number IN (SELECT value FROM json_each(?))"
_END = "SELECT coalesce(max(number) + 1, 0) FROM block"
_OF_RANGE = "SELECT number, data, code FROM block WHERE number >= ? AND number < ? ORDER BY number LIMIT ?"
_MATCHING = (
    "SELECT number, data, code FROM term CROSS JOIN block ON block.number = term.rowid"
    " WHERE term MATCH ? AND term.rowid >= ? AND term.rowid < ? ORDER BY term.rowid LIMIT ?"
)

LEAST_FREE_PAGES = 256
"""The file is rewritten only if it has more than this number of free pages (a megabyte)."""

_FOREIGN = "the file has text that this home did not write"

_CHANGE = "UPDATE generation SET changes = changes + 1"

_Row = tuple[str, int, int, str, str]
"""`(resource ID, number of the first block, number of blocks, version, note)`"""

_ROW_TYPES = [str, int, int, str, str, bytes]
"""The types of the columns of the table of texts."""


class SqliteTextIndex:
    """A `TextIndex` in a SQLite file. Threads and processes can share it.

    Rows have authentication codes of this CiteKit home. A resource with a row that this home did not write counts as
    not indexed. If a method reads a block that this home did not write, it deletes the file, and all resources then
    count as not indexed.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Open the index in `folder`, which is created by the first `put`."""
        self._file = SqliteFile(os.path.join(folder, DATABASE), _TABLES)  # noqa: PTH118
        self._seal = HomeSeal(folder)
        self._kept = KeptBlocks()

    def versions(self, resources: Sequence[str]) -> Mapping[str, str]:
        """See `TextIndex.versions`."""
        return {name: version for name, _, _, version, _ in self._texts(resources)}

    def texts(self) -> Mapping[str, IndexedText]:
        """See `TextIndex.texts`."""
        return {name: IndexedText(version, note) for name, _, _, version, note in self._own_rows(_ALL)}

    def generation(self) -> Generation | None:
        """See `TextIndex.generation`."""
        match self._file.read(lambda connection: connection.execute("SELECT * FROM generation").fetchone()):
            case (str(made), int(changes)):
                return Generation(made, changes)
        return None

    def note(self, texts: Mapping[str, IndexedText]) -> None:
        """See `TextIndex.note`."""

        def noted(connection: Connection) -> bool:
            found = connection.execute(_TEXTS, (_json(texts),)).fetchall()
            for name, first, count, version, _ in filter(None, map(self._own_row, found)):
                if texts[name].version == version:
                    self._insert(connection, (name, first, count, version, texts[name].note))
            return True

        self._file.write(noted, create=False)

    def put(self, resource_id: str, version: str, blocks: Iterable[TextBlock]) -> bool:
        """See `TextIndex.put`."""
        if not _is_unicode(resource_id):
            return False
        made = [(to_bytes(block), _terms(block)) for block in blocks]

        def stored(connection: Connection) -> bool:
            self._take(connection, resource_id)
            first: int = connection.execute(_END).fetchone()[0]
            rows = [
                (first + at, data, self._seal.code(*block_parts(resource_id, version, at, data)))
                for at, (data, _) in enumerate(made)
            ]
            connection.executemany("INSERT INTO block VALUES (?, ?, ?)", rows)
            terms = ((first + at, terms) for at, (_, terms) in enumerate(made))
            connection.executemany("INSERT INTO term (rowid, terms) VALUES (?, ?)", terms)
            self._insert(connection, (resource_id, first, len(made), version, ""))
            connection.execute(_CHANGE)
            return True

        return bool(self._file.write(stored))

    def drop(self, resource_id: str) -> None:
        """See `TextIndex.drop`. The file is rewritten if much of it is then free."""
        if not _is_unicode(resource_id):
            return

        def dropped(connection: Connection) -> bool:
            is_dropped = self._take(connection, resource_id)
            if is_dropped:
                connection.execute(_CHANGE)
            return is_dropped

        if self._file.write(dropped, create=False):
            self._shrink()

    def _shrink(self) -> None:
        """Rewrite the file without its free pages if they are more than half of it and more than `LEAST_FREE_PAGES`.

        Do nothing if another process is using the file.
        """
        with suppress(UnusableError), self._file.lent() as connection:
            free, pages = (
                connection.execute(f"PRAGMA {each}").fetchone()[0] for each in ("freelist_count", "page_count")
            )
            if free > LEAST_FREE_PAGES and free > pages / 2:
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self, resource_id: str, version: str) -> int:
        """See `TextIndex.size`."""
        return next((count for _, _, count, known, _ in self._texts([resource_id]) if known == version), 0)

    def blocks(self, resource_id: str, version: str, numbers: Sequence[int]) -> Mapping[int, TextBlock]:
        """See `TextIndex.blocks`."""
        for name, first, count, known, _ in self._texts([resource_id]):
            asked = sorted({number for number in numbers if 0 <= number < count})
            if known != version or not asked:
                continue
            rows = self._numbered([first + number for number in asked])
            read = [(number, *rows.get(first + number, (b"", None))) for number in asked]
            holds = self._seal.checker()
            if all(_is_own(holds, code, name, version, number, data) for number, data, code in read):
                return {number: self._kept.of(data) for number, data, _ in read}
            self._file.discard()
        return {}

    def find(
        self, words: Sequence[str], versions: Mapping[str, str], *, every: bool = True
    ) -> Iterator[tuple[str, TextBlock]]:
        """See `TextIndex.find`."""
        match = _phrase(words, " " if every else " OR ")
        is_whole = True
        for name, first, count, version, _ in self._texts(list(versions)):
            if versions[name] != version:
                continue
            at, end, most = first, first + count, FEW
            while at < end:
                found, holds = self._rows(match, at, end, most), self._seal.checker()
                for number, data, code in found:
                    if _is_own(holds, code, name, version, number - first, data):
                        yield name, self._kept.of(data)
                    else:
                        is_whole = False
                at = found[-1][0] + 1 if len(found) == most else end
                most = BATCH
        if not is_whole:
            self._file.discard()

    def count_everywhere(self, words: Sequence[str], most: int) -> int:
        """See `TextIndex.count_everywhere`."""
        query, values = (_COUNT, (_phrase(words), most)) if words else (_COUNT_EVERY, (most,))
        found = self._file.read(lambda connection: connection.execute(query, values).fetchone())
        return found[0] if found else 0

    def find_everywhere(self, words: Sequence[str], *, spread: bool = False) -> Iterator[FoundBlock]:
        """See `TextIndex.find_everywhere`."""
        before = self.generation()
        is_whole = yield from self._found_spread(words) if spread else self._found_sorted(words)
        if not is_whole and self.generation() == before:
            self._file.discard()

    def _found_sorted(self, words: Sequence[str]) -> Generator[FoundBlock, None, bool]:
        numbers = self._numbers(words)
        owned = [number for _, own in self._by_resource(numbers) for number in own]
        is_whole = yield from self._found(owned)
        return is_whole and len(owned) == len(numbers)

    def _found_spread(self, words: Sequence[str]) -> Generator[FoundBlock, None, bool]:
        """Yield blocks from all over the index first, then the others, whose numbers are read only as needed."""
        sample = self._sample(words)
        is_whole = yield from self._found(sample)
        known, start = set(sample), 0
        while is_whole and (numbers := self._numbers(words, start, BATCH)):
            is_whole = yield from self._found([number for number in numbers if number not in known])
            start = numbers[-1] + 1
        return is_whole

    def _numbers(self, words: Sequence[str], start: int = 0, most: int = -1) -> list[int]:
        """Return the numbers from `start` of the first `most` blocks (default: all) that contain all of the words, or
        of all blocks if there are no words, in order.
        """
        query, values = _holding(words)
        rows = self._file.read(lambda connection: connection.execute(query, (*values, start, most)).fetchall()) or []
        return [number for (number,) in rows]

    def _sample(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of some blocks that contain all of the words, from all over the index.

        The cost does not grow with the number of these blocks if there are more than `SCANNED`.
        """
        query, values = _holding(words)
        is_scanned = bool(words) and self.count_everywhere(words, SCANNED) < SCANNED

        def chosen(connection: Connection) -> list[int]:
            (end,) = connection.execute(_END).fetchone()
            step = max(1, end // SAMPLE)
            if is_scanned:
                return [number for (number,) in connection.execute(_FIRST_OF_PARTS, (*values, step))]
            rows = (connection.execute(query, (*values, start, 1)).fetchone() for start in range(0, end, step))
            return [row[0] for row in rows if row is not None]

        return list(dict.fromkeys(self._file.read(chosen) or []))

    def _found(self, numbers: Sequence[int]) -> Generator[FoundBlock, None, bool]:
        """Yield the blocks with these numbers, and return whether all of them exist and are from this home."""
        is_whole = True
        for batch in _batches(numbers, FOUND):
            blocks, holds, found = self._numbered(batch), self._seal.checker(), 0
            for (name, first, count, version, _), own in self._by_resource(batch):
                for number in own:
                    data, code = blocks.get(number, (b"", None))
                    if number < first + count and _is_own(holds, code, name, version, number - first, data):
                        found += 1
                        yield FoundBlock(name, version, number - first, self._kept.of(data))
            is_whole = is_whole and found == len(batch)
        return is_whole

    def _by_resource(self, numbers: Sequence[int]) -> list[tuple[_Row, list[int]]]:
        """Return the row of each resource with the numbers of its blocks among `numbers`, sorted by resource ID.

        Resources that this home did not write are left out.
        """
        asked, owned = (json.dumps(numbers),), dict[int, list[int]]()
        found = self._file.read(lambda connection: connection.execute(_FIRSTS, asked).fetchall()) or []
        for number, first in found:
            owned.setdefault(first, []).append(number)
        rows = sorted(self._own_rows(_OF_FIRST, json.dumps(list(owned))))
        return [(row, owned[row[1]]) for row in rows]

    def close(self) -> None:
        """Close the file. The next access reopens it."""
        self._file.close()

    def _rows(self, match: str, start: int, end: int, most: int) -> list[Any]:
        query, values = (_MATCHING, (match, start, end, most)) if match else (_OF_RANGE, (start, end, most))
        return self._file.read(lambda connection: connection.execute(query, values).fetchall()) or []

    def _numbered(self, numbers: Sequence[int]) -> dict[int, tuple[bytes, object]]:
        """Return the data and the authentication code of each of the blocks that exist."""
        asked = (json.dumps(numbers),)
        rows = self._file.read(lambda connection: connection.execute(_OF_NUMBERS, asked).fetchall()) or []
        return {number: (data, code) for number, data, code in rows}

    def _texts(self, resources: Sequence[str]) -> list[_Row]:
        return self._own_rows(_TEXTS, _json(resources))

    def _own_rows(self, query: str, *values: str) -> list[_Row]:
        """Return the rows that `query` selects and that this CiteKit home stored."""
        holds = self._seal.checker()
        found = filter(None, map(_row, self._rows_of(query, *values)))
        return [row for row, code in found if holds(code, *_parts(row))]

    def _rows_of(self, query: str, *values: str) -> list[Sequence[object]]:
        return self._file.read(lambda connection: connection.execute(query, values).fetchall()) or []

    def _insert(self, connection: Connection, row: _Row) -> None:
        code = self._seal.code(*_parts(row))
        connection.execute("INSERT OR REPLACE INTO text VALUES (?, ?, ?, ?, ?, ?)", (*row, code))

    def _own_row(self, stored: Sequence[object]) -> _Row | None:
        """Return `stored`, a row of the table of texts, if this CiteKit home stored it; else None."""
        found = _row(stored)
        return found[0] if found is not None and self._seal.holds(found[1], *_parts(found[0])) else None

    def _take(self, connection: Connection, resource_id: str) -> bool:
        """Remove a resource, and return whether the index had it.

        Raise `DatabaseError` if this home did not write its data; the caller then re-creates the file.
        """
        stored = connection.execute("SELECT * FROM text WHERE resource_id = ?", (resource_id,)).fetchone()
        if stored is None:
            return False
        row = self._own_row(stored)
        if row is None:
            raise DatabaseError(_FOREIGN)
        name, first, count, version, _ = row
        holds = self._seal.checker()
        for number, data, code in connection.execute(_OF_RANGE, (first, first + count, count)).fetchall():
            if not _is_own(holds, code, name, version, number - first, data):
                raise DatabaseError(_FOREIGN)
            terms = _terms(from_bytes(data))
            connection.execute("INSERT INTO term (term, rowid, terms) VALUES ('delete', ?, ?)", (number, terms))
        connection.execute("DELETE FROM block WHERE number >= ? AND number < ?", (first, first + count))
        connection.execute("DELETE FROM text WHERE resource_id = ?", (resource_id,))
        if connection.execute("SELECT NOT EXISTS (SELECT 1 FROM block)").fetchone()[0]:
            connection.execute(
                "INSERT INTO term (term) VALUES ('delete-all')"
            )  # otherwise, FTS5 keeps deleted words for a while
        return True


def block_parts(resource_id: str, version: str, at: int, data: bytes) -> tuple[bytes, ...]:
    """Return the data that the authentication code of block `at` (from 0) of a resource covers."""
    return b"text block", resource_id.encode(), version.encode(), b"%d" % at, data


def _is_own(holds: Callable[..., bool], code: object, resource_id: str, version: str, at: int, data: object) -> bool:
    """Return whether this CiteKit home stored `data` as block `at` (from 0) of the resource; `holds` is from
    `HomeSeal.checker`.
    """
    return isinstance(data, bytes) and holds(code, *block_parts(resource_id, version, at, data))


def _terms(block: TextBlock) -> str:
    return " ".join(sorted(set(words_of(block.text))))


def _row(stored: Sequence[object]) -> tuple[_Row, bytes] | None:
    """Return a row of the table of texts and its unchecked authentication code; None if its values have other types."""
    if list(map(type, stored)) != _ROW_TYPES:
        return None
    *row, code = stored
    return cast(_Row, tuple(row)), cast(bytes, code)


def _parts(row: _Row) -> tuple[bytes, ...]:
    name, first, count, version, note = row
    return b"text", name.encode(), b"%d" % first, b"%d" % count, version.encode(), note.encode()


def _batches(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (numbers[start : start + size] for start in range(0, len(numbers), size))


def _holding(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the query for the numbers of the blocks that contain all of the words, and its first parameters.

    Without words, it selects all blocks. The caller adds the parameters for the first block and the limit.
    """
    return (_HOLDING, (_phrase(words),)) if words else (_EVERY, ())


def _phrase(words: Sequence[str], joint: str = " ") -> str:
    return joint.join(f'"{word}"' for word in words)


def _json(resources: Iterable[str]) -> str:
    return json.dumps([name for name in resources if _is_unicode(name)])


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
