"""Ingests many books from a library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from attrs import field, frozen

from citekit.application.library.choose_file import preferred
from citekit.application.library.ingest_book import BookIngested, BookRequest, IngestBook
from citekit.domain.errors import AlreadyIngested, BookMissing, Cancelled, CiteKitError, MapperUnavailable
from citekit.domain.library.books import BookFilter, BookRecord
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.ports.library import Library
from citekit.domain.progress import Progress, silent


class Status(StrEnum):
    """The outcome of one book in a batch."""

    SUCCESS = "success"
    SKIPPED = "skipped"
    FAILED = "failed"


@frozen(kw_only=True)
class BatchRequest:
    """The books to ingest, by ID or by filter, and the parameters."""

    collection: str
    book_ids: tuple[int, ...] | None = None
    wanted: BookFilter = field(factory=BookFilter)
    limit: int = 10
    format_preference: str = "epub"
    hierarchical: bool = True
    params: ChunkingParams = field(factory=ChunkingParams)
    force: bool = False


@frozen
class Outcome:
    """The outcome of one book. `reason` says why it was skipped or failed."""

    record: BookRecord
    status: Status
    ingested: BookIngested | None = None
    reason: str | None = None
    error: CiteKitError | None = None


@frozen
class BatchIngest:
    """Ingests books one after the other. If one fails, the others are still ingested. An interrupted batch can be
    repeated.
    """

    library: Library
    ingest_book: IngestBook

    def books(self, request: BatchRequest) -> Sequence[BookRecord]:
        """Return the requested books, at most `limit`. Requested IDs that are not in the library are skipped."""
        if request.book_ids is None:
            return self.library.find(request.wanted, request.limit)
        found = []
        for book_id in dict.fromkeys(request.book_ids[: request.limit]):
            try:
                found.append(self.library.get(book_id))
            except BookMissing:
                continue
        return found

    def __call__(
        self, books: Sequence[BookRecord], request: BatchRequest, progress: Progress = silent
    ) -> Iterator[Outcome]:
        """Yield the outcome of each book when it is finished.

        Raise `Cancelled` if `progress` cancels the batch.
        """
        for number, record in enumerate(books):
            progress(number, len(books), record.title)

            def inside(done: float, total: float | None = None, message: str = "", number: int = number) -> None:  # noqa: ARG001
                progress(number + done / (total or 100), len(books), books[number].title)

            yield self._one(record, request, inside)
        progress(len(books), len(books), "")

    def _one(self, record: BookRecord, request: BatchRequest, progress: Progress) -> Outcome:
        chosen = preferred(record, request.format_preference)
        if chosen is None:
            return Outcome(record, Status.SKIPPED, reason="No readable format")
        if not self.ingest_book.ingest.sources.exists(chosen.path):
            return Outcome(record, Status.SKIPPED, reason="File not found")
        try:
            return Outcome(
                record, Status.SUCCESS, self.ingest_book(request_for(record, chosen.path, request), progress)
            )
        except AlreadyIngested:
            return Outcome(record, Status.SKIPPED, reason="Already ingested")
        except Cancelled:
            raise
        except CiteKitError as error:
            return Outcome(record, Status.FAILED, reason=str(error), error=error)
        except Exception as bug:
            fault = MapperUnavailable(
                f"An unexpected error occurred inside CiteKit ({type(bug).__name__}: {bug}). Please report it."
            )
            fault.__cause__ = bug
            return Outcome(record, Status.FAILED, reason=str(fault), error=fault)


def request_for(record: BookRecord, path: Path, request: BatchRequest) -> BookRequest:
    """Return the request to ingest a book of the library."""
    return BookRequest(
        path=path,
        collection=request.collection,
        title=record.title,
        author=record.author or None,
        authors=record.authors,
        language=next(iter(record.languages), None),
        book_id=record.id,
        tags=record.tags,
        hierarchical=request.hierarchical,
        params=request.params,
        force=request.force,
    )
