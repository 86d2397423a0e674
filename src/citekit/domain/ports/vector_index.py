"""Defines the port for the vector index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from citekit.domain.library.vectors import CollectionFacts, EmbedderIdentity, Entry, Found, Question, Where


class VectorIndex(Protocol):
    """An index of collections of entries, which can be searched by vector and by words. Thread-safe.

    A collection name has 1 to 64 letters, digits, `_`, `-`, or `.`, and begins with a letter or digit; other names
    raise `RequestRefused`. The methods raise `IndexUnavailable` if the index cannot be reached, another process does
    not release it, or its disk is full, and `IndexCorrupt` if the stored data cannot be read. Methods with a
    collection, except `create`, `facts`, and `drop`, raise `CollectionMissing` if the collection does not exist.
    """

    @property
    def place(self) -> str:
        """The folder or network address of the index, for messages."""

    def collections(self) -> Sequence[str]:
        """Return the names of the collections, sorted."""

    def facts(self, collection: str) -> CollectionFacts | None:
        """Return the state of the collection, or None if it does not exist."""

    def create(self, collection: str, model: EmbedderIdentity) -> None:
        """Create the collection if it does not exist. Raise `ModelMismatch` if it exists with another model."""

    def put(self, collection: str, entries: Iterable[Entry]) -> None:
        """Store entries, replacing entries with the same IDs.

        Raise `ModelMismatch` if a vector has a different number of dimensions than the collection's model, or
        `RequestRefused` if the ID, the vector, the words, or the payload of an entry are not valid.
        """

    def remove(self, collection: str, where: Where) -> None:
        """Remove the entries that match `where`. An empty `where` removes nothing."""

    def search(self, collection: str, question: Question) -> Found:
        """Return the IDs and scores of the entries that best match `question`.

        Raise the errors of `put` for a vector or words that are not valid.
        """

    def fetch(self, collection: str, ids: Sequence[str]) -> Sequence[Entry]:
        """Return the entries with the given IDs, in the same order, without vectors and words.

        Unknown IDs are omitted. Raise `RequestRefused` for an ID that is not a UUID.
        """

    def matching(self, collection: str, where: Where, limit: int = 10_000) -> Sequence[Entry]:
        """Return up to `limit` entries that match `where`, in the order of their IDs, without vectors and words."""

    def count(self, collection: str, where: Where | None = None) -> int:
        """Return the number of entries that match `where`, or of all entries."""

    def flush(self, collection: str) -> None:
        """Write all changes durably to disk and, after many changes, optimize the index, which is slow."""

    def drop(self, collection: str) -> None:
        """Remove the collection. Do nothing if it does not exist."""

    def close(self) -> None:
        """Close all collections. The next call opens them again."""
