"""Trying how a book would be cut: nothing is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.mcp.library_home import SUBJECTS, LibraryHome

SMALL = {"threshold": 0.4, "min_chunk_size": 20, "max_chunk_size": 100}


@pytest.fixture
def home(tmp_path: Path) -> LibraryHome:
    return LibraryHome.made(tmp_path)


def test_a_trial_counts_and_shows_samples(home: LibraryHome) -> None:
    answer, stats = home.calls(("alexandria_test_chunking", {"book_id": 1, **SMALL}), ("alexandria_stats", {}))

    assert ("small.epub", "A Small Book", "Ada Writer & Bo Author") == (
        answer["file"],
        answer["title"],
        answer["author"],
    )
    assert {**SMALL, "min": 20, "max": 100} == answer["parameters"]
    counts = answer["stats"]
    assert counts["min_words"] <= counts["avg_words"] == counts["avg_words_per_chunk"] <= counts["max_words"] <= 100
    assert {"total_chunks", "total_words", "total_chars", "avg_chars_per_chunk"} <= set(counts)
    count = counts["total_chunks"]
    assert [0, count // 2, count - 1] == [sample["index"] for sample in answer["samples"]]
    for sample in answer["samples"]:
        assert {"index", "chunk_num", "word_count", "words", "preview", "text"} == set(sample)
        assert sample["index"] + 1 == sample["chunk_num"]
        assert len(sample["preview"]) <= 503
        assert (len(sample["preview"]) == 503) is sample["preview"].endswith("...")
    assert "points_count" not in stats["qdrant"]


def test_a_file_can_be_tried_too(home: LibraryHome) -> None:
    answer = home.call("alexandria_test_chunking_file", file_path=str(home.folder / "plain.txt"), **SMALL)

    assert (True, "plain.txt", None) == (answer["success"], answer["file"], answer["error"])
    assert any(SUBJECTS["Volcanoes"] in sample["text"] for sample in answer["samples"])


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("alexandria_test_chunking", {"book_id": 77}, "Book with ID 77 not found"),
    ("alexandria_test_chunking", {"book_id": 4}, "No readable formats for 'Sealed'"),
    ("alexandria_test_chunking", {"book_id": 3}, "Could not locate file for 'Gone'"),
    ("alexandria_test_chunking", {"book_id": 1, "threshold": -1}, "The threshold must be a number from 0 to 1"),
    ("alexandria_test_chunking_file", {"file_path": "x.txt"}, "File path must be absolute: x.txt"),
    ("alexandria_test_chunking_file", {"file_path": "{home}/x.txt"}, "File not found: {home}/x.txt"),
    ("alexandria_test_chunking_file", {"file_path": "{home}/x.exe"}, "Unsupported format: .exe"),
    ("alexandria_test_chunking_file", {"file_path": "{home}/empty.txt"}, "No chunks created"),
    ("alexandria_test_chunking_file", {"file_path": "/etc/passwd"}, "outside the folders"),
    ("alexandria_compare_chunking", {"book_id": 77}, "Book not found: 77"),
    ("alexandria_compare_chunking", {"book_id": 4}, "No formats available for book 4"),
    ("alexandria_compare_chunking", {"book_id": 3}, "File not found for book 3"),
]


@pytest.mark.parametrize(("tool", "arguments", "error"), BAD)
def test_what_cannot_be_tried_says_why(home: LibraryHome, tool: str, arguments: dict[str, Any], error: str) -> None:
    (home.folder / "x.exe").write_bytes(b"MZ")
    (home.folder / "empty.txt").write_text("\n \n")
    given = {
        key: value.format(home=home.folder) if isinstance(value, str) else value for key, value in arguments.items()
    }

    answer = home.call(tool, **given)

    assert answer["success"] is False
    assert answer["error"].startswith(error.format(home=home.folder)) or error in answer["error"]


def test_thresholds_are_compared_and_one_is_recommended(home: LibraryHome) -> None:
    answer = home.call("alexandria_compare_chunking", book_id=1)

    assert [0.4, 0.45, 0.5, 0.55, 0.6] == [each["threshold"] for each in answer["comparisons"]]
    assert (1, "EPUB", "small.epub", True, None) == tuple(
        answer[key] for key in ("book_id", "format", "file", "success", "error")
    )
    spread = answer["similarity_distribution"]
    assert spread["min"] <= spread["median"] <= spread["max"]
    assert answer["recommendation"] in [each["threshold"] for each in answer["comparisons"]]
    assert "coherence" in answer["recommendation_reason"]
    for each in answer["comparisons"]:
        assert {
            "chunks",
            "avg_words",
            "min_words",
            "max_words",
            "coherence",
            "semantic_breaks",
            "forced_breaks",
        } <= set(each)
        assert len(each["sample_breaks"]) <= 3
        for sample in each["sample_breaks"]:
            assert sample["reason"] in ("semantic", "max_size")
            assert max(len(sample["before"]), len(sample["after"])) <= 80
