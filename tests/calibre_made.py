"""Makes libraries as Calibre stores them: its tables, links and indexes by their names, and triggers that need Calibre."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from attrs import field, frozen

USER_VERSION = 25
_LINKED = {"authors": "author", "tags": "tag", "series": "series", "publishers": "publisher", "ratings": "rating"}
_ONCE = {"series", "publishers"}
_KINDS = {"bool": "BOOL", "int": "INT", "float": "REAL", "rating": "INT", "datetime": "TIMESTAMP"}
_NORMALIZED = {"text", "series", "enumeration", "rating"}


@frozen(kw_only=True)
class MadeBook:
    """A book as a person sees it; `path` and the names of files are made from the title where they are not given."""

    title: str
    authors: tuple[str, ...] = ("Unknown",)
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    series: str | None = None
    series_index: float = 1.0
    publisher: str | None = None
    doubled_rating: int | None = None
    identifiers: Mapping[str, str] = field(factory=dict)
    comments: str | None = None
    formats: Mapping[str, bytes] = field(factory=dict)
    custom: Mapping[str, Any] = field(factory=dict)
    pubdate: str = "0101-01-01 00:00:00+00:00"
    timestamp: str = "2024-01-01 00:00:00+00:00"
    path: str | None = None
    file_name: str | None = None
    cover: bytes | None = None
    uuid: str = "00000000-0000-4000-8000-000000000000"


@frozen
class MadeColumn:
    """A column that a user added."""

    label: str
    datatype: str
    several: bool = False
    deleted: bool = False


def make_library(folder: Path, books: Iterable[MadeBook] = (), columns: Iterable[MadeColumn] = ()) -> Path:
    """Make the library, its files too; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with closing(writer(folder)) as connection:
        make_tables(connection)
        for column in columns:
            _add_column(connection, column)
        add_books(connection, folder, books)
        make_triggers(connection)
        connection.commit()
    return folder


def writer(folder: Path) -> sqlite3.Connection:
    """A connection that writes, with the functions that Calibre gives its own."""
    connection = sqlite3.connect(folder / "metadata.db")
    connection.execute("PRAGMA synchronous = OFF")
    connection.create_function("title_sort", 1, lambda title: title)
    connection.create_function("uuid4", 0, lambda: "11111111-1111-4111-8111-111111111111")
    return connection


def make_tables(connection: sqlite3.Connection) -> None:
    """The tables and indexes."""
    connection.executescript(
        """
        CREATE TABLE books (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT 'Unknown' COLLATE NOCASE,
            sort TEXT COLLATE NOCASE, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
            pubdate TIMESTAMP DEFAULT CURRENT_TIMESTAMP, series_index REAL NOT NULL DEFAULT 1.0,
            author_sort TEXT COLLATE NOCASE, path TEXT NOT NULL DEFAULT '', uuid TEXT, has_cover BOOL DEFAULT 0,
            last_modified TIMESTAMP NOT NULL DEFAULT '2000-01-01 00:00:00+00:00');
        CREATE TABLE data (id INTEGER PRIMARY KEY, book INTEGER NOT NULL, format TEXT NOT NULL COLLATE NOCASE,
            uncompressed_size INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE(book, format));
        CREATE TABLE comments (id INTEGER PRIMARY KEY, book INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE(book));
        CREATE TABLE identifiers (id INTEGER PRIMARY KEY, book INTEGER NOT NULL,
            type TEXT NOT NULL DEFAULT 'isbn' COLLATE NOCASE, val TEXT NOT NULL COLLATE NOCASE, UNIQUE(book, type));
        CREATE TABLE languages (id INTEGER PRIMARY KEY, lang_code TEXT NOT NULL COLLATE NOCASE, UNIQUE(lang_code));
        CREATE TABLE books_languages_link (id INTEGER PRIMARY KEY, book INTEGER NOT NULL, lang_code INTEGER NOT NULL,
            item_order INTEGER NOT NULL DEFAULT 0, UNIQUE(book, lang_code));
        CREATE INDEX books_languages_link_aidx ON books_languages_link (lang_code);
        CREATE INDEX books_languages_link_bidx ON books_languages_link (book);
        CREATE TABLE ratings (id INTEGER PRIMARY KEY, rating INTEGER CHECK(rating > -1 AND rating < 11), UNIQUE (rating));
        CREATE TABLE custom_columns (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT NOT NULL, name TEXT NOT NULL,
            datatype TEXT NOT NULL, mark_for_delete BOOL DEFAULT 0 NOT NULL, editable BOOL DEFAULT 1 NOT NULL,
            display TEXT DEFAULT '{}' NOT NULL, is_multiple BOOL DEFAULT 0 NOT NULL, normalized BOOL NOT NULL, UNIQUE(label));
        CREATE INDEX formats_idx ON data (format);
        """
    )
    for table, column in _LINKED.items():
        if table != "ratings":
            connection.execute(
                f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, sort TEXT, UNIQUE(name))"
            )
        unique = "UNIQUE(book)" if table in _ONCE else f"UNIQUE(book, {column})"
        link = f"books_{table}_link"
        connection.execute(
            f"CREATE TABLE {link} (id INTEGER PRIMARY KEY, book INTEGER NOT NULL, {column} INTEGER NOT NULL, {unique})"
        )
        connection.execute(f"CREATE INDEX {link}_aidx ON {link} ({column})")
        connection.execute(f"CREATE INDEX {link}_bidx ON {link} (book)")
    connection.execute(f"PRAGMA user_version = {USER_VERSION}")


