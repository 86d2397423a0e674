"""Facts of a Calibre library: every one that Calibre stores, and nothing that leads out of the library."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from citekit.adapters.catalogs.calibre.catalog import CalibreLibrary
from citekit.adapters.catalogs.calibre.records import BookFolders, day
from citekit.domain.library.books import BookFilter, BookRecord
from citekit.domain.library.languages import iso_639_3
from tests.calibre_made import MadeBook, MadeColumn, add_books, make_library, writer

COLUMNS = [
    MadeColumn("genre", "text", several=True),
    MadeColumn("note", "text"),
    MadeColumn("read", "bool"),
    MadeColumn("pages", "int"),
    MadeColumn("price", "float"),
    MadeColumn("fun", "rating"),
    MadeColumn("cycle", "series"),
    MadeColumn("bought", "datetime"),
    MadeColumn("shelf", "enumeration"),
    MadeColumn("review", "comments"),
    MadeColumn("computed", "composite"),
    MadeColumn("gone", "text", deleted=True),
]

MOBY = MadeBook(
    title="Moby-Dick; or, The Whale",
    authors=("Melville, Herman", "Zoë Ahab"),
    languages=("eng", "fra"),
    tags=("Whaling", "Fiction"),
    series="Sea",
    series_index=2.5,
    publisher="Harper & Brothers",
    doubled_rating=9,
    identifiers={"isbn": "9780142437247", "Gutenberg": "2701"},
    comments="<p>Call me Ishmael.</p>",
    formats={"PDF": b"%PDF-", "EPUB": b"PK"},
    pubdate="1851-10-18 00:00:00+00:00",
    cover=b"jpeg",
    uuid="91a58470-6a50-4177-90fb-4b9690e9a723",
    custom={
        "genre": ["Epic", "Adventure, at sea"],
        "note": "old",
        "read": 1,
        "pages": 635,
        "price": 1.5,
        "fun": 8,
        "cycle": ("Whales", 3.0),
        "bought": "2020-05-01 10:00:00+00:00",
        "shelf": "A",
        "review": "<b>Long</b>",
    },
)


def only(folder: Path, book: MadeBook, **options: Any) -> BookRecord:
    (found,) = CalibreLibrary(make_library(folder, [book], COLUMNS), **options).find(BookFilter(), 10)
    return found


def test_every_fact_of_a_book_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "Melville, Herman" / "Moby-Dick; or, The Whale (1)"

    book = only(tmp_path, MOBY, zone=UTC)

    expected = BookRecord(
        id=1,
        title="Moby-Dick; or, The Whale",
        authors=("Melville, Herman", "Zoë Ahab"),
        languages=("eng", "fra"),
        tags=("Fiction", "Whaling"),
        series="Sea",
        series_index=2.5,
        identifiers={"isbn": "9780142437247", "gutenberg": "2701"},
        publisher="Harper & Brothers",
        pubdate=date(1851, 10, 18),
        rating=4.5,
        files={
            format: folder / f"Moby-Dick; or, The Whale - Melville, Herman.{format.lower()}"
            for format in ("EPUB", "PDF")
        },
        comments="<p>Call me Ishmael.</p>",
        custom={
            "genre": ["Epic", "Adventure, at sea"],
            "note": "old",
            "read": True,
            "pages": 635,
            "price": 1.5,
            "fun": 4.0,
            "cycle": "Whales",
            "cycle_index": 3.0,
            "bought": "2020-05-01T10:00:00+00:00",
            "shelf": "A",
            "review": "<b>Long</b>",
        },
        cover=folder / "cover.jpg",
        uuid="91a58470-6a50-4177-90fb-4b9690e9a723",
    )
    assert expected == book
    assert b"PK" == book.files["EPUB"].read_bytes()


def test_what_is_not_known_is_none_or_empty(tmp_path: Path) -> None:
    book = only(tmp_path, MadeBook(title="Bare", authors=("A",), doubled_rating=0))

    assert (None, None, None, None, None, None) == (
        book.series,
        book.series_index,
        book.publisher,
        book.pubdate,
        book.rating,
        book.cover,
    )
    assert ({}, {}, {}, (), ()) == (book.identifiers, book.files, book.custom, book.languages, book.tags)


@pytest.mark.parametrize("code", ["deu", "ger", "de"])
def test_languages_are_given_in_one_standard(tmp_path: Path, code: str) -> None:
    assert ("deu",) == only(tmp_path, MadeBook(title="T", languages=(code,))).languages


@pytest.mark.parametrize(
    ("stored", "zone", "expected"),
    [
        ("2019-12-31 23:00:00+00:00", timezone(timedelta(hours=1)), date(2020, 1, 1)),
        ("2020-01-01T00:00:00+00:00", timezone(timedelta(hours=-5)), date(2019, 12, 31)),
        ("2020-01-01 00:00:00", UTC, date(2020, 1, 1)),
        ("2020-01-01", UTC, date(2020, 1, 1)),
        ("2020-01-01 00:00:00.123456+02:00", UTC, date(2019, 12, 31)),
        ("0101-01-01 00:00:00+00:00", UTC, None),
        ("0101-01-01", UTC, None),
        ("0001-01-01 00:00:00+00:00", timezone(timedelta(hours=-5)), None),
        ("9999-12-31 23:59:59+00:00", timezone(timedelta(hours=5)), date(9999, 12, 31)),
        ("no date", UTC, None),
        (None, UTC, None),
        (5, UTC, None),
    ],
)
def test_a_day_is_the_one_that_calibre_shows(stored: object, zone: timezone, expected: date | None) -> None:
    assert expected == day(stored, zone)


def test_the_zone_is_the_computers_own_where_none_is_given() -> None:
    stored = "2020-01-01 00:00:00+00:00"

    assert datetime.fromisoformat(stored).astimezone().date() == day(stored, None)


@pytest.mark.parametrize(
    "path", ["/etc", "../outside", "a/../../outside", "..", ".", "", "a\0b", "//outside", "inside/../../outside"]
)
def test_a_path_that_leads_out_of_the_library_is_not_followed(tmp_path: Path, path: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "book.txt").write_text("secret")
    made = MadeBook(title="T", path=path, file_name="book", formats={"TXT": b""}, cover=None)

    book = only(tmp_path / "library", made)

    assert ({}, None) == (book.files, book.cover)


@pytest.mark.parametrize("name", ["../../outside/book", "/etc/passwd", "a/b", "a\0b"])
def test_a_name_of_a_file_that_is_a_path_is_not_followed(tmp_path: Path, name: str) -> None:
    book = only(tmp_path / "library", MadeBook(title="T", path="in", file_name=name, formats={"TXT": b""}))

    assert {} == book.files


def test_a_format_that_is_a_path_is_not_followed(tmp_path: Path) -> None:
    book = only(tmp_path, MadeBook(title="T", path="in", file_name="x", formats={"/../../../etc/passwd": b""}))

    assert {} == book.files


def test_links_out_of_the_library_are_not_followed_and_links_inside_are(tmp_path: Path) -> None:
    library, outside = tmp_path / "library", tmp_path / "outside"
    (library / "in").mkdir(parents=True)
    outside.mkdir()
    (outside / "book.txt").write_text("secret")
    (library / "away").symlink_to(outside)
    (library / "again").symlink_to(library / "in")
    (library / "in" / "book.txt").symlink_to(outside / "book.txt")
    folders = BookFolders(library)

    assert None is folders.folder("away")
    assert library / "again" == folders.folder("again")
    assert {} == folders.files(folders.folder("in"), [("TXT", "book")])
    assert ["PDF"] == list(folders.files(folders.folder("in"), [("PDF", "book")]))


def test_a_library_that_is_itself_a_link_is_read(tmp_path: Path) -> None:
    make_library(tmp_path / "real", [evolve(MOBY, custom={})])
    (tmp_path / "link").symlink_to(tmp_path / "real")

    book = CalibreLibrary(tmp_path / "link").get(1)

    assert b"PK" == book.files["EPUB"].read_bytes()


def test_changes_are_seen_at_once(tmp_path: Path) -> None:
    library = CalibreLibrary(make_library(tmp_path, [MadeBook(title="One")]))
    seen = [[book.title for book in library.find(BookFilter(), 10)]]

    for number in range(20):
        with closing(writer(tmp_path)) as connection:
            add_books(connection, tmp_path, [MadeBook(title=f"New {number}", timestamp=f"2025-01-{number + 1:02d}")])
        seen.append([book.title for book in library.find(BookFilter(), 1)])

    assert [["One"], *([f"New {number}"] for number in range(20))] == seen
    assert 21 == library.stats().books


def test_a_database_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    library = CalibreLibrary(make_library(tmp_path / "a", [MadeBook(title="One")]))
    library.find(BookFilter(), 1)
    make_library(tmp_path / "b", [MadeBook(title="Two")])

    (tmp_path / "b" / "metadata.db").replace(tmp_path / "a" / "metadata.db")

    assert ["Two"] == [book.title for book in library.find(BookFilter(), 1)]


def test_a_renamed_author_is_seen(tmp_path: Path) -> None:
    library = CalibreLibrary(make_library(tmp_path, [MadeBook(title="One", authors=("Old",))]))
    assert [1] == [book.id for book in library.find(BookFilter(author="old"), 1)]

    with closing(writer(tmp_path)) as connection, connection:
        connection.execute("UPDATE authors SET name = 'New'")

    assert [] == library.find(BookFilter(author="old"), 1)
    assert [1] == [book.id for book in library.find(BookFilter(author="new"), 1)]


def test_books_are_in_the_order_of_adding_and_of_numbers_at_one_moment(tmp_path: Path) -> None:
    days = ["2024-01-02 00:00:00+00:00", "2024-01-01 00:00:00+00:00", "2024-01-02 00:00:00+00:00"]
    library = CalibreLibrary(make_library(tmp_path, [MadeBook(title=str(n), timestamp=d) for n, d in enumerate(days)]))

    assert [3, 1, 2] == [book.id for book in library.find(BookFilter(), 10)]


def test_there_are_as_many_as_counted(tmp_path: Path) -> None:
    books = [
        MadeBook(title="1", authors=("A", "B"), languages=("eng", "deu"), formats={"EPUB": b"", "PDF": b""}),
        MadeBook(title="2", authors=("B",), languages=("eng",), formats={"epub": b""}),
    ]

    stats = CalibreLibrary(make_library(tmp_path, books)).stats()

    assert (2, 2, {"EPUB": 2, "PDF": 1}, {"eng": 2, "deu": 1}) == (
        stats.books,
        stats.authors,
        stats.formats,
        stats.languages,
    )
    assert ["EPUB", "PDF"] == list(stats.formats)


def test_hostile_values_do_not_stop_the_others(tmp_path: Path) -> None:
    make_library(tmp_path, [MadeBook(title="Good", authors=("A",), tags=("t",)), MadeBook(title="Bad", tags=("t",))])
    with closing(writer(tmp_path)) as connection, connection:
        connection.execute(
            "UPDATE books SET pubdate = x'00ff', series_index = 'NaN', path = x'ff', uuid = NULL WHERE id = 2"
        )
        connection.execute("UPDATE books SET timestamp = NULL WHERE id = 2")
        connection.execute("INSERT INTO tags (name) VALUES (CAST(x'fffe41' AS TEXT))")
        connection.execute("INSERT INTO books_tags_link (book, tag) VALUES (2, 2), (2, 999)")
        connection.execute("INSERT INTO books_authors_link (book, author) VALUES (1, 999), (77, 1)")

    found = CalibreLibrary(tmp_path).find(BookFilter(tags=("t",)), 10)

    assert ["Good", "Bad"] == [book.title for book in found]
    assert (("A",), "\ufffd\ufffdA") == (found[0].authors, found[1].tags[-1])


def test_many_books_are_read_in_a_few_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def questions(count: int) -> int:
        folder = tmp_path / str(count)
        library = CalibreLibrary(make_library(folder, [MadeBook(title=str(n)) for n in range(count)], COLUMNS))
        asked: list[str] = []
        original = sqlite3.connect

        def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = original(*arguments, **options)
            if "metadata.db" in str(arguments[0]):
                connection.set_trace_callback(asked.append)
            return connection

        with monkeypatch.context() as patched:
            patched.setattr(sqlite3, "connect", connect)
            assert count == len(library.find(BookFilter(), count))
        return len(asked)

    assert questions(1) == questions(300)


@pytest.mark.parametrize(
    ("code", "expected"),
    [("en", "eng"), ("EN_us", "eng"), ("fre", "fra"), ("hrv", "hrv"), ("iw", "heb"), ("und", "und")],
)
def test_a_code_of_a_language_becomes_one_of_three_letters(code: str, expected: str) -> None:
    assert expected == iso_639_3(code)
