"""Creates the use cases of the library, with the adapters that the settings choose."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.application.ingest import Ingest
from citekit.application.library.ask import Ask
from citekit.application.library.batch import BatchIngest
from citekit.application.library.book_texts import BookTexts
from citekit.application.library.browse import Browse
from citekit.application.library.chunk_book import ChunkBook
from citekit.application.library.compare_chunking import CompareChunking
from citekit.application.library.ingest_book import IngestBook
from citekit.application.library.list_books import ListBooks
from citekit.application.library.narrow_books import NarrowTo
from citekit.application.library.rebuild import Rebuild
from citekit.application.library.remove_book import RemoveBook
from citekit.application.library.try_chunking import TryChunking
from citekit.application.resource_ids import ChooseId
from citekit.application.source_access import UNRESTRICTED
from citekit.container.cached_property import first_use
from citekit.container.ports import Ports
from citekit.domain.errors import LibraryUnavailable, RequestRefused
from citekit.domain.ports.embedder import Embedder
from citekit.domain.ports.folders import Folders
from citekit.domain.ports.ledger import Ledger
from citekit.domain.ports.library import Library
from citekit.domain.ports.personas import Personas
from citekit.domain.ports.sentence_splitter import SentenceSplitter
from citekit.domain.ports.vector_index import VectorIndex
from citekit.settings import LibrarySettings, Settings, expanded

if TYPE_CHECKING:
    from citekit.adapters.system.retry import Retries
    from citekit.container.answers import Answers

EMBEDDERS = ("fast", "quality", "minilm", "multilingual", "hashing", "onnx:FOLDER", "openai[:MODEL]", "gemini[:MODEL]")
"""The forms of a value of `CITEKIT_EMBEDDER`, with the variable parts in capital letters."""

EMBEDDING_TIMEOUT = 60.0
"""The default timeout in seconds for a request to an embedding service."""


@define
class Alexandria:
    """The use cases of the library of one home, with the given adapters or those of the settings. Each is created on
    first use. Thread-safe.
    """

    settings: Settings
    app: Answers
    _given: Ports = field(factory=lambda: Ports())
    made: dict[str, object] = field(factory=dict, init=False, repr=False)
    lock: threading.RLock = field(factory=threading.RLock, init=False, repr=False)

    @property
    def chosen(self) -> LibrarySettings:
        """The settings of the library."""
        return self.settings.library

    @first_use
    def library(self) -> Library:
        """The catalog of books: a Calibre library or a folder. Raises `LibraryUnavailable` if no library is configured."""
        if "library" in self._given:
            return self._given["library"]
        folder = self.chosen.calibre
        if folder is None:
            raise LibraryUnavailable(
                "Calibre library not found: CALIBRE_LIBRARY_PATH is not set. Set it to a Calibre library or to any folder of "
                "books."
            )
        from citekit.adapters.catalogs.calibre.catalog import CalibreLibrary
        from citekit.adapters.catalogs.folder import FolderLibrary

        if folder.exists() and not (folder / "metadata.db").exists():
            return FolderLibrary(folder, self.text, self.app.index)
        return CalibreLibrary(folder)

    @first_use
    def text(self) -> BookTexts:
        """The reader of the text of documents and recordings."""
        return BookTexts(self.app.text, self.app.quotable, self.app.probe)

    @first_use
    def splitter(self) -> SentenceSplitter:
        """The service that splits text into sentences."""
        from citekit.adapters.search.sentence_splitters import SentencexSplitter

        return self._given.get("splitter") or SentencexSplitter()

    @first_use
    def embedder(self) -> Embedder:
        """The embedder whose vectors the index stores. Raises `RequestRefused` if no embedder has the configured name."""
        from citekit.adapters.search.embedders.query_cache import CachingEmbedder

        return self._given.get("embedder") or CachingEmbedder(self.embedder_called(self.chosen.embedder))

    def embedder_called(self, name: str) -> Embedder:
        """Return the embedder with that name. Raise `RequestRefused` if there is none."""
        kind, _, what = name.partition(":")
        match kind:
            case "fast" if not what:
                return self._static
            case "quality" if not what:
                from citekit.adapters.search.embedders.combined import JoinedEmbedder

                return JoinedEmbedder([(self._static, 0.4), (self._minilm, 0.6)])
            case "minilm" if not what:
                return self._minilm
            case "multilingual" if not what:
                from citekit.adapters.search.embedders.multilingual import MultilingualEmbedder

                return MultilingualEmbedder()
            case "hashing" if not what:
                from citekit.adapters.search.embedders.hashing import HashingEmbedder

                return HashingEmbedder()
        return self._embedder_with(kind, what, name)

    def _embedder_with(self, kind: str, what: str, name: str) -> Embedder:
        chosen = self.settings
        waiting = chosen.timeout or EMBEDDING_TIMEOUT
        match kind:
            case "onnx" if what:
                from citekit.adapters.search.embedders.onnx_folder import OnnxFolderEmbedder

                return OnnxFolderEmbedder(expanded(what))
            case "openai":
                from citekit.adapters.search.embedders import openai

                where = chosen.base_url or chosen.openai_base_url
                return openai.OpenAiEmbedder(
                    chosen.openai_key,
                    what or openai.DEFAULT_MODEL,
                    base_url=where,
                    timeout=waiting,
                    retries=self._retries(),
                    key_variable=chosen.openai_variable,
                )
            case "gemini":
                from citekit.adapters.search.embedders import gemini

                return gemini.GeminiEmbedder(
                    chosen.gemini_key,
                    what or gemini.DEFAULT_MODEL,
                    base_url=chosen.base_url,
                    timeout=waiting,
                    retries=self._retries(),
                    key_variable=chosen.gemini_variable,
                )
        raise RequestRefused(
            f"There is no embedder named '{name}'. Set CITEKIT_EMBEDDER to one of: {', '.join(EMBEDDERS)}."
        )

    def _retries(self) -> Retries:
        from citekit.adapters.system.retry import Retries

        return Retries(count=self.settings.retries)

    @first_use
    def similarity(self) -> Embedder:
        """The embedder that finds where the subject of a text changes, so that chunks can end there."""
        return self._given.get("similarity") or self._static

    @first_use
    def _static(self) -> Embedder:
        from citekit.adapters.search.embedders.static import StaticEmbedder

        return StaticEmbedder()

    @first_use
    def _minilm(self) -> Embedder:
        from citekit.adapters.search.embedders.minilm import MiniLmEmbedder

        return MiniLmEmbedder()

    @first_use
    def index(self) -> VectorIndex:
        """The vector index: on the configured server, or else in a folder of the home."""
        if "index" in self._given:
            return self._given["index"]
        return self._server() if self.chosen.server else self._embedded()

    def _embedded(self) -> VectorIndex:
        from citekit.adapters.libraries.qdrant_edge import EdgeSettings
        from citekit.adapters.search.vector_index.edge import EdgeVectorIndex

        chosen = self.chosen
        settings = EdgeSettings(quantized=chosen.quantization == "int8", on_disk=chosen.on_disk)
        return EdgeVectorIndex(chosen.index_folder, settings)

    def _server(self) -> VectorIndex:
        from citekit.adapters.libraries.qdrant_client import QdrantSettings
        from citekit.adapters.search.vector_index.server import QdrantVectorIndex

        chosen = self.chosen
        return QdrantVectorIndex(
            QdrantSettings(
                url=chosen.qdrant_url,
                host=chosen.qdrant_host,
                port=chosen.qdrant_port,
                grpc_port=chosen.qdrant_grpc_port,
                grpc=chosen.qdrant_prefer_grpc,
                https=chosen.qdrant_https,
                api_key=chosen.qdrant_key,
                quantized=chosen.quantization == "int8",
                on_disk=chosen.on_disk,
            )
        )

    @first_use
    def ledger(self) -> Ledger:
        """The ledger of ingested books."""
        given = self._given.get("ledger")
        if given is None and self.chosen.database is not None:
            from citekit.adapters.storage.postgres_ledger import PostgresLedger

            return PostgresLedger(self.chosen.database)
        from citekit.adapters.storage.sqlite_ledger import SqliteLedger

        return given or SqliteLedger(self.chosen.ledger)

    @first_use
    def personas(self) -> Personas:
        """The guardians, which give answers a voice, and the patterns, which give answers a form."""
        from citekit.adapters.personas.markdown_files import PersonaFiles

        return self._given.get("personas") or PersonaFiles(self.chosen.guardians)

    @property
    def allowed(self) -> Folders:
        """The folders and files that the user of the library may read; all files for the owner of the home."""
        return self.app.client_folders if self.app.confined else UNRESTRICTED

    @first_use
    def cut(self) -> ChunkBook:
        """The use case that splits a book into chapters, chunks, and passages."""
        return ChunkBook(self.splitter, self.similarity, self.embedder.window)

    @first_use
    def ingest_book(self) -> IngestBook:
        """The use case that ingests a book."""
        app = self.app
        naming = ChooseId(app.maps, self.settings.home)
        return IngestBook(
            ingest=Ingest(app.sources, app.maps, app.local_mapper, app.locks, naming, app.folders),
            reader=self.text,
            cut=self.cut,
            embedder=self.embedder,
            index=self.index,
            ledger=self.ledger,
            locks=app.locks,
            clock=app.clock,
            index_ranking=app.rank_pages.index,
            scan_advice=lambda: app.parsers.scan_advice(),
        )

    @first_use
    def batch_ingest(self) -> BatchIngest:
        """The use case that ingests many books."""
        return BatchIngest(self.library, self.ingest_book)

    @first_use
    def ask(self) -> Ask:
        """The use case that answers a question with passages from books."""
        home = str(self.settings.home.absolute())
        return Ask(self.embedder, self.index, self.ledger, self.app.maps, self.app.rank_pages, home)

    @first_use
    def rebuild(self) -> Rebuild:
        """The use case that rebuilds a collection by ingesting its books again."""
        return Rebuild(self.ingest_book, self.app.client_folders)

    @first_use
    def narrow(self) -> NarrowTo:
        """The use case that restricts a question to the books that match given criteria."""
        return NarrowTo(self.ledger)

    @first_use
    def list_books(self) -> ListBooks:
        """The use case that lists the ingested books."""
        return ListBooks(self.ledger, self.app.maps, self.app.sources)

    @first_use
    def remove_book(self) -> RemoveBook:
        """The use case that removes a book from a collection."""
        return RemoveBook(self.index, self.ledger, self.app.maps, self.app.locks, self.app.clock)

    @first_use
    def browse(self) -> Browse:
        """The use case that lists the files in a folder that can be ingested."""
        return Browse(self.text)

    @first_use
    def try_chunking(self) -> TryChunking:
        """The use case that shows how a book would be split into chunks."""
        return TryChunking(self.app.sources, self.text, self.splitter, self.similarity)

    @first_use
    def compare_chunking(self) -> CompareChunking:
        """The use case that compares how different similarity thresholds would split a book into chunks."""
        return CompareChunking(self.app.sources, self.text, self.splitter, self.similarity)