def make_triggers(connection: sqlite3.Connection) -> None:
    """The triggers that call functions of Calibre's own: any other program that writes a title fails."""
    connection.executescript(
        """
        CREATE TRIGGER books_insert_trg AFTER INSERT ON books BEGIN
            UPDATE books SET sort = title_sort(NEW.title), uuid = uuid4() WHERE id = NEW.id; END;
        CREATE TRIGGER books_update_trg AFTER UPDATE ON books BEGIN
            UPDATE books SET sort = title_sort(NEW.title) WHERE id = NEW.id AND OLD.title <> NEW.title; END;
        """
    )


def add_books(connection: sqlite3.Connection, folder: Path, books: Iterable[MadeBook]) -> None:
    """Add books and their files."""
    for book in books:
        _add_book(connection, folder, book)
    connection.commit()


def _add_book(connection: sqlite3.Connection, folder: Path, book: MadeBook) -> None:
    row = connection.execute(
        "INSERT INTO books (title, timestamp, pubdate, series_index, uuid, has_cover) VALUES (?, ?, ?, ?, ?, ?)",
        (book.title, book.timestamp, book.pubdate, book.series_index, book.uuid, book.cover is not None),
    ).lastrowid
    assert row is not None
    path = book.path if book.path is not None else f"{book.authors[0]}/{book.title} ({row})".replace(":", "_")
    connection.execute("UPDATE books SET path = ? WHERE id = ?", (path, row))
    single = {"series": book.series, "publishers": book.publisher, "ratings": book.doubled_rating}
    several: dict[str, Iterable[Any]] = {
        "authors": [name.replace(",", "|") for name in book.authors],
        "tags": book.tags,
    }
    several |= {table: [value] for table, value in single.items() if value is not None}
    for table, values in several.items():
        for value in values:
            _link(connection, table, "rating" if table == "ratings" else "name", _LINKED[table], row, value)
    for place, code in enumerate(book.languages):
        _link(connection, "languages", "lang_code", "lang_code", row, code, item_order=place)
    for scheme, value in book.identifiers.items():
        connection.execute("INSERT INTO identifiers (book, type, val) VALUES (?, ?, ?)", (row, scheme, value))
    if book.comments is not None:
        connection.execute("INSERT INTO comments (book, text) VALUES (?, ?)", (row, book.comments))
    for label, stored in book.custom.items():
        _add_value(connection, label, row, stored)
    _add_files(connection, folder / path, row, book)


def _add_files(connection: sqlite3.Connection, folder: Path, row: int, book: MadeBook) -> None:
    name = book.file_name if book.file_name is not None else f"{book.title} - {book.authors[0]}"
    for format, data in book.formats.items():
        connection.execute(
            "INSERT INTO data (book, format, uncompressed_size, name) VALUES (?, ?, ?, ?)",
            (row, format, len(data), name),
        )
        if book.path is None and book.file_name is None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.{format.lower()}").write_bytes(data)
    if book.cover is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cover.jpg").write_bytes(book.cover)


def _link(
    connection: sqlite3.Connection, table: str, column: str, key: str, book: int, value: object, **more: object
) -> None:
    connection.execute(f"INSERT OR IGNORE INTO {table} ({column}) VALUES (?)", (value,))
    (number,) = connection.execute(f"SELECT id FROM {table} WHERE {column} = ?", (value,)).fetchone()
    names = ["book", key, *more]
    marks = ", ".join("?" * len(names))
    connection.execute(
        f"INSERT INTO books_{table}_link ({', '.join(names)}) VALUES ({marks})", (book, number, *more.values())
    )


def _add_column(connection: sqlite3.Connection, column: MadeColumn) -> None:
    linked = column.datatype in _NORMALIZED
    number = connection.execute(
        "INSERT INTO custom_columns (label, name, datatype, mark_for_delete, is_multiple, normalized) VALUES (?, ?, ?, ?, ?, ?)",
        (column.label, column.label.title(), column.datatype, column.deleted, column.several, linked),
    ).lastrowid
    table, kind = f"custom_column_{number}", _KINDS.get(column.datatype, "TEXT")
    if not linked:
        connection.execute(
            f"CREATE TABLE {table} (id INTEGER PRIMARY KEY AUTOINCREMENT, book INTEGER, value {kind} NOT NULL, UNIQUE(book))"
        )
        return
    extra = "extra REAL," if column.datatype == "series" else ""
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER PRIMARY KEY AUTOINCREMENT, value {kind} NOT NULL, UNIQUE(value))"
    )
    connection.execute(
        f"CREATE TABLE books_{table}_link (id INTEGER PRIMARY KEY AUTOINCREMENT, book INTEGER NOT NULL,"
        f" value INTEGER NOT NULL, {extra} UNIQUE(book, value))"
    )


def _add_value(connection: sqlite3.Connection, label: str, book: int, stored: object) -> None:
    """Store a value; of a series (name, index), of a column of several values a list."""
    number, datatype, several, linked = connection.execute(
        "SELECT id, datatype, is_multiple, normalized FROM custom_columns WHERE label = ?", (label,)
    ).fetchone()
    table = f"custom_column_{number}"
    if not linked:
        connection.execute(f"INSERT INTO {table} (book, value) VALUES (?, ?)", (book, stored))
        return
    for value in stored if several and isinstance(stored, list) else [stored]:
        if datatype == "series" and isinstance(value, tuple):
            _link(connection, table, "value", "value", book, value[0], extra=value[1])
        else:
            _link(connection, table, "value", "value", book, value)
