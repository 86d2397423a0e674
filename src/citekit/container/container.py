"""Creates the use cases of one home, with the adapters that the settings choose. Each is created on first use."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.container.cached_property import first_use
from citekit.container.extractors import lazy_extractors
from citekit.container.lazy_proxy import lazy
from citekit.container.names import ADAPTERS, INDEX, MODEL_MAPPERS, NODES, RANKING, TEXTS
from citekit.container.ports import Ports
from citekit.domain.errors import RequestRefused, SourceUnsupported

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from citekit.adapters.formats.measuring import RememberingMeasurer
    from citekit.adapters.importers.foreign_files import ForeignFiles
    from citekit.adapters.libraries.postgres.database import Database
    from citekit.adapters.libraries.sqlite.key_value_cache import Index
    from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
    from citekit.adapters.sandbox.worker_pool import WorkerPool
    from citekit.adapters.sources.allowed_folders import AllowedFolders
    from citekit.adapters.sources.bucket_files import BucketFiles
    from citekit.adapters.sources.ingested_files import IngestedPlaces
    from citekit.adapters.storage.ingest_runs import IngestRuns
    from citekit.adapters.storage.shared_maps import SharedMapStore
    from citekit.adapters.storage.unpacked_archives import UnpackedArchives
    from citekit.adapters.storage.uploads import Uploads
    from citekit.adapters.storage.viewed_homes import ViewedHomes
    from citekit.application.agent_context import ReadContext
    from citekit.application.answer_question import AnswerQuestion
    from citekit.application.doctor import Doctor
    from citekit.application.edit_map import EditMap
    from citekit.application.evidence_content import EvidenceContent
    from citekit.application.find_text import FindText
    from citekit.application.import_map import ImportMap
    from citekit.application.index_ranking import IndexRanking
    from citekit.application.index_text import IndexText
    from citekit.application.ingest import Ingest
    from citekit.application.ingest_many import IngestMany
    from citekit.application.list_resources import ListResources
    from citekit.application.locate_source import LocateSource
    from citekit.application.look_up_quote import LookUpQuote
    from citekit.application.measure_extent import MeasureSource
    from citekit.application.migrate_maps import MigrateMaps
    from citekit.application.rank_pages import RankPages
    from citekit.application.read_text import ReadText
    from citekit.application.remove_resource import RemoveResource
    from citekit.application.rename_resource import RenameResource
    from citekit.application.resolve import Resolve
    from citekit.application.search import Search
    from citekit.application.show_resource import ShowResource
    from citekit.application.structure import GetStructure
    from citekit.application.sync_buckets import SyncBuckets
    from citekit.application.sync_folders import SyncFolders
    from citekit.application.tag_resources import TagResources
    from citekit.application.validate_map import ValidateMap
    from citekit.application.verify import VerifyEvidence
    from citekit.application.verify_quote import VerifyQuote
    from citekit.container.library import Alexandria
    from citekit.container.mappers import Mappers
    from citekit.container.parsers import Parsers
    from citekit.domain.ports.answer_model import AnswerModel
    from citekit.domain.ports.clock import Clock
    from citekit.domain.ports.embedder import Embedder
    from citekit.domain.ports.evidence_store import EvidenceStore
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.ports.folders import Folders
    from citekit.domain.ports.locks import Locks
    from citekit.domain.ports.map_adapter import MapAdapter
    from citekit.domain.ports.map_store import MapStore
    from citekit.domain.ports.mapper import Mapper
    from citekit.domain.ports.mcp_clients import McpClients
    from citekit.domain.ports.measurer import Measurer
    from citekit.domain.ports.media_probe import MediaProbe
    from citekit.domain.ports.node_index import NodeIndex
    from citekit.domain.ports.object_store import ObjectStore
    from citekit.domain.ports.outputs import Outputs
    from citekit.domain.ports.page_views import PageViews
    from citekit.domain.ports.quotable_texts import QuotableTexts
    from citekit.domain.ports.ranking_index import RankingIndex
    from citekit.domain.ports.reader import Reader
    from citekit.domain.ports.reranker import Reranker
    from citekit.domain.ports.screen_reader import ScreenReader
    from citekit.domain.ports.sources import Sources
    from citekit.domain.ports.speech_models import SpeechModels
    from citekit.domain.ports.tag_store import TagStore
    from citekit.domain.ports.text_index import TextIndex
    from citekit.domain.ports.text_reader import TextReader
    from citekit.domain.ports.transcriber import Transcriber
    from citekit.settings import Settings
    from citekit.wire.locations import BoxOrder

    Catalog = tuple[Database, Callable[[], str]]
    """A database, and a function that returns the name of a shared store there."""


@define
class Container:
    """The use cases of one home and the adapters that they use. Each object is created on first use. Thread-safe.

    Adapters that the caller did not supply are chosen from the settings. `made` holds the objects created so far. If
    `confined` is true, the container serves a client that may read only some files, such as an agent. Otherwise it
    serves the owner of the home.
    """

    settings: Settings
    _given: Ports = field(factory=lambda: Ports())
    confined: bool = False
    made: dict[str, object] = field(factory=dict, init=False, repr=False)
    lock: threading.RLock = field(factory=threading.RLock, init=False, repr=False)

    @first_use
    def maps(self) -> MapStore:
        """The store of the maps in the home."""
        given = self._given.get("maps")
        if given is None and self.objects is not None:
            return self._shared_maps(self.objects, self.settings.store or "")
        from citekit.adapters.storage.json_maps import JsonMapStore

        return given or JsonMapStore(self.settings.maps_folder, self.index, self.settings.cache_folder)

    def _shared_maps(self, objects: ObjectStore, store: str) -> SharedMapStore:
        """Return the maps in the object store with the address `store`, with a catalog if there is a database."""
        if self._database is not None:
            from citekit.adapters.storage.cataloged_maps import CatalogedMapStore

            return CatalogedMapStore(objects, store, self._database)
        from citekit.adapters.storage.map_cards import MapCards
        from citekit.adapters.storage.shared_maps import SharedMapStore
        from citekit.domain.digest import Digest

        folder = self.settings.cache_folder / "stores" / Digest.of_bytes(store.encode()).hex[:16]
        return SharedMapStore(objects, store, MapCards(str(folder)))

    @first_use
    def _database(self) -> Database | None:
        """The database for the catalogs of shared stores, or None."""
        if self.settings.catalog is None:
            return None
        from citekit.adapters.libraries.postgres.database import Database

        return Database(self.settings.catalog)

    @first_use
    def _catalog(self) -> Catalog | None:
        """The database with the catalog of this home's shared store, or None if there is no such store or database."""
        if self._database is None or self.objects is None or self._given.get("maps") is not None:
            return None
        from citekit.adapters.storage.cataloged_maps import CatalogName

        return self._database, CatalogName(self.objects, self.settings.store or "", self._database)

    @first_use
    def objects(self) -> ObjectStore | None:
        """The object store with the maps, texts, and evidence of this home, or None if they are only in the home."""
        return None if self.settings.store is None else _objects_at(self.settings.store)

    def collect_shared_maps(self, grace: timedelta) -> int:
        """Delete removed and replaced maps from the shared store (see `SharedMapCollection`), and return how many objects
        were deleted. Raise `RequestRefused` if there is no such store.
        """
        from citekit.adapters.storage.shared_map_collection import SharedMapCollection

        if self.objects is None:
            raise RequestRefused("This home has no shared store. Name it in CITEKIT_STORE.")
        removed = SharedMapCollection(self.objects).collect(grace)
        if self._database is not None:
            from citekit.adapters.storage.cataloged_maps import CatalogedMapStore

            CatalogedMapStore(self.objects, self.settings.store or "", self._database).record_missing()
        return removed

    def migrate_to(self, store: str) -> MigrateMaps:
        """Return the use case that copies the maps of the home to another store. Raise `RequestRefused` if `store` is
        not the address of one.
        """
        from citekit.application.migrate_maps import MigrateMaps
        from citekit.settings.chosen import checked_store

        address = checked_store(store, "STORE")
        return MigrateMaps(self.maps, self._shared_maps(_objects_at(address), address))

    @first_use
    def evidence(self) -> EvidenceStore:
        """The store of extracted evidence in the cache folder."""
        from citekit.adapters.storage.evidence_files import FileEvidenceStore

        folder = self.settings.cache_folder / "evidence"
        given = self._given.get("evidence")
        local = given or FileEvidenceStore(folder, self.index, self.settings.cache_limit, clock=self.clock)
        if given is not None or self.objects is None:
            return local
        from citekit.adapters.storage.shared_evidence import SharedEvidenceStore

        return SharedEvidenceStore(local, self.objects)

    @first_use
    def outputs(self) -> Outputs:
        """The folder with copies of evidence that have readable file names."""
        from citekit.adapters.storage.outputs import FriendlyOutputs

        return self._given.get("outputs") or FriendlyOutputs(self.settings.output_folder)

    @first_use
    def ingest_runs(self) -> IngestRuns:
        """The records of the ingests of many files."""
        from citekit.adapters.storage.ingest_runs import IngestRuns

        return IngestRuns(self.settings.cache_folder / "runs")

    @first_use
    def uploads(self) -> Uploads:
        """The files of the home that were added in the viewer."""
        from citekit.adapters.storage.uploads import Uploads
        from citekit.settings.places import UPLOADS

        return Uploads(self.settings.home / UPLOADS)

    @first_use
    def unpacked_archives(self) -> UnpackedArchives:
        """The ZIP archives that were unpacked into the home."""
        from citekit.adapters.storage.unpacked_archives import UnpackedArchives
        from citekit.settings.places import UPLOADS

        return UnpackedArchives(self.settings.home / UPLOADS)

    @first_use
    def sources(self) -> Sources:
        """Access to source files. If the container is `confined`, only files in `client_folders` can be accessed."""
        from citekit.adapters.sources.filesystem import FileSources
        from citekit.adapters.sources.restored import RestoredSources
        from citekit.adapters.sources.restricted import ConfinedSources

        given = self._given.get("sources")
        every = given or RestoredSources(FileSources(self.index), lazy(lambda: self.bucket_files))
        return ConfinedSources(every, self.client_folders) if self.confined else every

    @first_use
    def bucket_files(self) -> BucketFiles:
        """The local copies of files in buckets."""
        from citekit.adapters.sources.bucket_files import BucketFiles

        return BucketFiles(self.settings.cache_folder / "remote", self.settings.cache_limit)

    def for_clients(self) -> Container:
        """Return a container for the same home that can read only the files in `client_folders`."""
        return Container(self.settings, self._given, confined=True)

    @first_use
    def client_folders(self) -> AllowedFolders:
        """The folders and files that agents may read.

        These are the home, the configured roots, the folders of ingested files, and, if the library tools are enabled,
        the library folders.
        """
        from citekit.adapters.sources.allowed_folders import AllowedFolders

        chosen = self.settings
        books = (chosen.library.calibre, chosen.library.browse) if "alexandria" in chosen.library.toolsets else ()
        folders = (chosen.home, *chosen.roots, *books)
        return AllowedFolders([folder for folder in folders if folder is not None], self._ingested_places)

    @first_use
    def mappable_folders(self) -> AllowedFolders:
        """Return the paths that agents may map: the home, the roots, and the library folders.

        Files next to an ingested file can be read, but not mapped. A home that is the user's own folder or the root of
        a drive does not count, because nobody chose it to be shown to an agent; `CITEKIT_ROOTS` can name it.
        """
        from citekit.adapters.sources.allowed_folders import AllowedFolders

        chosen = self.settings
        books = (chosen.library.calibre, chosen.library.browse) if "alexandria" in chosen.library.toolsets else ()
        home = () if _is_broad(chosen.home) else (chosen.home,)
        return AllowedFolders([folder for folder in (*home, *chosen.roots, *books) if folder is not None])

    @first_use
    def ingest_for_agents(self) -> Ingest:
        """Return the use case that maps a file for an agent: only in `mappable_folders`, and without a model."""
        from citekit.adapters.sources.filesystem import FileSources
        from citekit.adapters.sources.restricted import ConfinedSources
        from citekit.application.ingest import Ingest
        from citekit.application.resource_ids import ChooseId

        folders = self.mappable_folders
        sources = ConfinedSources(self._given.get("sources") or FileSources(self.index), folders)
        choose_id = ChooseId(self.maps, self.settings.home)
        return Ingest(sources, self.maps, self.local_mapper, self.locks, choose_id, folders, keep_other_maps=True)

    @first_use
    def folders(self) -> Folders:
        """The folders and files that the user of this container may read: `client_folders` if it is `confined`, else
        all.
        """
        from citekit.adapters.sources.allowed_folders import OwnersFolders

        return self.client_folders if self.confined else OwnersFolders(self._ingested_places)

    @first_use
    def _ingested_places(self) -> IngestedPlaces:
        from citekit.adapters.sources.ingested_files import IngestedPlaces

        return IngestedPlaces(self.settings.maps_folder)

    @first_use
    def locks(self) -> Locks:
        """The locks that prevent processes from changing the same data of the home at the same time."""
        from citekit.adapters.system.file_locks import FileLocks

        return self._given.get("locks") or FileLocks(self.settings.cache_folder / "locks")

    @first_use
    def clock(self) -> Clock:
        """The clock that provides the current time."""
        from citekit.adapters.system.clock import SystemClock

        return self._given.get("clock") or SystemClock()

    @first_use
    def parsers(self) -> Parsers:
        """The parsers that run in this process instead of in a worker."""
        from citekit.container.parsers import Parsers, SpeechChoice

        chosen = self.settings
        return Parsers(
            password=chosen.password,
            ocr=chosen.ocr,
            speech=SpeechChoice(chosen.speech_model, chosen.speech_language, str(chosen.models_folder))
            if chosen.speech
            else None,
            given_index=lazy(lambda: self.index),
            given_reader=self._given.get("reader"),
            given_probe=self._given.get("probe"),
            given_transcriber=self._given.get("transcriber"),
            given_screen_reader=self._given.get("screen_reader"),
            given_clock=self.clock,
        )

    @first_use
    def workers(self) -> WorkerPool | None:
        """The pool of worker processes that parse files, or None if files are parsed in this process."""
        from citekit.container.sandbox import is_possible, worker_pool_of

        if self.settings.parsers == "inline" or not is_possible():
            return None
        return worker_pool_of(self.settings, self.index)

    def _workers_unless_given(self, *ports: str) -> WorkerPool | None:
        """Return the worker pool, or None if there is none or the caller supplied an adapter for one of `ports`.

        A supplied adapter exists only in this process, so it cannot be used in a worker.
        """
        return None if any(port in self._given for port in ports) else self.workers

    @first_use
    def _workers_with_ffmpeg(self) -> WorkerPool | None:
        from citekit.container.sandbox import worker_pool_of

        return self.workers and worker_pool_of(self.settings, self.index, run_ffmpeg=True)

    def expect(self, path: Path) -> None:
        """Start a worker early if mapping the file at `path`, which the caller will do next, needs one."""
        from citekit.container.parsers import is_expected_in_worker

        if is_expected_in_worker(path) and self.workers is not None:
            self.workers.warm()

    @first_use
    def reader(self) -> Reader:
        """The reader of books. It runs in a worker, unless files are parsed in this process."""
        children = self._workers_unless_given("reader")
        if children is None:
            return self.parsers.reader
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedReader

        return IsolatedReader(children)

    @first_use
    def probe(self) -> MediaProbe:
        """The reader of the properties of media files. It runs in a worker, unless files are parsed in this process."""
        children = self._workers_unless_given("probe")
        if children is None:
            return self.parsers.probe
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedProbe

        return IsolatedProbe(children)

    @first_use
    def text(self) -> TextReader:
        """The reader of the text of documents."""
        return self._given.get("text") or self._isolated_text()

    def _isolated_text(self) -> TextReader:
        here = self.parsers.text
        if self.workers is None:
            return here
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedTextReader
        from citekit.container.parsers import is_read_in_worker

        return IsolatedTextReader(here, self.workers, is_read_in_worker)

    @first_use
    def mapper(self) -> Mapper:
        """The configured mapper. Raises `RequestRefused` if no mapper has the configured name."""
        return self._given.get("mapper") or self.mapper_called(self.settings.mapper)

    def mapper_called(self, name: str, config: Mapping[str, object] | None = None) -> Mapper:
        """See `Mappers.called`."""
        return self.mappers.called(name, config)

    def mapper_choice(self) -> tuple[str, str]:
        """See `Mappers.choice`."""
        return self.mappers.choice()

    def mapper_from(self, provider: object) -> Mapper:
        """See `Mappers.of_object`."""
        return self.mappers.of_object(provider)

    @first_use
    def mappers(self) -> Mappers:
        """The mappers that can be chosen by name."""
        from citekit.container.mappers import Mappers

        return Mappers(self)

    @first_use
    def leftovers(self) -> OrphanedUploads:
        """The record of files that were uploaded to a model service and may not have been deleted. The next run deletes
        them.
        """
        from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads

        return OrphanedUploads(self.settings.cache_folder / "leftovers")

    @property
    def files_at_once(self) -> int:
        """The number of files to map at the same time. It can be higher for a model, because most files wait for the
        service.
        """
        chosen = self.settings
        waits = self.mapper.identity.name in MODEL_MAPPERS
        return max(chosen.concurrency, chosen.model_concurrency) if waits else chosen.concurrency

    def remote_files(self) -> Sequence[str]:
        """Return descriptions of the files that this process uploaded and that may still be on a model service."""
        return self.leftovers.mine()

    @first_use
    def local_mapper(self) -> Mapper:
        """The mapper that does not use a model."""
        from citekit.adapters.mappers.measured import MeasuredMapper

        here = self.parsers.mapper
        children = self._workers_unless_given("reader", "probe", "transcriber", "screen_reader")
        if children is None:
            return MeasuredMapper(here, self.extents.remember)
        from citekit.adapters.sandbox.sandboxed_files import IsolatedMapper
        from citekit.container.parsers import is_mapped_in_worker

        isolated = IsolatedMapper(here, children, self.clock, is_mapped_in_worker)
        return MeasuredMapper(isolated, self.extents.remember)

    @first_use
    def extents(self) -> RememberingMeasurer:
        """Return the measurer of file extents, which caches its results."""
        from citekit.adapters.formats.measuring import RememberingMeasurer

        measurer = self._given.get("measurer") or lazy(self._measurer)
        return RememberingMeasurer(measurer, self.index)

    def _measurer(self) -> Measurer:
        """Return the measurer of file extents. It measures in a worker the files that need compiled parsers, if there
        are workers.
        """
        here = self.parsers.measurer
        children = self._workers_unless_given("reader", "probe")
        if children is None:
            return here
        from citekit.adapters.sandbox.sandboxed_files import IsolatedMeasurer
        from citekit.container.parsers import is_measured_by_compiled

        return IsolatedMeasurer(here, children, is_measured_by_compiled)

    @first_use
    def measure(self) -> MeasureSource:
        """The use case that measures the extent of the file that a map describes."""
        from citekit.application.measure_extent import MeasureSource

        return MeasureSource(self.locate, self.extents)

    @first_use
    def _foreign_files(self) -> ForeignFiles:
        """The reader for files that other programs wrote. It runs in a worker, unless files are parsed in this process."""
        if self.workers is None:
            return self.parsers.foreign_files
        from citekit.adapters.sandbox.sandboxed_files import IsolatedForeignFiles

        return IsolatedForeignFiles(self.workers)

    def adapter_called(self, name: str, box_order: BoxOrder | None = None) -> MapAdapter:
        """Return the importer with that name, or the one in the Python file whose path is `name`.

        `box_order` is the order of the coordinates of boxes in the input. It applies only to the importer `generic`;
        None means `BoxOrder.CORNERS`. Raise `RequestRefused` if there is no importer with that name, and the errors of
        loading a file.
        """
        from citekit.adapters.importers.custom import load_adapter
        from citekit.adapters.importers.generic import GenericAdapter
        from citekit.adapters.importers.graphrag import GraphRagAdapter
        from citekit.adapters.importers.llamaindex import LlamaIndexAdapter
        from citekit.wire.locations import BoxOrder

        if name.endswith(".py"):
            return load_adapter(Path(name).absolute(), timeout=self.settings.timeout)
        match name:
            case "graphrag":
                return GraphRagAdapter(self.reader, self.clock, self._foreign_files)
            case "llamaindex":
                return LlamaIndexAdapter(self.reader, self.sources, self.clock, self._foreign_files)
            case "generic":
                return GenericAdapter(box_order or BoxOrder.CORNERS)
        known = ", ".join(ADAPTERS)
        raise RequestRefused(f"There is no adapter named '{name}'. Use one of: {known}, or the path of a .py file.")

    @first_use
    def adapt(self) -> ImportMap:
        """The use case that converts data of another program to a map and stores it."""
        from citekit.application.import_map import ImportMap

        return ImportMap(self.sources, self.maps, self.local_mapper, self.locks, self.extents, self.folders)

    @first_use
    def context(self) -> ReadContext:
        """The use case that renders the outline of maps as text for a language model."""
        from citekit.application.agent_context import ReadContext

        return ReadContext(self.maps)

    @first_use
    def page_views(self) -> PageViews:
        """The service that draws pages for people. It runs in a worker, unless files are parsed in this process."""
        if self.workers is None:
            return self.parsers.page_views
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedPageViews

        return IsolatedPageViews(self.parsers.page_views, self.workers)

    @first_use
    def show(self) -> ShowResource:
        """Return the use case that shows mapped files in a viewer."""
        from citekit.application.show_resource import ShowResource

        return ShowResource(self.maps, self.locate, self.quotable, self.page_views, self.reader)

    @first_use
    def view_token(self) -> str:
        """The secret that admits a browser to the user's viewer. It does not change, so links stay valid."""
        from citekit.adapters.system.home_seal import HomeSeal

        return HomeSeal(self.settings.viewer_folder, private=True).code(b"view").hex()

    @first_use
    def viewed_homes(self) -> ViewedHomes:
        """The homes that the user has viewed."""
        from citekit.adapters.storage.viewed_homes import ViewedHomes
        from citekit.adapters.system.file_locks import FileLocks

        folder = self.settings.viewer_folder
        return ViewedHomes(folder / "homes.json", FileLocks(folder / "locks"))

    @first_use
    def extractors(self) -> Sequence[Extractor]:
        """The extractors in order of precedence. The first one that supports a request is used."""
        if "extractors" in self._given:
            return tuple(self._given["extractors"])
        return lazy_extractors(self.settings.media, lambda: self.parsers, self.isolated)

    def isolated(self, name: str, here: Extractor) -> Extractor:
        """Return an extractor that runs `here` in a worker, where it is registered as `name`.

        Return `here` itself if there are no workers or if it does not need one.
        """
        used = ("reader",) if name == "chapters" else ()
        children = self._workers_with_ffmpeg if name == "ffmpeg" else self._workers_unless_given(*used)
        if children is None or name in ("lines", "xml_lines"):  # these copy bytes and parse nothing
            return here
        from citekit.adapters.sandbox.sandboxed_files import IsolatedExtractor

        return IsolatedExtractor(here, name, children)

    @first_use
    def ingest(self) -> Ingest:
        """Return the use case that maps one file."""
        from citekit.application.ingest import Ingest
        from citekit.application.resource_ids import ChooseId

        choose_id = ChooseId(self.maps, self.settings.home)
        return Ingest(
            self.sources,
            self.maps,
            self.mapper,
            self.locks,
            choose_id,
            self.folders,
            self._forget_refusals,
            remote=lazy(lambda: self.bucket_files),
        )

    def _forget_refusals(self, path: Path) -> None:
        """Allow workers to process the file at `path` again, even if it exceeded their time or memory limits before."""
        if self.workers is not None:
            self.workers.refusals.forget(path)

    @first_use
    def ingest_many(self) -> IngestMany:
        """Return the use case that maps many files."""
        from citekit.application.ingest_many import IngestMany

        return IngestMany(self.ingest, self._index_ranking)

    def is_known_name(self, file_name: str) -> bool:
        """Return whether the suffix of a file name belongs to a format of CiteKit or of an installed format package.

        Return False if such a package cannot be loaded, so that one broken package does not prevent the other files of
        a folder from being mapped.
        """
        from citekit.adapters.formats.registry import format_of_name

        with suppress(SourceUnsupported):
            return format_of_name(file_name) is not None
        return False

    def is_mappable(self, path: Path) -> bool:
        """Return whether a file has a known format, by its name, or if that says nothing, by its first bytes.

        Return False if the package that has the format cannot be loaded.
        """
        from citekit.adapters.formats.registry import format_of_name
        from citekit.adapters.system.files import open_for_reading
        from citekit.domain.detection import HEAD_SIZE, detect

        with suppress(SourceUnsupported, OSError):
            if format_of_name(path.name) is not None:
                return True
            with open_for_reading(path) as stream:
                return detect(path.name, stream.read(HEAD_SIZE)) is not None
        return False

    @first_use
    def locate(self) -> LocateSource:
        """Return the use case that finds the source file of a map."""
        from citekit.application.locate_source import LocateSource

        return LocateSource(self.sources, self.settings.home, (*self.settings.roots, self.settings.home), self.folders)

    @first_use
    def resolve(self) -> Resolve:
        """Return the use case that turns a node or an address into evidence."""
        from citekit.application.resolve import Resolve

        ingest = lazy(lambda: self.ingest)  # a mapper is only needed to map a changed source again
        return Resolve(self.maps, self.evidence, self.outputs, self.extractors, self.locate, ingest, self.measure)

    @first_use
    def list_resources(self) -> ListResources:
        """Return the use case that lists the mapped files with their titles, sizes, and paths."""
        from citekit.application.list_resources import ListResources

        return ListResources(self.maps, tags=self.tag_store.all)

    @first_use
    def structure(self) -> GetStructure:
        """Return the use case that returns a map in answers of bounded size."""
        from citekit.application.structure import GetStructure

        return GetStructure(self.maps)

    @first_use
    def nodes(self) -> NodeIndex:
        """The node search index, which finds nodes by words in their titles and summaries."""
        if self._given.get("nodes") is None and self._catalog is not None:
            from citekit.adapters.search.node_search.postgres_index import PostgresNodeIndex

            return PostgresNodeIndex(self.maps, *self._catalog)
        from citekit.adapters.search.node_search.sqlite_index import SqliteNodeIndex

        return self._given.get("nodes") or SqliteNodeIndex(self.maps, self.settings.cache_folder / NODES)

    @first_use
    def search(self) -> Search:
        """The use case that finds nodes by words in their titles and summaries."""
        from citekit.application.search import Search

        return Search(self.maps, self.nodes)

    @first_use
    def check_map(self) -> ValidateMap:
        """The use case that validates a map against its source file."""
        from citekit.application.validate_map import ValidateMap

        return ValidateMap(self.locate, self.measure)

    @first_use
    def verify(self) -> VerifyEvidence:
        """The use case that verifies evidence against its receipt and its source."""
        from citekit.application.verify import VerifyEvidence

        return VerifyEvidence(self.sources, self.outputs, self.resolve)

    @first_use
    def evidence_content(self) -> EvidenceContent:
        """Return the use case that reads the content of evidence."""
        from citekit.application.evidence_content import EvidenceContent

        return EvidenceContent(
            self.evidence, self.outputs, lambda path, side: self.mappers.viewer.picture(path, side), self.folders
        )

    @first_use
    def verify_quote(self) -> VerifyQuote:
        """The use case that checks whether a quote occurs where it is claimed to be."""
        from citekit.application.verify_quote import VerifyQuote

        return VerifyQuote(self.maps, self.resolve, self.locate, self.quotable)

    @first_use
    def mcp_clients(self) -> McpClients:
        """The settings of the MCP clients of this user."""
        import os

        from citekit.adapters.clients.settings_files import FileMcpClients

        return FileMcpClients(os.environ, Path.home())

    @first_use
    def answer_question(self) -> AnswerQuestion:
        """Return the use case that answers a question with a model and verifies the quotes of the answer."""
        from citekit.application.answer_question import AnswerQuestion

        return AnswerQuestion(self.rank_pages, self.verify_quote)

    def answer_model(self, service: str = "auto") -> AnswerModel | None:
        """See `Mappers.answer_model`."""
        return self.mappers.answer_model(service)

    @first_use
    def look_up_quote(self) -> LookUpQuote:
        """Return the use case that looks up which mapped file a quote is from."""
        from citekit.application.look_up_quote import LookUpQuote

        return LookUpQuote(self.find_text, self.verify_quote)

    @first_use
    def text_index(self) -> TextIndex:
        """The search index for the text of mapped files."""
        if self._given.get("text_index") is None and self._catalog is not None:
            from citekit.adapters.search.text_index.postgres_index import PostgresTextIndex

            return PostgresTextIndex(*self._catalog)
        from citekit.adapters.search.text_index.sqlite_index import SqliteTextIndex

        return self._given.get("text_index") or SqliteTextIndex(self.settings.cache_folder / TEXTS)

    @first_use
    def find_text(self) -> FindText:
        """Return the use case that finds words in the text of mapped files."""
        from citekit.application.find_text import FindText
        from citekit.application.indexed_library import IndexedLibrary

        library = IndexedLibrary(self.maps, self._index_text, self.text_index, self.quotable)
        return FindText(self.maps, self._index_text, self.text_index, library, self.rank_pages, self.nodes)

    @first_use
    def ranking_index(self) -> RankingIndex:
        """The index by which documents and their pages are ranked."""
        from citekit.adapters.search.ranking_index.sqlite_index import SqliteRankingIndex

        return self._given.get("ranking_index") or SqliteRankingIndex(self.settings.cache_folder / RANKING)

    @first_use
    def rank_pages(self) -> RankPages:
        """Return the use case that finds the pages that most likely answer a question."""
        from citekit.application.rank_pages import RankPages

        return RankPages(self.maps, self._index_ranking, self.reranker)

    @first_use
    def reranker(self) -> Reranker:
        """The reranker of pages. Raises `RequestRefused` if no reranker has the configured name."""
        from citekit.container.rerankers import reranker_called

        return self._given.get("reranker") or reranker_called(self.settings, self.mappers)

    def _ranking_embedder(self) -> Embedder | None:
        """Return the static embedder if the extra `library` is installed."""
        from importlib.util import find_spec

        if any(find_spec(name) is None for name in ("numpy", "wordllama", "tokenizers", "safetensors")):
            return None
        from citekit.adapters.search.embedders.static import StaticEmbedder

        return StaticEmbedder()

    @first_use
    def read_text(self) -> ReadText:
        """Return the use case that reads the text of a part of a mapped file."""
        from citekit.application.read_text import ReadText

        return ReadText(self.maps, self.resolve, self.quotable, self._index_text, self.text_index)

    @first_use
    def _index_ranking(self) -> IndexRanking:
        from citekit.application.index_ranking import IndexRanking

        return IndexRanking(self._index_text, self.text_index, self.ranking_index, self._ranking_embedder())

    @first_use
    def _index_text(self) -> IndexText:
        from citekit.application.index_text import IndexText

        return IndexText(self.locate, self.quotable, self.text_index)

    @first_use
    def edit_map(self) -> EditMap:
        """Return the use case that corrects maps by hand."""
        from citekit.application.edit_map import EditMap

        return EditMap(self.maps, self.locks, self.clock)

    @first_use
    def tag_store(self) -> TagStore:
        """The store of the tags of resources."""
        from citekit.adapters.storage.tags import FileTags

        return FileTags(self.settings.maps_folder / ".tags" / "tags.json", self.locks)

    @first_use
    def tag(self) -> TagResources:
        """Return the use case that tags resources, and finds those with a tag."""
        from citekit.application.tag_resources import TagResources

        return TagResources(self.maps, self.tag_store)

    @first_use
    def remove(self) -> RemoveResource:
        """Return the use case that removes a resource."""
        from citekit.application.remove_resource import RemoveResource

        return RemoveResource(self.maps, self.text_index, self.ranking_index, self.tag_store)

    @first_use
    def rename(self) -> RenameResource:
        """Return the use case that gives a resource another ID."""
        from citekit.application.rename_resource import RenameResource

        return RenameResource(self.maps, self.tag_store, self.locks, self.remove)

    @first_use
    def sync(self) -> SyncFolders:
        """Return the use case that keeps the maps of folders up to date."""
        from citekit.application.sync_folders import SyncFolders

        chosen = self.settings
        skip = (chosen.maps_folder, chosen.output_folder, chosen.cache_folder)
        return SyncFolders(self.sources, self.maps, self.ingest_many, self.remove, chosen.home, self.is_mappable, skip)

    @first_use
    def sync_buckets(self) -> SyncBuckets:
        """Return the use case that keeps the maps of files in buckets up to date."""
        from citekit.application.sync_buckets import SyncBuckets

        return SyncBuckets(self.bucket_files, self.maps, self.ingest_many, self.remove, self.is_known_name)

    @first_use
    def quotable(self) -> QuotableTexts:
        """The service that provides the text of a file in which quotes are searched for."""
        from citekit.container.quotes import QuoteServices, quotable_texts

        return self._given.get("quotable") or quotable_texts(
            QuoteServices(
                self.settings.cache_folder,
                lambda: self.parsers.written,
                lambda: self.probe,
                self.extractors,
                self.sources,
                lambda: self.workers,
                lambda: self.parsers.ocr_version,
                lambda source, pages: self.parsers.drawn_pages(source, pages),
                lambda: self.transcriber,
                lambda: self.screen_reader,
                self.objects,
                self.settings.speech_always,
            )
        )

    @first_use
    def transcriber(self) -> Transcriber | None:
        """The transcriber of recordings, or None if speech recognition is disabled, not installed, or has no model."""
        here, workers = self.parsers.transcriber, self._workers_unless_given("transcriber")
        if here is None or workers is None:
            return here
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedTranscriber

        return IsolatedTranscriber(here, workers)

    @first_use
    def screen_reader(self) -> ScreenReader | None:
        """The reader of the text that videos show, or None if OCR is disabled or not installed."""
        here, workers = self.parsers.screen_reader, self._workers_unless_given("screen_reader", "probe")
        if here is None or workers is None:
            return here
        from citekit.adapters.sandbox.sandboxed_readers import IsolatedScreenReader

        return IsolatedScreenReader(here, workers)

    @first_use
    def speech_models(self) -> SpeechModels:
        """The models for speech recognition that can be downloaded or are installed."""
        from citekit.adapters.libraries.speech_downloads import DownloadableModels
        from citekit.adapters.system.retry import Retries

        chosen = self.settings
        return DownloadableModels(chosen.models_folder, chosen.models_url, Retries(count=chosen.retries))

    @first_use
    def alexandria(self) -> Alexandria:
        """The use cases of the library of books (Alexandria)."""
        from citekit.container.library import Alexandria

        return Alexandria(self.settings, self, self._given)

    @first_use
    def doctor(self) -> Doctor:
        """The use case that diagnoses problems of the installation and the home."""
        from citekit.adapters.libraries import installation
        from citekit.application.doctor import Component, Doctor
        from citekit.domain.mcp_clients import SERVER

        settings = self.settings
        folders = {"maps": settings.maps_folder, "evidence": settings.output_folder, "cache": settings.cache_folder}
        return Doctor(
            folders={"home": settings.home, **folders},
            maps=self.maps,
            locate=self.locate,
            components=lambda: (Component(*package) for package in installation.packages()),
            mapper=self._mapper_choice,
            ffmpeg=installation.ffmpeg,
            installed_mappers=_installed_mappers,
            index_fault=lambda: installation.index_fault(settings.cache_folder / INDEX),
            remote_leftovers=lambda: [f"{each.name} at {each.service}" for each in self.leftovers.pending()],
            leftovers=lambda: installation.leftovers(self._written),
            clients=lambda: self.mcp_clients.connected(SERVER, start=True),
            other_project=installation.other_project,
        )

    def clean_leftovers(self) -> int:
        """Delete temporary files that killed processes left behind at least an hour ago. Return the number of deleted
        files.
        """
        from citekit.adapters.libraries import installation

        return installation.clean(self._written)

    @property
    def _written(self) -> Sequence[Path]:
        """The folders to which CiteKit writes."""
        chosen = self.settings
        return (chosen.maps_folder, chosen.output_folder, chosen.cache_folder, chosen.library.folder)

    def _mapper_choice(self) -> str:
        automatic = self.settings.mapper == "auto"
        why = self.mapper_choice()[1] if automatic else f"CITEKIT_MAPPER={self.settings.mapper}"
        return f"{self.mapper.identity} ({why})"

    @first_use
    def index(self) -> Index:
        """The persistent cache of facts about files and evidence, such as digests."""
        from citekit.adapters.libraries.sqlite.key_value_cache import Index

        return Index(self.settings.cache_folder / INDEX)


def _installed_mappers() -> Sequence[tuple[str, str]]:
    from citekit.adapters.mappers.custom import installed_names

    return installed_names()


def _is_broad(folder: Path) -> bool:
    """Return whether a folder is the user's own folder, one above it, or the root of a drive."""
    real = folder.resolve()
    try:
        return Path.home().resolve().is_relative_to(real) or real.parent == real
    except RuntimeError:  # there is no user's folder
        return real.parent == real


def _objects_at(store: str) -> ObjectStore:
    """Return the object store at a URL or an absolute path."""
    from citekit.adapters.storage.object_store.folder import FolderObjectStore
    from citekit.adapters.storage.object_store.remote import RemoteObjectStore

    return RemoteObjectStore(store) if "://" in store else FolderObjectStore(Path(store))
