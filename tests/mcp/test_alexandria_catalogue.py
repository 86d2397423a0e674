"""The tools that look into the catalogue, count, and list files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from citekit.adapters.catalogs.in_memory import MemoryLibrary
from citekit.domain.errors import LibraryUnavailable
from citekit.domain.library.books import LibraryStats
from tests.mcp.library_home import LibraryHome, record


@pytest.fixture
def home(tmp_path: Path) -> LibraryHome:
    return LibraryHome.made(tmp_path)


class Nowhere(MemoryLibrary):
    def find(self, *_: object, **__: object) -> list[object]:  # type: ignore[override]
        raise LibraryUnavailable("Calibre library not found: nowhere")

    def get(self, book_id: int) -> object:  # type: ignore[override]
        raise LibraryUnavailable("Calibre library not found: nowhere")

    def stats(self) -> LibraryStats:
        raise LibraryUnavailable("Calibre library not found: nowhere")


def ids(answer: dict[str, list[dict[str, object]]]) -> list[object]:
    return [book["id"] for book in answer["books"]]


def test_books_are_found_by_what_is_known_of_them(home: LibraryHome) -> None:
    every, author, tags, none, two = home.calls(
        ("alexandria_search", {}),
        ("alexandria_search", {"author": "ČELO"}),
        ("alexandria_search", {"tags": "SCI, nature"}),
        ("alexandria_search", {"title": "no such"}),
        ("alexandria_search", {"limit": -2}),
    )

    assert [[4, 3, 2, 1], [2], [1], [], [4]] == [ids(answer) for answer in (every, author, tags, none, two)]
    assert ([4, 1, 1, 0, 1], {None}) == (
        [answer["count"] for answer in (every, author, tags, none, two)],
        {answer["error"] for answer in (every, author, tags, none, two)},
    )
    assert {"id", "title", "author", "language", "tags", "series", "series_index", "formats"} <= set(every["books"][0])


def test_a_book_is_shown_with_all_that_is_known(home: LibraryHome) -> None:
    answer = home.call("alexandria_book", book_id=1)

    assert {
        "id": 1,
        "title": "A Small Book",
        "author": "Ada Writer & Bo Author",
        "language": "eng",
        "tags": ["science", "nature"],
        "series": "Small",
        "series_index": 2.0,
        "isbn": "9780000000002",
        "publisher": "Press",
        "pubdate": "2020-01-01",
        "rating": 4.5,
        "formats": ["EPUB"],
    }.items() <= answer["book"].items()


def test_a_book_that_is_not_there_is_told(home: LibraryHome) -> None:
    assert {"success": False, "book": None, "error": "Book with ID 77 not found"} == home.call(
        "alexandria_book", book_id=77
    )


def test_a_preview_shows_the_file_that_would_be_read(home: LibraryHome) -> None:
    epub, pdf, every, one = home.calls(
        ("alexandria_ingest_preview", {}),
        ("alexandria_ingest_preview", {"format_filter": "PDF"}),
        ("alexandria_ingest_preview", {"format_filter": "any"}),
        ("alexandria_ingest_preview", {"format_filter": "any", "limit": 0}),
    )

    assert [[3, 1], [], [3, 2, 1], [3]] == [ids(answer) for answer in (epub, pdf, every, one)]
    assert ("EPUB", str(home.folder / "small.epub")) == (
        epub["books"][1]["selected_format"],
        epub["books"][1]["file_path"],
    )
    assert ("epub", "PDF", 3) == (epub["format_filter"], pdf["format_filter"], every["count"])


def test_a_preview_looks_on_until_it_has_enough(home: LibraryHome) -> None:
    home.books.add(*(record(number, f"Sealed {number}", {"LIT": home.folder / "x.lit"}) for number in range(10, 700)))

    assert [3, 1] == ids(home.call("alexandria_ingest_preview", limit=2))


@pytest.mark.long
def test_books_and_points_are_counted(home: LibraryHome) -> None:
    before, _, after = home.calls(
        ("alexandria_stats", {}), ("alexandria_ingest", {"book_id": 1}), ("alexandria_stats", {})
    )

    assert {"total_books": 4, "total_authors": 3, "formats": {"EPUB": 2, "LIT": 1, "TXT": 1}}.items() <= after[
        "calibre"
    ].items()
    assert before["qdrant"]["error"].startswith("Collection 'alexandria' not found: ")
    assert (True, "alexandria", 512, "green", 1) == tuple(
        after["qdrant"][key] for key in ("connected", "collection_name", "vector_size", "status", "ingested_books")
    )
    assert after["qdrant"]["points_count"] > 0


def test_without_a_library_the_index_is_still_counted(home: LibraryHome) -> None:
    answer = home.without(library=Nowhere()).call("alexandria_stats")

    assert (None, "Calibre library not found: nowhere") == (answer["calibre"], answer["error"])
    assert answer["qdrant"]["connected"] is True


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("alexandria_search", {}), ("alexandria_book", {"book_id": 1}), ("alexandria_ingest_preview", {})],
)
def test_without_a_library_its_tools_say_where_it_was_looked_for(
    home: LibraryHome, tool: str, arguments: dict[str, object]
) -> None:
    assert "Calibre library not found: nowhere" == home.without(library=Nowhere()).call(tool, **arguments)["error"]


def test_files_that_can_be_ingested_are_listed_by_name(home: LibraryHome) -> None:
    (home.folder / "below").mkdir()
    (home.folder / "below" / "Zoo.MD").write_text("# Zoo")
    (home.folder / "Able.html").write_text("<p>x</p>")
    (home.folder / "program.exe").write_bytes(b"MZ")

    flat, deep, named = home.calls(
        ("alexandria_browse_local", {}),
        ("alexandria_browse_local", {"recursive": True}),
        ("alexandria_browse_local", {"path": str(home.folder / "below")}),
    )

    assert ["Able.html", "plain.txt", "small.epub"] == [file["name"] for file in flat["files"]]
    assert (4, "Zoo.MD", "MD") == (deep["count"], deep["files"][-1]["name"], deep["files"][-1]["format"])
    assert [
        {"name": "Zoo.MD", "size_mb": 0.0, "format": "MD", "full_path": str(home.folder / "below" / "Zoo.MD")}
    ] == named["files"]
    assert str(home.folder) == flat["path"]


@pytest.mark.parametrize(("path", "told"), [("/etc", "outside the folders"), ("{home}/no", "Directory not found: ")])
def test_a_folder_that_may_not_or_cannot_be_listed_is_told(home: LibraryHome, path: str, told: str) -> None:
    answer = home.call("alexandria_browse_local", path=path.format(home=home.folder))

    assert (False, [], 0) == (answer["success"], answer["files"], answer["count"])
    assert told in answer["error"]


@pytest.mark.skipif(os.name != "posix", reason="names are bytes only there")
def test_a_name_that_is_no_text_can_be_listed(home: LibraryHome) -> None:
    name = os.fsencode(home.folder) + b"/caf\xe9.txt"
    try:
        Path(os.fsdecode(name)).write_text("x")
    except OSError:
        pytest.skip("the file system takes no such names")

    assert "caf?.txt" in [file["name"] for file in home.call("alexandria_browse_local")["files"]]
