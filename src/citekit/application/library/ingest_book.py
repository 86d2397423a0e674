"""Ingests a book into the library: splits it into chunks, embeds them, and stores them in the vector index."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter

from attrs import evolve, field, frozen

from citekit.application.index_ranking import IndexRanking
from citekit.application.ingest import Ingest
from citekit.application.library.chunk_book import ChunkBook, ChunkedBook
from citekit.application.library.index_entries import BookWords
from citekit.application.library.store_book import StoreBook
from citekit.domain.digest import Digest
from citekit.domain.errors import (
    AlreadyIngested,
    Cancelled,
    CiteKitError,
    MetadataMissing,
    RequestRefused,
    SourceChanged,
    SourceUnsupported,
)
from citekit.domain.library.books import BookFacts
from citekit.domain.library.chunking import ChunkingParams
from citekit.domain.library.languages import iso_639_3
from citekit.domain.library.ledger import Deed, LedgerEntry
from citekit.domain.library.vectors import Vector, Where
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.embedder import Embedder
from citekit.domain.ports.ledger import Ledger
from citekit.domain.ports.library_reader import LibraryReader
from citekit.domain.ports.locks import Locks, report_waiting
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.vector_index import VectorIndex
from citekit.domain.progress import Progress, silent, within
from citekit.domain.quotes.superscripts import CUT
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

_WAITING = "waiting for another process that is ingesting or removing the same book"

UNKNOWN = ("", "unknown", "unknown author")
"""Placeholders for an unknown author or title, in lower case."""

BATCH = 256
"""The number of passages that are embedded between two progress updates."""


SHORT = 20
"""Chapters with fewer words than this say too little to be embedded alone."""


@frozen(kw_only=True)
class BookRequest:
    """A request to ingest the file at `path` into `collection`.

    `title`, `author`, and `language` override the metadata in the file. `book_id`, `authors`, and `tags` come from the
    library software, such as Calibre. Without `hierarchical`, the whole book is one chapter. `force` replaces an
    earlier ingest of the same bytes. `named` is false if the path comes from CiteKit's own records. `expected` is the
    required digest, if any.
    """

    path: Path
    collection: str
    title: str | None = None
    author: str | None = None
    authors: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    language: str | None = None
    book_id: int | None = None
    tags: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    hierarchical: bool = True
    params: ChunkingParams = field(factory=ChunkingParams)
    force: bool = False
    named: bool = True
    expected: Digest | None = None


@frozen
class BookIngested:
    """The result of ingesting a book: its ledger entry, and the parameters that were used."""

    entry: LedgerEntry
    hierarchical: bool
    params: ChunkingParams

    @property
    def chunks(self) -> int:
        """The number of chunks in the book."""
        return self.entry.counts["chunks"]


@frozen(kw_only=True)
class IngestBook:
    """Splits a book into chunks, and adds the chunks to the vector index and to the map of the file.

    Without `force`, the same bytes are ingested into a collection only once. An ingest that is canceled or fails leaves
    nothing in the index; if storing fails, the ledger records the failure. After a kill, searches ignore the incomplete
    book until it is ingested again. An earlier ingest that is being replaced is searched until the new one is complete.
    `scan_advice` returns the sentence of `domain.recognition` about PDFs without text.
    """

    ingest: Ingest
    reader: LibraryReader
    cut: ChunkBook
    embedder: Embedder
    index: VectorIndex
    ledger: Ledger
    locks: Locks
    clock: Clock
    index_ranking: IndexRanking
    scan_advice: Callable[[], str] = str

    @property
    def maps(self) -> MapStore:
        """The store of the maps to which the chunks are added."""
        return self.ingest.maps

    def already(self, path: Path, collection: str) -> LedgerEntry | None:
        """Return the ledger entry of the file at `path` if its bytes are in `collection`, else None.

        Raise the errors of `Sources.identify`, the ledger, and the vector index.
        """
        return self._ingested(self.ingest.sources.identify(path), collection)

    def facts(self, path: Path) -> BookFacts:
        """Return the bibliographic metadata in the file at `path`.

        Raise `SourceUnsupported` if the format cannot be read as a book, and the errors of reading the file.
        """
        return self.reader.facts(self._readable(path))

    def __call__(self, request: BookRequest, progress: Progress = silent) -> BookIngested:
        """Ingest the requested book and return the result. `progress` receives percentages from 0 to 100.

        Raise `AlreadyIngested` if the bytes are in the collection and `force` is not set, `MetadataMissing` if the
        title or author is unknown, `SourceUnsupported` if the format cannot be read as a book or the file has no text,
        `ModelMismatch` if the collection has another embedding model, `RequestRefused` if the file does not have the
        expected digest, `SourceChanged` if the file changes, `Cancelled` if `progress` cancels the ingest, and the
        errors of the ports.
        """
        source = self._readable(request.path)
        if request.expected is not None and source.digest != request.expected:
            what = (
                f"ingest-file {shlex.quote(str(source.path))}"
                if request.book_id is None
                else f"ingest {request.book_id}"
            )
            raise RequestRefused(
                f"{source.path} is not the file that was ingested, or it has changed since. To ingest it as it is now, "
                f"run: citekit library {what} --collection {shlex.quote(request.collection)} "
                f"--home {shlex.quote(str(self.ingest.choose_id.home.absolute()))}"
            )
        if request.named:
            self.ingest.folders.remember(source.path)
        with self.locks.holding(f"book:{request.collection}:{source.digest}", report_waiting(progress, _WAITING)):
            if not request.force and (there := self._ingested(source, request.collection)):
                raise AlreadyIngested(there.title, request.collection)
            complete = self._complete(source, request)
            if self.index.facts(request.collection) is not None:
                self.index.create(
                    request.collection, self.embedder.identity
                )  # raises if the collection belongs to another model
            return self._take_in(source, complete, progress)

    def _readable(self, path: Path) -> Source:
        source = self.ingest.sources.identify(path)
        if not self.reader.supports(source.format):
            raise SourceUnsupported(f"CiteKit cannot read {source.format.name} files as books: {path}")
        return source

    def _ingested(self, source: Source, collection: str) -> LedgerEntry | None:
        last = self.ledger.last(collection, source.digest)
        if last is None or last.deed is not Deed.FINISHED or self.index.facts(collection) is None:
            return None
        there = self.index.count(collection, Where({"digest": (last.index_key,)}))
        return last if there else None  # the index may have been deleted, or be on another server

    def _complete(self, source: Source, request: BookRequest) -> BookRequest:
        """Return the request, completed from the metadata in the file, with the language as an ISO 639-3 code.

        Raise `MetadataMissing` if the title or author is still unknown. With a `book_id`, a title such as
        "Unknown" is accepted, and an unknown author becomes "Unknown".
        """
        said = self.reader.facts(source)
        title, author = known(request.title, said.title), known(request.author, " & ".join(said.authors))
        if request.book_id is not None:  # a library may list a book or an author as Unknown
            title, author = title or request.title, author or "Unknown"
        missing = [name for name, value in (("title", title), ("author", author)) if value is None]
        if missing:
            raise MetadataMissing(str(source.path), missing)
        return evolve(
            request, title=title, author=author, language=iso_639_3(request.language or said.language or "unknown")
        )

    def _take_in(self, source: Source, request: BookRequest, progress: Progress) -> BookIngested:
        watch = _Stopwatch()
        with watch.timing("mapping"):
            base = self._base(source)
            progress(5, 100, "reading")
        with watch.timing("chunking"):
            cut = self._cut(source, base, request, progress)
        with watch.timing("embedding"):
            vectors = self._vectors(cut, progress)
        if not self.ingest.sources.is_unchanged(source):
            raise SourceChanged(base.resource_id, str(source.path), during_mapping=True)
        there = self._ingested(source, request.collection)
        entry = evolve(
            self._entry(source, base, request, cut), seconds=watch.seconds, copy=0 if there is None else 1 - there.copy
        )
        progress(90, 100, "storing")  # the last chance to cancel: from here on, the ingest completes or is undone
        store = StoreBook(self.index, self.ledger, self.maps, self.clock)
        done = store(entry, _words(request, entry), cut, vectors, self.embedder.identity, there)
        with suppress(CiteKitError):  # the first question tries again
            self.index_ranking.unless_known(self.maps.get(done.resource_id))
        with suppress(Cancelled):  # too late to cancel
            progress(100, 100, "ingested")
        return BookIngested(done, request.hierarchical, request.params)

    def _base(self, source: Source) -> ResourceMap:
        """Return the map to which the chunks are added: a stored map of the current bytes by any mapper, else a new
        map.
        """
        for name in self.maps.find_source(str(source.path)):
            there = self.maps.get(name)
            if there.source_digest == source.digest and there.mapper is not None:
                return there
        return self.ingest(source.path, named=False).resource_map

    def _cut(self, source: Source, base: ResourceMap, request: BookRequest, progress: Progress) -> ChunkedBook:
        extracted_text = self.reader.read(source, progress=within(progress, 5))
        if not extracted_text.text.strip():
            scanned = self.scan_advice() if source.format.name == "pdf" else ""
            raise SourceUnsupported(f"{source.path} has no text that CiteKit can read.{scanned}")
        return self.cut(
            base, extracted_text, request.params, request.language, hierarchical=request.hierarchical, progress=progress
        )

    def _vectors(self, cut: ChunkedBook, progress: Progress) -> Sequence[Vector]:
        texts = list(_embedded_texts(cut))
        vectors: list[Vector] = []
        for first in range(0, len(texts), BATCH):
            progress(30 + 60 * first / len(texts), 100, "embedding")
            vectors += self.embedder.documents(
                texts[first : first + BATCH], within(progress, 30 + 60 * first / len(texts))
            )
        return vectors

    def _entry(self, source: Source, base: ResourceMap, request: BookRequest, cut: ChunkedBook) -> LedgerEntry:
        params = request.params
        return LedgerEntry(
            deed=Deed.STARTED,
            at=self.clock.now(),
            collection=request.collection,
            digest=source.digest,
            resource_id=base.resource_id,
            path=str(source.path),
            size=source.size,
            format=source.format.name.upper(),
            title=request.title or "",
            author=request.author or "",
            language=request.language or "",
            book_id=request.book_id,
            model=str(self.embedder.identity),
            parameters={
                "threshold": params.threshold,
                "min_chunk_size": params.min_words,
                "max_chunk_size": params.max_words,
                "hierarchical": request.hierarchical,
                "tags": list(request.tags),
                "authors": list(request.authors),
            },
            counts=cut.counts,
        )


def _words(request: BookRequest, entry: LedgerEntry) -> BookWords:
    return BookWords(
        digest=entry.digest,
        copy=entry.copy,
        resource_id=entry.resource_id,
        title=entry.title,
        authors=request.authors or (entry.author,),
        language=entry.language,
        tags=request.tags,
        book_id=request.book_id,
        source="file" if request.book_id is None else "calibre",
        ingested_at=entry.at.isoformat(),
    )


def known(*values: str | None) -> str | None:
    """Return the first of `values` that is neither empty nor a placeholder such as "Unknown", stripped, or None."""
    return next((value.strip() for value in values if value and value.strip().lower() not in UNKNOWN), None)


def _embedded_texts(cut: ChunkedBook) -> Iterator[str]:
    """Yield the text to embed for each passage of the book.

    A chapter of fewer than `SHORT` words is embedded with the first passage of the next chunk.
    """
    text = cut.extracted_text.text.replace(CUT, " ")
    for chunk, following in zip(cut.placed, [*cut.placed[1:], None], strict=True):
        short = following is not None and chunk.siblings == 1 and chunk.words < SHORT
        for start, end in chunk.passages:
            yield text[start : following.passages[0][1] if short and following is not None else end].strip()


class _Stopwatch:
    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        started = perf_counter()
        yield
        self._seconds[stage] = round(perf_counter() - started, 4)

    @property
    def seconds(self) -> Mapping[str, float]:
        return dict(self._seconds)
