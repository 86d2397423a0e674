"""Taking books in, one or many, step by step, and out again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.search.embedders.hashing import HashingEmbedder
from citekit.domain.errors import EmbedderUnavailable
from citekit.domain.library.vectors import Vector
from citekit.domain.progress import Progress, silent
from citekit.entrypoints.library.steps import bar
from tests.mcp.library_home import LibraryHome, chapter
from tests.mcp.test_alexandria_catalogue import Nowhere

BOTH = "Ada Writer & Bo Author"


@pytest.fixture
def home(tmp_path: Path) -> LibraryHome:
    return LibraryHome.made(tmp_path)


class Broken(HashingEmbedder):
    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        raise EmbedderUnavailable("The model is away.")


def test_the_bar_has_six_boxes() -> None:
    assert [
        "[░░░░░░] 0%",
        "[█░░░░░] 16%",
        "[██░░░░] 33%",
        "[███░░░] 50%",
        "[████░░] 66%",
        "[█████░] 83%",
        "[██████] 100%",
        "[██████] 100%",
    ] == [bar(done) for done in range(8)]


@pytest.mark.long
def test_a_book_is_taken_in_step_by_step(home: LibraryHome) -> None:
    answer = home.call("alexandria_ingest", book_id=1)

    chunks = answer["chunks"]
    assert [
        f"📖 Found: 'A Small Book' by {BOTH}",
        "📁 Using EPUB format",
        "🔍 File located",
        "📋 Not previously ingested",
        f"⚙️ Created {chunks} chunks",
        "💾 Manifest updated",
        "✅ Successfully ingested 'A Small Book'!",
    ] == answer["steps"]
    assert {
        "success": True,
        "title": "A Small Book",
        "author": BOTH,
        "language": "eng",
        "hierarchical": True,
        "chunking_params": {"threshold": 0.55, "min_chunk_size": 200, "max_chunk_size": 1200},
        "file_size_mb": 0.0,
        "collection": "alexandria",
        "format": "EPUB",
        "progress": "[██████] 100%",
        "error": None,
        "resource_id": "small",
    }.items() <= answer.items()
    assert chunks >= 3


@pytest.mark.long
def test_a_book_that_is_there_is_not_taken_in_again_unless_forced(home: LibraryHome) -> None:
    _, again, forced, elsewhere = home.calls(
        ("alexandria_ingest", {"book_id": 1}),
        ("alexandria_ingest", {"book_id": 1}),
        ("alexandria_ingest", {"book_id": 1, "force": True}),
        ("alexandria_ingest", {"book_id": 1, "collection": "second"}),
    )

    assert {
        "success": False,
        "title": "A Small Book",
        "author": BOTH,
        "progress": "[████░░] 66%",
        "error": "'A Small Book' already ingested in collection 'alexandria'",
    } == {key: value for key, value in again.items() if key != "steps"}
    assert "⚠️ Already ingested in 'alexandria'" == again["steps"][-1]
    assert [(True, "alexandria"), (True, "second")] == [
        (each["success"], each["collection"]) for each in (forced, elsewhere)
    ]


@pytest.mark.parametrize(
    ("book_id", "error", "progress", "keys"),
    [
        (77, "Book with ID 77 not found in Calibre", "[█░░░░░] 16%", set()),
        (4, "No readable formats available for 'Sealed'", "[██░░░░] 33%", {"title", "author"}),
        (3, "Could not locate EPUB file for 'Gone'", "[███░░░] 50%", {"title", "author"}),
    ],
)
def test_a_book_that_cannot_be_found_says_how_far_it_came(
    home: LibraryHome, book_id: int, error: str, progress: str, keys: set[str]
) -> None:
    answer = home.call("alexandria_ingest", book_id=book_id)

    assert (error, progress) == (answer["error"], answer["progress"])
    assert {"success", "progress", "steps", "error"} | keys == set(answer)
    assert answer["steps"][-1].startswith("❌ ")


@pytest.mark.long
def test_an_ingest_that_fails_leaves_nothing_and_says_why(home: LibraryHome) -> None:
    failed, stats = home.without(embedder=Broken()).calls(
        ("alexandria_ingest", {"book_id": 1}), ("alexandria_stats", {})
    )

    assert ("The model is away.", "[█████░] 83%", "❌ Ingestion failed") == (
        failed["error"],
        failed["progress"],
        failed["steps"][-1],
    )
    assert 0 == stats["qdrant"].get("points_count", 0)


def test_without_a_library_the_bar_is_empty(home: LibraryHome) -> None:
    answer = home.without(library=Nowhere()).call("alexandria_ingest", book_id=1)

    assert ("Calibre library not found: nowhere", "[░░░░░░] 0%", "❌ Calibre library not found") == (
        answer["error"],
        answer["progress"],
        answer["steps"][-1],
    )


def test_the_first_format_that_can_be_read_stands_in(home: LibraryHome) -> None:
    answer = home.call("alexandria_ingest", book_id=2, format_preference="pdf")

    assert ("TXT", "hrv", "Čelo Plain") == (answer["format"], answer["language"], answer["author"])


def file_of(home: LibraryHome, name: str, text: str | bytes) -> str:
    path = home.folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


@pytest.mark.long
def test_a_file_is_taken_in_step_by_step(home: LibraryHome) -> None:
    answer = home.call("alexandria_ingest_file", file_path=str(home.folder / "small.epub"))

    assert [
        "📁 Found: small.epub (0.0 MB)",
        "📋 Not previously ingested",
        f"🔍 Metadata: 'A Small Book' by {BOTH}",
        f"⚙️ Created {answer['chunks']} chunks",
        "💾 Manifest updated",
        "✅ Successfully ingested 'A Small Book'!",
    ] == answer["steps"]
    assert (True, "EPUB", "[██████] 100%", None) == tuple(
        answer[key] for key in ("success", "format", "progress", "error")
    )


@pytest.mark.long
def test_what_is_said_wins_over_what_the_file_says(home: LibraryHome) -> None:
    answer = home.call(
        "alexandria_ingest_file", file_path=str(home.folder / "small.epub"), title="Other", author="Else", language="fr"
    )

    assert ("Other", "Else", "fra") == (answer["title"], answer["author"], answer["language"])


@pytest.mark.long
def test_missing_metadata_are_asked_for(home: LibraryHome) -> None:
    path = file_of(home, "nameless.txt", chapter("Bees"))

    asked, given = home.calls(
        ("alexandria_ingest_file", {"file_path": path, "author": " Unknown "}),
        ("alexandria_ingest_file", {"file_path": path, "title": "Bees", "author": "Bee Keeper"}),
    )

    missing = asked["missing_fields"]
    call = ", ".join([f'file_path="{path}"', *(f'{name}="..."' for name in missing)])
    assert "author" in missing
    assert {
        "success": False,
        "needs_metadata": True,
        "file_path": path,
        "file_name": "nameless.txt",
        "file_size_mb": 0.0,
        "format": "TXT",
        "progress": "[███░░░] 50%",
        "error": f"Missing required metadata: {', '.join(missing)}. Please provide: alexandria_ingest_file({call})",
    }.items() <= asked.items()
    assert f"⚠️ Missing metadata: {', '.join(missing)}" == asked["steps"][-1]
    assert asked["extracted"]["author"] is None
    assert (True, "Bees", "Bee Keeper") == (given["success"], given["title"], given["author"])


BAD_FILES: list[tuple[str, str, str, str]] = [
    ("book.epub", "File path must be absolute, got: book.epub", "❌ Path must be absolute", "[█░░░░░] 16%"),
    ("{home}/no.epub", "File not found: {home}/no.epub", "❌ File not found", "[█░░░░░] 16%"),
    ("/etc/passwd", "outside the folders", "❌ Path not allowed", "[█░░░░░] 16%"),
    (
        "{home}/x.exe",
        "Unsupported file format: .exe. Supported: .epub, .pdf, .txt, .md, .html",
        "❌ Unsupported format: .exe",
        "[█░░░░░] 16%",
    ),
    ("{home}/broken.epub", "Failed to extract text/metadata: ", "❌ Failed to extract: ", "[███░░░] 50%"),
]


@pytest.mark.parametrize(("path", "error", "step", "progress"), BAD_FILES)
def test_a_file_that_cannot_be_read_says_why(
    home: LibraryHome, path: str, error: str, step: str, progress: str
) -> None:
    file_of(home, "x.exe", "MZ")
    file_of(home, "broken.epub", b"PK\x03\x04 no more of it")

    answer = home.call("alexandria_ingest_file", file_path=path.format(home=home.folder))

    assert error.format(home=home.folder) in answer["error"]
    assert answer["steps"][-1].startswith(step)
    assert progress == answer["progress"]


@pytest.mark.long
def test_the_same_bytes_under_another_name_are_known(home: LibraryHome) -> None:
    copy = file_of(home, "copy.epub", (home.folder / "small.epub").read_bytes())

    answer = home.calls(("alexandria_ingest", {"book_id": 1}), ("alexandria_ingest_file", {"file_path": copy}))[1]

    assert ("'A Small Book' already ingested in collection 'alexandria'", "[██░░░░] 33%") == (
        answer["error"],
        answer["progress"],
    )
    assert {"success", "title", "progress", "steps", "error"} == set(answer)


@pytest.mark.long
def test_a_batch_tells_what_became_of_each_book(home: LibraryHome) -> None:
    first, again = home.calls(
        ("alexandria_batch_ingest", {"book_ids": [1, 2, 3, 4, 77, 1]}),
        ("alexandria_batch_ingest", {"book_ids": [1, 2]}),
    )

    assert [
        (1, "success", None),
        (2, "success", None),
        (3, "skipped", "File not found"),
        (4, "skipped", "No readable format"),
    ] == [(each["id"], each["status"], each["error"]) for each in first["results"]]
    assert (4, 2, 2, 0, None) == tuple(first[key] for key in ("total", "succeeded", "skipped", "failed", "error"))
    assert "📚 Batch ingest complete: 2/4 succeeded, 2 skipped" == first["summary"]
    assert first["results"][0]["chunks"] > 0
    assert ["Already ingested"] * 2 == [each["error"] for each in again["results"]]
    assert "📚 Batch ingest complete: 0/2 succeeded, 2 skipped" == again["summary"]


def test_a_batch_names_the_books_that_the_limit_leaves_out(home: LibraryHome) -> None:
    answer = home.call("alexandria_batch_ingest", book_ids=[2, 1, 77], limit=1)

    assert ([2], [1, 77], 1) == ([each["id"] for each in answer["results"]], answer["ids_over_limit"], answer["total"])
    assert "unknown_ids" not in answer


def test_a_batch_can_be_what_a_search_finds(home: LibraryHome) -> None:
    answer = home.call("alexandria_batch_ingest", author="plain")

    assert ([2], "📚 Batch ingest complete: 1/1 succeeded") == (
        [each["id"] for each in answer["results"]],
        answer["summary"],
    )


@pytest.mark.parametrize(
    ("arguments", "summary", "error"),
    [
        (
            {},
            "❌ Must provide either book_ids or search criteria (author/title/language)",
            "No books specified",
        ),
        (
            {"book_ids": []},
            "❌ Must provide either book_ids or search criteria (author/title/language)",
            "No books specified",
        ),
        ({"author": "nobody"}, "⚠️ No books found matching criteria", None),
        ({"book_ids": [77]}, "⚠️ No books found matching criteria", None),
        (
            {"book_ids": [1], "threshold": 9},
            "❌ Error: The threshold must be a number",
            "The threshold must be a number",
        ),
    ],
)
def test_a_batch_of_nothing_says_so(
    home: LibraryHome, arguments: dict[str, Any], summary: str, error: str | None
) -> None:
    answer = home.call("alexandria_batch_ingest", **arguments)

    assert (0, 0, 0, 0, []) == tuple(answer[key] for key in ("total", "succeeded", "skipped", "failed", "results"))
    assert answer["summary"].startswith(summary)
    assert (answer["error"] or "").startswith(error or "")
    assert (answer["error"] is None) is (error is None)


@pytest.mark.long
def test_a_batch_goes_on_after_a_failure(home: LibraryHome) -> None:
    answer = home.without(embedder=Broken()).call("alexandria_batch_ingest", book_ids=[1, 2])

    assert [("failed", "The model is away.")] * 2 == [(each["status"], each["error"]) for each in answer["results"]]
    assert "📚 Batch ingest complete: 0/2 succeeded, 2 failed" == answer["summary"]


def test_a_batch_without_a_library_says_so(home: LibraryHome) -> None:
    answer = home.without(library=Nowhere()).call("alexandria_batch_ingest", book_ids=[1])

    assert ("❌ Calibre library not found", "Calibre library not found: nowhere") == (
        answer["summary"],
        answer["error"],
    )


@pytest.mark.long
@pytest.mark.parametrize("name", [{"book_id": 1}, {"resource_id": "small"}, {"file_path": "{home}/small.epub"}])
def test_a_book_can_be_taken_out_again(home: LibraryHome, name: dict[str, Any]) -> None:
    name = {key: value.format(home=home.folder) if isinstance(value, str) else value for key, value in name.items()}

    ingested, removed, found, again, back = home.calls(
        ("alexandria_ingest", {"book_id": 1}),
        ("alexandria_remove", name),
        ("alexandria_query", {"query": "queen bee", "threshold": 0}),
        ("alexandria_remove", name),
        ("alexandria_ingest", {"book_id": 1}),
    )

    assert {
        "success": True,
        "title": "A Small Book",
        "author": BOTH,
        "resource_id": "small",
        "chunks": ingested["chunks"],
        "collection": "alexandria",
        "error": None,
    }.items() <= removed.items()
    assert removed["points"] > ingested["chunks"]
    assert [] == found["results"]
    assert (False, True) == (again["success"], "is not in the collection 'alexandria'" in again["error"])
    assert back["success"] is True
