"""A library that calibredb made, read by us and by calibredb."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.catalogs.calibre.catalog import CalibreLibrary
from citekit.domain.library.books import BookFilter, BookRecord

pytestmark = pytest.mark.corpus
UNKNOWN = date(101, 1, 1)


@pytest.fixture(scope="module")
def folder(corpus: Path) -> Path:
    if not (corpus / "calibre" / "metadata.db").is_file():
        pytest.skip("the folder of large real files has no Calibre library")
    return corpus / "calibre"


@pytest.fixture(scope="module")
def copy(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with columns of every kind: calibredb writes to the libraries that it reads."""
    if shutil.which("calibredb") is None:
        pytest.skip("calibredb is not installed")
    copied = tmp_path_factory.mktemp("calibre") / "library"
    shutil.copytree(folder, copied)
    for label, datatype, *options in COLUMNS:
        calibredb(copied, "add_custom_column", *options, label, label.title(), datatype)
    for label, value in VALUES.items():
        calibredb(copied, "set_custom", label, "1", value)
    calibredb(
        copied, "set_metadata", "1", "--field", "authors:Melville, Herman & Ahab", "--field", "languages:eng,fra,deu"
    )
    calibredb(
        copied, "set_metadata", "1", "--field", "identifiers:isbn:9780142437247,doi:10.1/x,y", "--field", "rating:3"
    )
    calibredb(
        copied, "set_metadata", "2", "--field", "comments:<p>Down the <b>hole</b></p>", "--field", "pubdate:1865-11-26"
    )
    return copied


COLUMNS = [
    ("note", "text"),
    ("people", "text", "--is-multiple"),
    ("pages", "int"),
    ("price", "float"),
    ("fun", "rating"),
    ("cycle", "series"),
    ("bought", "datetime"),
    ("shelf", "enumeration", "--display", '{"enum_values": ["A", "B"]}'),
    ("review", "comments"),
    ("computed", "composite", "--display", '{"composite_template": "{title}"}'),
]
VALUES = {
    "note": "a, b | c",
    "people": "One, Two",
    "pages": "635",
    "price": "1.5",
    "fun": "4",
    "cycle": "Whales [3]",
    "bought": "2020-05-01T10:00:00+00:00",
    "shelf": "B",
    "review": "<b>Long</b>",
}


def calibredb(folder: Path, *arguments: str) -> str:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "CALIBRE_CONFIG_DIRECTORY": str(folder.with_name("conf")),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    command = ["calibredb", *arguments, "--with-library", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@pytest.fixture(scope="module")
def listed(copy: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(calibredb(copy, "list", "--for-machine", "--fields", "all"))
    return found


@pytest.fixture(scope="module")
def books(copy: Path, listed: list[dict[str, Any]]) -> dict[int, BookRecord]:
    return {book.id: book for book in CalibreLibrary(copy, zone=UTC).find(BookFilter(), 1000)}


def test_all_books_are_there(books: dict[int, BookRecord], listed: list[dict[str, Any]]) -> None:
    assert {row["id"] for row in listed} == set(books)
    assert 33 <= len(books)


def test_every_fact_is_the_one_that_calibredb_tells(books: dict[int, BookRecord], listed: list[dict[str, Any]]) -> None:
    for row in listed:
        book = books[row["id"]]
        day = datetime.fromisoformat(row["pubdate"]).date()
        told = {
            "title": row["title"],
            "author": row["authors"],
            "languages": tuple(row["languages"]),
            "tags": sorted(row["tags"]),
            "series": row.get("series"),
            "series_index": row["series_index"] if row.get("series") else None,
            "identifiers": row["identifiers"],
            "publisher": row.get("publisher"),
            "pubdate": day if day != UNKNOWN else None,
            "rating": row["rating"] / 2 if row.get("rating") else None,
            "files": sorted(row["formats"]),
            "comments": row.get("comments"),
            "cover": row.get("cover") or None,
            "uuid": row["uuid"],
        }
        read = {name: getattr(book, name) for name in told}
        read |= {"tags": sorted(book.tags), "files": sorted(map(str, book.files.values()))}
        read |= {"cover": str(book.cover) if book.cover else None}
        assert told == read


def test_every_column_of_the_users_own_is_the_one_that_calibredb_tells(
    books: dict[int, BookRecord], listed: list[dict[str, Any]]
) -> None:
    for row in listed:
        told = {name.removeprefix("*"): value for name, value in row.items() if name.startswith("*")}
        told.pop("computed", None)
        if told.get("fun"):
            told["fun"] /= 2
        told = {label: value for label, value in told.items() if value not in (None, "None", [], "")}
        read = {label: value for label, value in books[row["id"]].custom.items() if label != "cycle_index"}
        assert {label: _sorted(value) for label, value in told.items()} == {
            label: _sorted(value) for label, value in read.items()
        }


def _sorted(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) else value


def test_a_book_with_columns_of_every_kind_is_among_them(books: dict[int, BookRecord]) -> None:
    labels = {label for label, datatype, *_ in COLUMNS if datatype != "composite"}

    assert labels <= set(books[1].custom)
    assert 3.0 == books[1].custom["cycle_index"]
    assert (("Melville, Herman", "Ahab"), ("eng", "fra", "deu")) == (books[1].authors, books[1].languages)


def test_every_file_is_there_and_nothing_was_touched(folder: Path) -> None:
    def look() -> dict[str, tuple[int, int]]:
        paths = [folder, *folder.rglob("*")]
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}

    before, library = look(), CalibreLibrary(folder)

    books = library.find(BookFilter(), 1000)

    assert [] == [
        path for book in books for path in [*book.files.values(), *filter(None, [book.cover])] if not path.is_file()
    ]
    assert library.stats().books == len(books)
    assert before == look()


@pytest.mark.parametrize(
    ("wanted", "titles"),
    [
        (BookFilter(author="鲁迅"), {"呐喊"}),
        (BookFilter(language="ja"), {"Live システムマニュアル", "Debian リファレンス"}),
        (BookFilter(title="DÉMARRAGE"), {"calibre Guide de démarrage rapide"}),
        (BookFilter(author="wells", tags=("science", "INVASION")), {"The War of the Worlds"}),
        (BookFilter(title="100%"), set()),
    ],
)
def test_books_are_found(folder: Path, wanted: BookFilter, titles: set[str]) -> None:
    assert titles == {book.title for book in CalibreLibrary(folder).find(wanted, 100)}
