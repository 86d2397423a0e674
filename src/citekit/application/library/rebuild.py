"""Rebuilds a collection by ingesting its books again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from citekit.application.library.ingest_book import BookIngested, BookRequest, IngestBook
from citekit.application.source_access import UNRESTRICTED
from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled, CiteKitError, IndexCorrupt
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.library.ledger import Deed, LedgerEntry
from citekit.domain.ports.folders import Folders
from citekit.domain.progress import Progress, silent


@frozen
class Rebuilt:
    """The outcome of ingesting one book again: `ingested` if it succeeded, else `error`. `entry` is the old ledger
    entry.
    """

    entry: LedgerEntry
    ingested: BookIngested | None = None
    error: CiteKitError | OSError | None = field(default=None)


@frozen
class Rebuild:
    """Rebuilds a collection for another embedding model, or after damage, with the books and parameters in the ledger.

    The ledger is untrusted data: an attacker could have written any path into it. A file outside the `known` folders is
    therefore ingested only if it has the digest in the ledger: then the author of the ledger already had its contents.
    """

    ingest_book: IngestBook
    known: Folders = UNRESTRICTED

    def books(self, collection: str) -> Sequence[LedgerEntry]:
        """Return the ledger entries of the books in `collection`, including books whose ingest was interrupted."""
        ledger = self.ingest_book.ledger
        return [*ledger.books(collection), *ledger.unfinished(collection)]

    def __call__(self, books: Sequence[LedgerEntry], collection: str, progress: Progress = silent) -> Iterator[Rebuilt]:
        """Ingest `books` again, and yield the outcome of each.

        If the collection is missing, damaged, or has another embedding model, it is deleted first, and its books are
        unfinished until they have been ingested. Otherwise the books are replaced one by one, and a book whose file is
        missing is left unchanged.

        Raise `Cancelled` if `progress` cancels the work, and, before anything is deleted, the errors of the sentence
        splitter and the embedders.
        """
        self._probe()
        if not self._usable(collection):
            for entry in books:
                self._unfinished(entry)
            self.ingest_book.index.drop(collection)
        for number, entry in enumerate(books):
            progress(number, len(books), entry.title)
            try:
                yield Rebuilt(entry, self.ingest_book(self._again(entry)))
            except Cancelled:
                raise
            except (CiteKitError, OSError) as error:
                yield Rebuilt(entry, error=error)
        progress(len(books), len(books), "")

    def _again(self, entry: LedgerEntry) -> BookRequest:
        return _again(entry, None if self.known.covers(Path(entry.path)) else entry.digest)

    def _probe(self) -> None:
        """Test the sentence splitter and the embedders with short texts."""
        cut = self.ingest_book.cut
        cut.splitter.starts("One. Two.")
        cut.similarity.query("probe")
        self.ingest_book.embedder.query("probe")

    def _usable(self, collection: str) -> bool:
        """Return whether the collection can be read and was created with the current embedding model."""
        try:
            facts = self.ingest_book.index.facts(collection)
        except IndexCorrupt:
            return False
        return facts is not None and facts.model == self.ingest_book.embedder.identity

    def _unfinished(self, entry: LedgerEntry) -> None:
        now = self.ingest_book.clock.now()
        self.ingest_book.ledger.append(evolve(entry, deed=Deed.STARTED, at=now, seconds={}))


def _again(entry: LedgerEntry, expected: Digest | None) -> BookRequest:
    said = entry.parameters
    usual = ChunkingParams()
    return BookRequest(
        path=Path(entry.path),
        named=False,
        expected=expected,
        collection=entry.collection,
        title=entry.title,
        author=entry.author,
        language=entry.language,
        book_id=entry.book_id,
        authors=tuple(said.get("authors", ())),
        tags=tuple(said.get("tags", ())),
        hierarchical=bool(said.get("hierarchical", True)),
        params=ChunkingParams(
            said.get("threshold", usual.threshold),
            said.get("min_chunk_size", usual.min_words),
            said.get("max_chunk_size", usual.max_words),
        ),
        force=True,
    )
