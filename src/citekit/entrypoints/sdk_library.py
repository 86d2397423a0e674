"""Defines the library of the SDK, which `CiteKit.library` returns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.application.library.answers import Answers, AskRequest, ContextMode
from citekit.application.library.ingest_book import BookIngested, BookRequest
from citekit.application.library.narrow_books import Narrowing
from citekit.application.library.remove_book import BookName, Removed
from citekit.domain.errors import RequestRefused
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from citekit.container.library import Alexandria
    from citekit.domain.library.ledger import LedgerEntry


class Library:
    """A collection of books that can be ingested, queried, and removed. Requires the extra `library`. Thread-safe.

    `collection` is `QDRANT_COLLECTION` by default, or `alexandria` if that is not set. `alexandria` gives access to the
    use cases.
    """

    def __init__(self, alexandria: Alexandria, collection: str | None = None) -> None:
        self.alexandria = alexandria
        self.collection = collection or alexandria.chosen.collection

    def ingest(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        author: str | None = None,
        language: str | None = None,
        params: ChunkingParams | None = None,
        hierarchical: bool = True,
        force: bool = False,
        progress: Progress = silent,
    ) -> BookIngested:
        """Ingest the file of a book. `title`, `author`, and `language` replace the values in the file.

        `hierarchical` keeps chunks within chapters. Raise `AlreadyIngested` if the book is already in the collection
        and `force` is False, `MetadataMissing` if the title or the author is unknown, `SourceUnsupported`, or another
        `CiteKitError`.
        """
        request = BookRequest(
            path=Path(path),
            collection=self.collection,
            title=title,
            author=author,
            language=language,
            params=params or ChunkingParams(),
            hierarchical=hierarchical,
            force=force,
        )
        return self.alexandria.ingest_book(request, progress)

    def ask(
        self,
        question: str,
        *,
        limit: int = 5,
        threshold: float = 0.5,
        context: str = "precise",
        narrowing: Narrowing | None = None,
    ) -> Answers:
        """Return at most `limit` hits that answer the question, best first, with scores of at least `threshold`.

        The best two hits are returned even if their scores are lower. Pass a hit's `chunk.address` to
        `CiteKit.resolve`. `context` is `precise`, `contextual` (with chapters), or `comprehensive` (also with
        neighboring chunks). Raise `CollectionMissing`, `ModelMismatch` if the collection was made with another
        embedder, `RequestRefused` if an argument is invalid or no book matches `narrowing`, or another `CiteKitError`.
        """
        if context not in set(ContextMode):
            raise RequestRefused(f"{context!r} is not a context mode. Use one of: {', '.join(ContextMode)}.")
        where = self.alexandria.narrow(narrowing or Narrowing(), self.collection)
        request = AskRequest(
            query=question,
            collection=self.collection,
            limit=limit,
            threshold=threshold,
            mode=ContextMode(context),
            where=where,
        )
        return self.alexandria.ask(request)

    def books(self) -> Sequence[LedgerEntry]:
        """Return the ledger entries of the books in the collection, oldest ingest first."""
        return self.alexandria.ledger.books(self.collection)

    def remove(self, resource_id: str) -> Removed:
        """Remove a book from the collection, and its chunks from its map. Raise `RequestRefused` if it is not in the
        collection.
        """
        return self.alexandria.remove_book(BookName(resource_id=resource_id), self.collection)
