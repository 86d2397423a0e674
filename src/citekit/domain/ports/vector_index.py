"""Finds entries by vector and by words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from citekit.domain.library.vectors import CollectionFacts, EmbedderIdentity, Entry, Found, Question, Where


class VectorIndex(Protocol):
    """Collections of entries. An entry finds itself first; of k + 1 answers, the first k are those of limit k.

    The names of collections are 1 to 64 letters, digits, `_`, `-` or `.`, and begin with a letter or digit; others are
    refused with `RequestRefused`. Safe to use from several threads. Every method raises `IndexUnavailable` where the
    index cannot be reached, is in use by another process that does not let go, or its disk is full, and `IndexCorrupt` where
    what is stored cannot be read;
    every one that names a collection, but `create`, `facts` and `drop`, raises `CollectionMissing`.
    """

    @property
    def place(self) -> str:
        """Where this is, in words for messages: a folder, or an address."""

    def collections(self) -> Sequence[str]:
        """The names of all collections, sorted."""

    def facts(self, collection: str) -> CollectionFacts | None:
        """How the collection stands, or None where there is none of that name."""

    def create(self, collection: str, model: EmbedderIdentity) -> None:
        """Make it, where there is none; raises `ModelMismatch` where there is one of another model."""

    def put(self, collection: str, entries: Iterable[Entry]) -> None:
        """Store or replace, by id. Raises `ModelMismatch` for a vector of another length."""

    def remove(self, collection: str, where: Where) -> None:
        """Drop every entry that fits; an empty `where` fits none."""

    def search(self, collection: str, question: Question) -> Found:
        """The best entries; their payloads are fetched on their own."""

    def fetch(self, collection: str, ids: Sequence[str]) -> Sequence[Entry]:
        """Those entries in the order asked for, without vectors and words; unknown ids are left out."""

    def matching(self, collection: str, where: Where, limit: int = 10_000) -> Sequence[Entry]:
        """The entries that fit, by id, without vectors and words."""

    def count(self, collection: str, where: Where | None = None) -> int:
        """How many entries fit; with no condition, all."""

    def flush(self, collection: str) -> None:
        """Make durable all that was put or removed, and put in order what speeds up the search. Slow after much change."""

    def drop(self, collection: str) -> None:
        """Forget the whole collection; nothing happens where there is none."""

    def close(self) -> None:
        """Close everything; the next call opens it again."""
