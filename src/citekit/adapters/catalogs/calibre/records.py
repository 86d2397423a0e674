"""Reads the records of books from a Calibre library, with one query for each kind of data.

A database is not trusted: file paths that lead out of the library folder are ignored.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from attrs import frozen

from citekit.adapters.catalogs.calibre.cards import author_name
from citekit.domain.library.books import BookRecord
from citekit.domain.library.languages import iso_639_3

UNDEFINED = date(101, 1, 1)
"""The date that Calibre stores if the date is unknown."""


def number(value: object) -> float | None:
    """Return `value` as a float if it is a finite number, otherwise None."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def stars(value: object) -> float | None:
    """Return the number of stars (at most 5) of a stored rating, which is twice that number.

    Return None for no rating (0), and for a value that is not a rating.
    """
    doubled = number(value)
    return doubled / 2 if doubled is not None and 0 < doubled <= 10 else None


def moment(value: object) -> datetime | None:
    """Parse an ISO 8601 time, which is in UTC if it has no time zone.

    Return None if the text is not a time, or if its date is not later than `UNDEFINED`.
    """
    try:
        read = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    read = read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    return read if read.date() > UNDEFINED else None


def day(value: object, zone: tzinfo | None) -> date | None:
    """Return the date of a stored time in `zone` (None: the local time zone), or None if the time is unknown."""
    read = moment(value)
    try:
        return read.astimezone(zone).date() if read is not None else None
    except (OverflowError, OSError, ValueError):
        return read.date() if read is not None else None


_COLUMNS = (
    "SELECT id, label, datatype, is_multiple, normalized FROM custom_columns WHERE NOT mark_for_delete ORDER BY id"
)
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%custom_column%'"


def custom_columns(connection: sqlite3.Connection, wanted: str) -> dict[int, dict[str, Any]]:
    """Return the values of the custom columns by book ID and column label.

    `wanted` is a JSON array of book IDs. Multiple values are a list. A date is ISO 8601 text with a time zone. The
    position in a series has the label plus `_index`. Composite columns are missing.
    """
    found: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for column in _columns(connection):
        for book, value, index in connection.execute(column.question, (wanted,)):
            column.put(found[book], value, index)
    return found


@frozen
class _Column:
    number: int
    label: str
    datatype: str
    several: bool
    linked: bool

    @property
    def tables(self) -> set[str]:
        own = f"custom_column_{self.number}"
        return {own, f"books_{own}_link"} if self.linked else {own}

    @property
    def question(self) -> str:
        table, books = f"custom_column_{self.number}", "(SELECT value FROM json_each(?))"
        if not self.linked:
            return f"SELECT book, value, NULL FROM {table} WHERE book IN {books} ORDER BY id"  # noqa: S608 - a number
        index = "link.extra" if self.datatype == "series" else "NULL"
        return (
            f"SELECT link.book, named.value, {index} FROM books_{table}_link AS link"  # noqa: S608 - a number
            f" JOIN {table} AS named ON named.id = link.value WHERE link.book IN {books} ORDER BY link.id"
        )

    def put(self, values: dict[str, Any], stored: object, index: object) -> None:
        value = _READ.get(self.datatype, str)(stored) if stored is not None else None
        if value is None:
            return
        if self.several:
            values.setdefault(self.label, []).append(value)
        else:
            values[self.label] = value
        if self.datatype == "series":
            values[f"{self.label}_index"] = number(index)


def _columns(connection: sqlite3.Connection) -> Iterator[_Column]:
    there = {name for (name,) in connection.execute(_TABLES)}
    for row, label, datatype, several, linked in connection.execute(_COLUMNS).fetchall():
        column = _Column(int(row), str(label), str(datatype), bool(several), bool(linked))
        if column.datatype != "composite" and column.tables <= there:
            yield column


def _whole(value: object) -> int | None:
    read = number(value)
    return None if read is None else int(read)


def _time(value: object) -> str | None:
    read = moment(value)
    return None if read is None else read.isoformat()


_READ: dict[str, Callable[[object], Any]] = {
    "bool": bool,
    "int": _whole,
    "float": number,
    "rating": stars,
    "datetime": _time,
}
"""Converters for the values of each data type. Other types are text."""


class BookFolders:
    """Finds book folders and files below the library folder `root`, an absolute path."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._real_root = Path(os.path.realpath(root))
        self._is_inside = lru_cache(maxsize=4096)(self._ends_inside)

    def folder(self, path: object) -> Path | None:
        """Return the folder of a book, or None if it is not inside the library.

        `path` is the value of `books.path`: a relative path with `/`.
        """
        parts = PurePosixPath(str(path or "")).parts
        if not parts or not all(map(_is_name, parts)):
            return None
        folder = self._root.joinpath(*parts)
        return folder if self._is_inside(folder) else None

    def files(self, folder: Path | None, listed: Iterable[tuple[object, object]]) -> dict[str, Path]:
        """Return the paths of a book's files by upper-case format, without files outside the library.

        `listed` contains pairs (`data.format`, `data.name`). The files need not exist. If `folder` is None, return an
        empty dict.
        """
        if folder is None:
            return {}
        named = {str(format).upper(): f"{name}.{str(format).lower()}" for format, name in listed}
        paths = {format: folder / name for format, name in named.items() if _is_name(name)}
        return {format: path for format, path in paths.items() if not path.is_symlink() or self._ends_inside(path)}

    def cover(self, folder: Path | None) -> Path | None:
        """Return the path of the cover image, or None if `folder` is None or the path leads out of the library.

        The file need not exist.
        """
        return None if folder is None else self.files(folder, [("jpg", "cover")]).get("JPG")

    def _ends_inside(self, path: Path) -> bool:
        try:
            return Path(os.path.realpath(path)).is_relative_to(self._real_root)
        except (OSError, ValueError):
            return False


def _is_name(part: str) -> bool:
    """Return whether a path component is a plain file name on this system."""
    if part in ("", ".", "..", "/") or "\0" in part or "/" in part:
        return False
    return os.name != "nt" or (len(PureWindowsPath(part).parts) == 1 and not PureWindowsPath(part).anchor)


_WANTED = "(SELECT value FROM json_each(?))"
_BOOKS = f"SELECT id, title, path, pubdate, series_index, uuid, has_cover FROM books WHERE id IN {_WANTED}"  # noqa: S608


def _joined(column: str, table: str, key: str, order: str = "link.id") -> str:
    """Return the SQL query for a property whose names are in a separate table, such as authors."""
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
    """Reads the records of the books `ids` from an open database.

    `zone` is the time zone of the dates (None: the local time zone).
    """

    def __init__(
        self, connection: sqlite3.Connection, folders: BookFolders, ids: Iterable[int], zone: tzinfo | None = None
    ) -> None:
        self._connection, self._folders, self._zone = connection, folders, zone
        self._ids = list(ids)
        self._wanted = json.dumps(self._ids)

    def read(self) -> Sequence[BookRecord]:
        """Return the records in the order of `ids`. Books that are not in the database are omitted."""
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
