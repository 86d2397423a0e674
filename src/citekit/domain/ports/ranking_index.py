"""Defines the port for the index with which documents and their pages are ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from attrs import field, frozen

from citekit.domain.library.vectors import Vector
from citekit.domain.ranking.document_index import DocumentIndex
from citekit.domain.ranking.documents import DocumentMatches


@frozen
class PassageVectors:
    """The vectors of the passages of a document. Passage i is on page `pages[i]`, from 0."""

    vectors: Sequence[Vector] = field(default=(), repr=False)
    pages: Sequence[int] = field(default=(), repr=False)


class DocumentFacts(NamedTuple):
    """The version of an indexed document and its number of pages."""

    version: str
    pages: int


class IndexedDocument(Protocol):
    """The stored index of a document."""

    @property
    def index(self) -> DocumentIndex:
        """The words of the pages."""

    def similarities(self, vector: Vector) -> Sequence[float] | None:
        """Return, for each page, the highest cosine of its passages with `vector`; None if no vectors were stored.

        A page without passages has 0.
        """


class RankingIndex(Protocol):
    """Stores the index of each document, and finds documents by their words.

    It is a cache: after a failure, a resource may count as not indexed. The methods raise `StoreUnavailable` if the
    index is in a database that cannot be used.
    """

    def documents(self) -> Mapping[str, DocumentFacts]:
        """Return the facts of each indexed document, by resource ID.

        While no process changes the index, every call returns the same object, at a cost that does not grow with the
        number of documents.
        """

    def put(
        self, resource_id: str, version: str, index: DocumentIndex, names: Iterable[str], passages: PassageVectors
    ) -> bool:
        """Store the index of a document, replacing an earlier one. Return whether it was stored.

        `names` are terms from `name_terms`.
        """

    def drop(self, resource_id: str) -> None:
        """Remove a resource."""

    def get(self, resource_id: str, version: str) -> IndexedDocument | None:
        """Return the index of a document, or None unless it is indexed with that version."""

    def find(self, terms: Sequence[str]) -> Mapping[str, Sequence[DocumentMatches]]:
        """Return, by term, the documents that have it in their text or among their names.

        Each document is in only one group of a term. Documents with the same numbers can be in different groups.
        """
