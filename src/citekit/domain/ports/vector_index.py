"""The port for the vector index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from citekit.domain.library.vectors import CollectionFacts, EmbedderIdentity, Entry, Found, Question, Where


class VectorIndex(Protocol):
    """Collections of entries, searched by vector and by words.

    A search for an entry's own vector returns that entry first. Of k + 1 results, the first k are those with the limit
    k. Collection names have 1 to 64 letters, digits, `_`, `-`, or `.`, and begin with a letter or digit; others raise
    `RequestRefused`. Thread-safe. Every method raises `IndexUnavailable` if the index cannot be reached, another
    process does not release it, or its disk is full, and `IndexCorrupt` if the stored data cannot be read. Every method
    with a collection, except `create`, `facts`, and `drop`, raises `CollectionMissing`.
    """

    @property
    def place(self) -> str:
        """The folder or network address of the index, for messages."""

    def collections(self) -> Sequence[str]:
        """Return the names of all collections, sorted."""

    def facts(self, collection: str) -> CollectionFacts | None:
        """Return the status of the collection, or None if it does not exist."""

    def create(self, collection: str, model: EmbedderIdentity) -> None:
        """Create the collection if it does not exist. Raises `ModelMismatch` if it exists with another model."""

    def put(self, collection: str, entries: Iterable[Entry]) -> None:
        """Store or replace entries by ID. Raises `ModelMismatch` for a vector with another number of dimensions."""

    def remove(self, collection: str, where: Where) -> None:
        """Remove every matching entry. An empty `where` matches none."""

    def search(self, collection: str, question: Question) -> Found:
        """Return the best entries without their payloads; `fetch` returns those."""

    def fetch(self, collection: str, ids: Sequence[str]) -> Sequence[Entry]:
        """Return the entries with those IDs in the same order, without vectors and words. Unknown IDs are omitted."""

    def matching(self, collection: str, where: Where, limit: int = 10_000) -> Sequence[Entry]:
        """Return the matching entries in the order of their IDs, without vectors and words."""

    def count(self, collection: str, where: Where | None = None) -> int:
        """Return the number of matching entries, or of all entries without a condition."""

    def flush(self, collection: str) -> None:
        """Make all changes durable and optimize the search structures. Slow after many changes."""

    def drop(self, collection: str) -> None:
        """Remove the collection. Does nothing if it does not exist."""

    def close(self) -> None:
        """Close all collections. The next call opens them again."""
