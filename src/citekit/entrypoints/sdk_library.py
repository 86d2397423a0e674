"""The library for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from citekit.application.library.ask import Answers, AskRequest, ContextMode
from citekit.application.library.ingest_book import BookIngested, BookRequest
from citekit.application.library.narrowing import Narrowing
from citekit.application.library.removing import BookName, Removed
from citekit.bootstrap.alexandria import Alexandria
from citekit.domain.errors import RequestRefused
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.library.ledger import LedgerEntry
from citekit.domain.progress import Progress, silent


class Library:
    """Takes books in, asks them, takes them out; needs the extra `library`. Safe to use from several threads.

    `collection` is which one (default: `QDRANT_COLLECTION`, else alexandria). The use cases themselves are at `alexandria`.
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
        """Take in a file. Raises `AlreadyIngested`, `MetadataMissing`, `SourceUnsupported`, and others of ours."""
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
        """The places that answer, best first; each hit's `chunk.address` is what `CiteKit.resolve` cuts out.

        `context` is precise, contextual (with the chapters) or comprehensive (also with the chunks around). Raises
        `CollectionMissing`, `ModelMismatch`, `RequestRefused`, and others of ours.
        """
        if context not in set(ContextMode):
            raise RequestRefused(f"{context!r} is not one of {', '.join(ContextMode)}.")
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
        """The books that are in the collection, those taken in first first."""
        return self.alexandria.ledger.books(self.collection)

    def remove(self, resource_id: str) -> Removed:
        """Take a book out; its file, and its map without chunks, stay. Raises `RequestRefused` where it is not there."""
        return self.alexandria.remove_book(BookName(resource_id=resource_id), self.collection)
