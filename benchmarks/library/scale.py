"""Scale: the embedded index at 10,000, 50,000 and 450,000 entries: ingest, disk, memory, query times, recall.

A third of the entries are chunks with the words of a page, two thirds passages with a vector, as books have them. The
vectors lie in clusters, the words are distributed as Zipf found. Answers are held against a scan with numpy.

    python -m benchmarks.library.scale [entries ...]
"""

from __future__ import annotations

import gc
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field

from citekit.adapters.search.vector_index.edge import EdgeVectorIndex
from citekit.domain.library.vectors import EmbedderIdentity, Entry, Found, Question, SparseVector, Where

SIZES = (10_000, 50_000, 450_000)
DIMENSIONS = 256
VOCABULARY = 200_000
BOOK = 300
CLUSTERS = 2000
QUERIES = 100
LIMIT = 100
TEXT = "In the beginning of years, when the world was so new and all. " * 19


@define
class Library:
    """Entries made from a seed, with the vectors kept apart for the scan."""

    size: int
    random: np.random.Generator = field(factory=lambda: np.random.default_rng(7))
    centres: Any = None
    vectors: Any = None

    def __attrs_post_init__(self) -> None:
        self.centres = self.random.normal(size=(CLUSTERS, DIMENSIONS)).astype(np.float32)
        self.vectors = np.zeros((self.size, DIMENSIONS), np.float32)

    def near(self, count: int) -> Any:
        """Unit vectors around the centres."""
        made = self.centres[self.random.integers(0, CLUSTERS, count)]
        made = made + 0.7 * self.random.normal(size=(count, DIMENSIONS)).astype(np.float32)
        return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)

    def words(self, count: int) -> SparseVector:
        """Terms of Zipf's distribution, with weights as BM25 gives them."""
        indices = np.unique(self.random.zipf(1.25, count) % VOCABULARY)
        return SparseVector(indices.tolist(), (0.5 + 1.5 * self.random.random(len(indices))).tolist())

    def entries(self) -> Iterator[Entry]:
        """All entries, a book after another."""
        for start in range(0, self.size, BOOK):
            near = self.near(BOOK)
            for number in range(start, min(start + BOOK, self.size)):
                yield self._entry(number, near[number - start])

    def _entry(self, number: int, vector: Any) -> Entry:
        chunk, book = str(uuid.UUID(int=number - number % 3)), number // BOOK
        payload = {"chunk": chunk, "book_id": book, "language": LANGUAGES[book % 5], "kind": "passage"}
        if number % 3:
            self.vectors[number] = vector
            return Entry(str(uuid.UUID(int=number)), chunk, vector.tolist(), None, payload)
        payload |= {"kind": "chunk", "text": TEXT, "resource": f"book-{book}", "tags": ["a", f"t{book % 50}"]}
        return Entry(chunk, chunk, None, self.words(260), payload)


LANGUAGES = ("eng", "deu", "fra", "spa", "ita")


def main(sizes: list[int]) -> None:
    """The table."""
    for size in sizes or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            _measure(size, Path(folder))


def _measure(size: int, folder: Path) -> None:
    library, index = Library(size), EdgeVectorIndex(folder)
    print(f"\n{size:,} entries")
    index.create("scale", EmbedderIdentity("random", "1", DIMENSIONS))
    _ingest(index, library)
    print(f"  disk {_disk(folder) / 2**20:,.0f} MB")
    index.close()
    gc.collect()
    before, index = _resident(), EdgeVectorIndex(folder)
    started = time.perf_counter()
    index.count("scale")
    print(f"  open {time.perf_counter() - started:.2f} s")
    questions = [(vector, library.words(6)) for vector in library.near(QUERIES)]
    for name, where in (("all", Where()), ("one language of five", Where({"language": ("eng",)}))):
        _search(index, library, questions, name, where)
    print(f"  resident: {(_resident() - before) / 2**20:,.0f} MB more than before it was opened, mapped files included")
    index.close()


def _ingest(index: EdgeVectorIndex, library: Library) -> None:
    entries, spent, settling = library.entries(), 0.0, []
    while batch := [entry for _, entry in zip(range(15_000), entries, strict=False)]:
        started = time.perf_counter()
        index.put("scale", batch)
        spent += time.perf_counter() - started
        started = time.perf_counter()
        index.flush("scale")
        settling.append(time.perf_counter() - started)
    print(
        f"  ingest {library.size / spent:,.0f} a second; settled {len(settling)} times in {sum(settling):.1f} s", end=""
    )
    print(f" (longest {max(settling):.1f} s); {library.size / (spent + sum(settling)):,.0f} a second in all")


def _search(index: EdgeVectorIndex, library: Library, questions: list[Any], name: str, where: Where) -> None:
    asked = [Question(vector.tolist(), words, LIMIT, where) for vector, words in questions]
    for question in asked[:10]:
        index.search("scale", question)
    times, answers = [], []
    for question in asked:
        started = time.perf_counter()
        answers.append(index.search("scale", question))
        times.append((time.perf_counter() - started) * 1000)
    recall = _recall(library, questions, answers, _allowed(library, where))
    p95 = sorted(times)[int(len(times) * 0.95)]
    print(f"  {name}: p50 {statistics.median(times):.1f} ms, p95 {p95:.1f} ms, recall of the exact 10 {recall:.3f}")


def _recall(library: Library, questions: list[Any], answers: list[Found], allowed: Any) -> float:
    """How many of the ten that the scan finds are among the first ten; after the timing, as the scan keeps all cores busy."""
    exact = [_exact(library, vector, allowed) for vector, _ in questions]
    found = [{uuid.UUID(hit.id).int for hit in answer.dense[:10]} for answer in answers]
    return sum(len(one & other) for one, other in zip(exact, found, strict=True)) / sum(map(len, exact))


def _allowed(library: Library, where: Where) -> Any:
    """Which rows the scan looks at."""
    numbers = np.arange(library.size)
    passages = numbers % 3 != 0
    return numbers[passages & ((numbers // BOOK) % 5 == 0)] if where else numbers[passages]


def _exact(library: Library, vector: Any, allowed: Any) -> set[int]:
    scores = (library.vectors @ vector)[allowed]
    return {int(number) for number in allowed[np.argpartition(-scores, 10)[:10]]}


def _disk(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]])
