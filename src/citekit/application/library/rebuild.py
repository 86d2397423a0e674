"""Rebuild a collection from the books that were ingested into it."""

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
    """What became of one book: taken in again, or the error that it met."""

    entry: LedgerEntry
    ingested: BookIngested | None = None
    error: CiteKitError | OSError | None = field(default=None)


@frozen
class Rebuild:
    """For another embedder, or an index that was damaged: the ledger knows the books, and how each was cut.

    A ledger may come from anyone, and name any file of the user. A file outside the `known` folders is read only
    if it has the bytes that the ledger speaks of, so that nothing gets into the index that the ledger's author did not have.
    """

    ingest_book: IngestBook
    known: Folders = UNRESTRICTED

    def books(self, collection: str) -> Sequence[LedgerEntry]:
        """The books of the collection, those included whose ingest was cut off."""
        ledger = self.ingest_book.ledger
        return [*ledger.books(collection), *ledger.unfinished(collection)]

    def __call__(self, books: Sequence[LedgerEntry], collection: str, progress: Progress = silent) -> Iterator[Rebuilt]:
        """Take in `books` again, from an empty collection where it holds another embedder's vectors, or is damaged.

        Else each book is replaced where it is, and one whose file is gone stays as it is. After a drop each is unfinished in
        the ledger until it is done, so that nothing that was not done is taken for ingested. Nothing is dropped before what
        a book is cut and embedded by was seen to work.
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
        """Raise what would leave a dropped collection empty; asks the embedder for a vector, whatever that costs."""
        cut = self.ingest_book.cut
        cut.splitter.starts("One. Two.")
        cut.similarity.query("probe")
        self.ingest_book.embedder.query("probe")

    def _usable(self, collection: str) -> bool:
        """Whether what the collection holds can stay until it is replaced."""
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
