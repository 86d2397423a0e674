"""The facts of some books of a Calibre library, in one question for each kind of fact."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import tzinfo
from typing import Any

from citekit.adapters.library.calibre_cards import author_name
from citekit.adapters.library.calibre_columns import custom_columns
from citekit.adapters.library.calibre_files import BookFolders
from citekit.adapters.library.calibre_values import day, number, stars
from citekit.domain.library.books import BookRecord
from citekit.domain.library.languages import iso_639_3

_WANTED = "(SELECT value FROM json_each(?))"
_BOOKS = f"SELECT id, title, path, pubdate, series_index, uuid, has_cover FROM books WHERE id IN {_WANTED}"  # noqa: S608


def _joined(column: str, table: str, key: str, order: str = "link.id") -> str:
    """The question for names that stand in a table of their own."""
    return (
        f"SELECT link.book, named.{column} FROM books_{table}_link AS link"  # noqa: S608 - of constants
        f" JOIN {table} AS named ON named.id = link.{key} WHERE link.book IN {_WANTED} ORDER BY {order}"
    )


_AUTHORS = _joined("name", "authors", "author")
_LANGUAGES = _joined("lang_code", "languages", "lang_code", "link.item_order, link.id")
_TAGS = _joined("name", "tags", "tag", "named.name COLLATE NOCASE, named.name")
_SERIES = _joined("name", "series", "series")
_PUBLISHERS = _joined("name", "publishers", "publisher")
_RATINGS = _joined("rating", "ratings", "rating")
_COMMENTS = f"SELECT book, text FROM comments WHERE book IN {_WANTED}"  # noqa: S608
_IDENTIFIERS = f"SELECT book, type, val FROM identifiers WHERE book IN {_WANTED} ORDER BY type, id"  # noqa: S608
_FILES = f"SELECT book, format, name FROM data WHERE book IN {_WANTED} ORDER BY upper(format), id"  # noqa: S608


class CalibreRecords:
    """The facts of the books `ids`, read from an open database. Dates are those of `zone`, None for the computer's."""

    def __init__(
        self, connection: sqlite3.Connection, folders: BookFolders, ids: Iterable[int], zone: tzinfo | None = None
    ) -> None:
        self._connection, self._folders, self._zone = connection, folders, zone
        self._ids = list(ids)
        self._wanted = json.dumps(self._ids)

    def read(self) -> Sequence[BookRecord]:
        """The records, in the order of the ids; without those that are not there."""
        rows = {row[0]: row for row in self._connection.execute(_BOOKS, (self._wanted,))}
        lists = {name: self._lists(question) for name, question in _LISTS.items()}
        custom = custom_columns(self._connection, self._wanted)
        return [
            self._record(rows[book], {name: found.get(book, []) for name, found in lists.items()}, custom.get(book, {}))
            for book in self._ids
            if book in rows
        ]

    def _lists(self, question: str) -> dict[int, list[Any]]:
        found: defaultdict[int, list[Any]] = defaultdict(list)
        for book, *values in self._connection.execute(question, (self._wanted,)):
            found[book].append(values[0] if len(values) == 1 else tuple(values))
        return found

    def _record(self, row: tuple[Any, ...], lists: dict[str, list[Any]], custom: dict[str, Any]) -> BookRecord:
        book, title, path, pubdate, index, uuid, has_cover = row
        series = _first_text(lists["series"])
        folder = self._folders.folder(path)
        return BookRecord(
            id=book,
            title=str(title or "Unknown"),
            authors=map(author_name, lists["authors"]),
            languages=dict.fromkeys(iso_639_3(str(code)) for code in lists["languages"]),
            tags=map(str, lists["tags"]),
            series=series,
            series_index=number(index) if series is not None else None,
            identifiers={str(scheme).lower(): str(value) for scheme, value in lists["identifiers"]},
            publisher=_first_text(lists["publishers"]),
            pubdate=day(pubdate, self._zone),
            rating=stars(next(iter(lists["ratings"]), None)),
            files=self._folders.files(folder, lists["files"]),
            comments=_first_text(lists["comments"]),
            custom=custom,
            cover=self._folders.cover(folder) if has_cover else None,
            uuid=str(uuid) if uuid else None,
        )


_LISTS = {
    "authors": _AUTHORS,
    "languages": _LANGUAGES,
    "tags": _TAGS,
    "series": _SERIES,
    "publishers": _PUBLISHERS,
    "ratings": _RATINGS,
    "comments": _COMMENTS,
    "identifiers": _IDENTIFIERS,
    "files": _FILES,
}


def _first_text(values: list[Any]) -> str | None:
    return str(values[0]) if values and values[0] is not None else None
