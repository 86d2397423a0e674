"""Take a book into the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter

from attrs import evolve, field, frozen

from citekit.application.ingest import Ingest
from citekit.application.library.chunk_book import ChunkBook, ChunkedBook
from citekit.application.library.index_entries import BookWords
from citekit.application.library.store_book import StoreBook
from citekit.domain.digest import Digest
from citekit.domain.errors import (
    AlreadyIngested,
    Cancelled,
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
from citekit.domain.ports.locks import Locks, report_waiting
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.text_reader import TextReader
from citekit.domain.ports.vector_index import VectorIndex
from citekit.domain.progress import Progress, silent, within
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

_WAITING = "waiting for another caller who takes in, or out, the same book"

UNKNOWN = ("", "unknown", "unknown author")
"""What stands for an author or a title that nobody knows, in lower case."""

BATCH = 256
"""Passages that are embedded between two signs of progress."""


SHORT = 20
"""Words of a chapter that alone say too little of what it is about."""


@frozen(kw_only=True)
class BookRequest:
    """The file at `path`, to be taken into `collection`.

    `title`, `author` and `language` win over what the file says. `book_id`, `authors` and `tags` are those of a library.
    `force` replaces what is there of the same bytes. Without `hierarchical`, the book is one chapter. `named` is false
    if only CiteKit's records, and not a person, named the file. `expected` is the digest that the file must have.
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
    """What was done, as the ledger has it."""

    entry: LedgerEntry
    hierarchical: bool
    params: ChunkingParams

    @property
    def chunks(self) -> int:
        """How many chunks the book has."""
        return self.entry.counts["chunks"]


@frozen(kw_only=True)
class IngestBook:
    """Reads a book, cuts it into chunks, and puts them into the index and the map.

    A book is known by its bytes: the same ones are not ingested twice into a collection. What is cancelled, or fails before
    it is stored, leaves the index as it was; what fails while it is stored is taken out again, also where it was there before
    (`force`), and the ledger says so. What a killed process left is replaced by the next ingest of that book, and not shown
    until then.
    """

    ingest: Ingest
    reader: TextReader
    cut: ChunkBook
    embedder: Embedder
    index: VectorIndex
    ledger: Ledger
    locks: Locks
    clock: Clock

    @property
    def maps(self) -> MapStore:
        """Where maps are kept."""
        return self.ingest.maps

    def already(self, path: Path, collection: str) -> LedgerEntry | None:
        """The ledger's line where those bytes are in the collection, else None. Raises as `Sources.identify` does."""
        return self._ingested(self.ingest.sources.identify(path), collection)

    def facts(self, path: Path) -> BookFacts:
        """What the file at `path` says of itself. Raises `SourceUnsupported`, `SourceUnreadable`."""
        return self.reader.facts(self._readable(path))

    def __call__(self, request: BookRequest, progress: Progress = silent) -> BookIngested:
        """Take in the book; `progress` counts to 100.

        Raises `AlreadyIngested`, `MetadataMissing`, `SourceUnsupported` (also where there is no text in the file),
        `ModelMismatch`, `RequestRefused` for another file than the expected one, `Cancelled`, and what the ports raise.
        """
        source = self._readable(request.path)
        if request.expected is not None and source.digest != request.expected:
            raise RequestRefused(
                f"{source.path} is not the file that was ingested, or has changed since: ingest it by name "
                "(citekit library ingest-file) if it is to be in the library."
            )
        if request.named:
            self.ingest.folders.remember(source.path)
        with self.locks.holding(f"book:{request.collection}:{source.digest}", report_waiting(progress, _WAITING)):
            if not request.force and (there := self._ingested(source, request.collection)):
                raise AlreadyIngested(there.title, request.collection)
            complete = self._complete(source, request)
            if self.index.facts(request.collection) is not None:
                self.index.create(request.collection, self.embedder.identity)  # raises where it is another model's
            return self._take_in(source, complete, progress)

    def _readable(self, path: Path) -> Source:
        source = self.ingest.sources.identify(path)
        if not self.reader.supports(source.format):
            raise SourceUnsupported(f"{path} is a {source.format.name} file, which cannot be read as a book.")
        return source

    def _ingested(self, source: Source, collection: str) -> LedgerEntry | None:
        last = self.ledger.last(collection, source.digest)
        if last is None or last.deed is not Deed.FINISHED or self.index.facts(collection) is None:
            return None
        there = self.index.count(collection, Where({"digest": (source.digest.hex,)}))
        return last if there else None  # an index that was deleted, or another server, has none of what the ledger says

    def _complete(self, source: Source, request: BookRequest) -> BookRequest:
        """The request with what the file says of itself. Raises `MetadataMissing`."""
        said = self.reader.facts(source)
        title, author = known(request.title, said.title), known(request.author, " & ".join(said.authors))
        if request.book_id is not None:  # a library may call a book Unknown, and its author
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
        entry = evolve(self._entry(source, base, request, cut), seconds=watch.seconds)
        progress(90, 100, "storing")  # the last chance to give up: from here on it is done, or taken back
        store = StoreBook(self.index, self.ledger, self.maps, self.clock)
        done = store(entry, _words(request, entry), cut, vectors, self.embedder.identity)
        with suppress(Cancelled):  # too late
            progress(100, 100, "ingested")
        return BookIngested(done, request.hierarchical, request.params)

    def _base(self, source: Source) -> ResourceMap:
        """The map that the chunks go into: the one in use, from any mapper, else a new one."""
        for name in self.maps.find_source(str(source.path)):
            there = self.maps.get(name)
            if there.source_digest == source.digest and there.mapper is not None:
                return there
        return self.ingest(source.path, named=False).resource_map

    def _cut(self, source: Source, base: ResourceMap, request: BookRequest, progress: Progress) -> ChunkedBook:
        extracted_text = self.reader.read(source, progress=within(progress, 5))
        if not extracted_text.text.strip():
            raise SourceUnsupported(
                f"{source.path} has no text: it is empty, or holds pictures of pages, which must be read by OCR first."
            )
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
    """What every entry of the book says of it."""
    return BookWords(
        digest=entry.digest,
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
    """The first of these that is a name, and not a word for nobody knows."""
    return next((value.strip() for value in values if value and value.strip().lower() not in UNKNOWN), None)


def _embedded_texts(cut: ChunkedBook) -> Iterator[str]:
    """The text of each passage as it is embedded: a short chapter, such as a dedication, goes on into the next chunk's."""
    text = cut.extracted_text.text
    for chunk, following in zip(cut.placed, [*cut.placed[1:], None], strict=True):
        short = following is not None and chunk.siblings == 1 and chunk.words < SHORT
        for start, end in chunk.passages:
            yield text[start : following.passages[0][1] if short and following is not None else end].strip()


class _Stopwatch:
    """How long each stage took."""

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
