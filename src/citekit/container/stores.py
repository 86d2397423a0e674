"""Creates the stores of one home, in files, object stores, or databases."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.container.cached_property import first_use
from citekit.container.names import INDEX, NODES, RANKING, TEXTS
from citekit.container.ports import Ports
from citekit.domain.errors import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from citekit.adapters.libraries.postgres.database import Database
    from citekit.adapters.libraries.sqlite.key_value_cache import Index
    from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads
    from citekit.adapters.storage.ingest_runs import IngestRuns
    from citekit.adapters.storage.shared_maps import SharedMapStore
    from citekit.adapters.storage.unpacked_archives import UnpackedArchives
    from citekit.adapters.storage.uploads import Uploads
    from citekit.adapters.storage.viewed_homes import ViewedHomes
    from citekit.application.migrate_maps import MigrateMaps
    from citekit.domain.ports.clock import Clock
    from citekit.domain.ports.embedder import Embedder
    from citekit.domain.ports.evidence_store import EvidenceStore
    from citekit.domain.ports.locks import Locks
    from citekit.domain.ports.map_store import MapStore
    from citekit.domain.ports.node_index import NodeIndex
    from citekit.domain.ports.object_store import ObjectStore
    from citekit.domain.ports.outputs import Outputs
    from citekit.domain.ports.ranking_index import RankingIndex
    from citekit.domain.ports.tag_store import TagStore
    from citekit.domain.ports.text_index import TextIndex
    from citekit.settings import Settings

    Catalog = tuple[Database, Callable[[], str]]
    """A database, and a function that returns the name of a shared store there."""


@define
class Stores:
    """The stores of one home, and the clock and locks that they share. Each object is created on first use.
    Thread-safe.

    Adapters that the caller did not supply are chosen from the settings. `confined` is true if the container does not
    serve the owner of the home, but a client that may read only some files, such as an agent.
    """

    settings: Settings
    _given: Ports = field(factory=lambda: Ports())
    confined: bool = False
    made: dict[str, object] = field(factory=dict, init=False, repr=False)
    lock: threading.RLock = field(factory=threading.RLock, init=False, repr=False)

    @first_use
    def clock(self) -> Clock:
        """The clock that provides the current time."""
        from citekit.adapters.system.clock import SystemClock

        return self._given.get("clock") or SystemClock()

    @first_use
    def locks(self) -> Locks:
        """The locks that prevent processes from changing the same data of the home at the same time."""
        from citekit.adapters.system.file_locks import FileLocks

        return self._given.get("locks") or FileLocks(self.settings.cache_folder / "locks")

    @first_use
    def index(self) -> Index:
        """The persistent cache of metadata of files and evidence, such as digests."""
        from citekit.adapters.libraries.sqlite.key_value_cache import Index

        return Index(self.settings.cache_folder / INDEX)

    @first_use
    def objects(self) -> ObjectStore | None:
        """The object store with the maps, texts, and evidence of this home, or None if they are only in the home."""
        return None if self.settings.store is None else _objects_at(self.settings.store)

    @first_use
    def _database(self) -> Database | None:
        """The database for the catalogs of shared stores, or None."""
        if self.settings.catalog is None:
            return None
        from citekit.adapters.libraries.postgres.database import Database

        return Database(self.settings.catalog)

    @first_use
    def _catalog(self) -> Catalog | None:
        """The database with the catalog of this home's shared store, or None if there is no catalog or the caller
        supplied the map store.
        """
        if self._database is None or self.objects is None or self._given.get("maps") is not None:
            return None
        from citekit.adapters.storage.cataloged_maps import CatalogName

        return self._database, CatalogName(self.objects, self.settings.store or "", self._database)

    @first_use
    def maps(self) -> MapStore:
        """The store of the maps: the object store, if there is one, or else the folder of maps."""
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

    def collect_shared_maps(self, grace: timedelta) -> int:
        """Delete removed and replaced maps from the shared store (see `SharedMapCollection`), and return the number of
        deleted objects.

        Raise `RequestRefused` if there is no such store.
        """
        from citekit.adapters.storage.shared_map_collection import SharedMapCollection

        if self.objects is None:
            raise RequestRefused("This home has no shared store. To use one, set CITEKIT_STORE.")
        removed = SharedMapCollection(self.objects).collect(grace)
        if self._database is not None:
            from citekit.adapters.storage.cataloged_maps import CatalogedMapStore

            CatalogedMapStore(self.objects, self.settings.store or "", self._database).record_missing()
        return removed

    def migrate_to(self, store: str) -> MigrateMaps:
        """Return the use case that copies the maps of the home to another store.

        Raise `RequestRefused` if `store` is not the address of a store.
        """
        from citekit.application.migrate_maps import MigrateMaps
        from citekit.settings.chosen import checked_store

        address = checked_store(store, "STORE")
        return MigrateMaps(self.maps, self._shared_maps(_objects_at(address), address))

    @first_use
    def evidence(self) -> EvidenceStore:
        """The store of extracted evidence: the cache folder, and the object store if there is one."""
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
    def tag_store(self) -> TagStore:
        """The store of the tags of resources."""
        from citekit.adapters.storage.tags import FileTags

        return FileTags(self.settings.maps_folder / ".tags" / "tags.json", self.locks)

    @first_use
    def nodes(self) -> NodeIndex:
        """The node search index, which finds nodes by words in their titles and summaries."""
        if self._given.get("nodes") is None and self._catalog is not None:
            from citekit.adapters.search.node_search.postgres_index import PostgresNodeIndex

            return PostgresNodeIndex(self.maps, *self._catalog)
        from citekit.adapters.search.node_search.sqlite_index import SqliteNodeIndex

        return self._given.get("nodes") or SqliteNodeIndex(self.maps, self.settings.cache_folder / NODES)

    @first_use
    def text_index(self) -> TextIndex:
        """The search index for the text of mapped files."""
        if self._given.get("text_index") is None and self._catalog is not None:
            from citekit.adapters.search.text_index.postgres_index import PostgresTextIndex

            return PostgresTextIndex(*self._catalog)
        from citekit.adapters.search.text_index.sqlite_index import SqliteTextIndex

        return self._given.get("text_index") or SqliteTextIndex(self.settings.cache_folder / TEXTS)

    @first_use
    def ranking_index(self) -> RankingIndex:
        """The index by which documents and pages are ranked. In a database, each embedder has a separate index."""
        if self._given.get("ranking_index") is None and self._catalog is not None:
            from citekit.adapters.search.ranking_index.postgres_index import PostgresRankingIndex
            from citekit.application.index_ranking import form_with

            (database, name), embedder = self._catalog, self._ranking_embedder()
            return PostgresRankingIndex(database, lambda: f"{form_with(embedder)} {name()}")
        from citekit.adapters.search.ranking_index.sqlite_index import SqliteRankingIndex

        return self._given.get("ranking_index") or SqliteRankingIndex(self.settings.cache_folder / RANKING)

    def _ranking_embedder(self) -> Embedder | None:
        """Return the static embedder, or None if the extra `library` is not installed."""
        from importlib.util import find_spec

        if any(find_spec(name) is None for name in ("numpy", "wordllama", "tokenizers", "safetensors")):
            return None
        from citekit.adapters.search.embedders.static import StaticEmbedder

        return StaticEmbedder()

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
    def leftovers(self) -> OrphanedUploads:
        """The record of orphaned uploads: files that CiteKit uploaded to a model service and may not have deleted."""
        from citekit.adapters.mappers.llm.orphaned_uploads import OrphanedUploads

        return OrphanedUploads(self.settings.cache_folder / "leftovers")

    def remote_files(self) -> Sequence[str]:
        """Return descriptions of the files that this process uploaded and that may still be on a model service."""
        return self.leftovers.mine()

    @first_use
    def view_token(self) -> str:
        """The secret that admits a browser to the user's viewer. It is stored, so that links stay valid."""
        from citekit.adapters.system.home_seal import HomeSeal

        return HomeSeal(self.settings.viewer_folder, private=True).code(b"view").hex()

    @first_use
    def viewed_homes(self) -> ViewedHomes:
        """The homes that the user has viewed."""
        from citekit.adapters.storage.viewed_homes import ViewedHomes
        from citekit.adapters.system.file_locks import FileLocks

        folder = self.settings.viewer_folder
        return ViewedHomes(folder / "homes.json", FileLocks(folder / "locks"))

    @property
    def _written(self) -> Sequence[Path]:
        """The folders to which CiteKit writes maps, evidence, caches, and the data of the library."""
        chosen = self.settings
        return (chosen.maps_folder, chosen.output_folder, chosen.cache_folder, chosen.library.folder)

    def clean_leftovers(self) -> int:
        """Delete temporary files that have not changed for an hour. Return the number of deleted files."""
        from citekit.adapters.libraries import installation

        return installation.clean(self._written)


def _objects_at(store: str) -> ObjectStore:
    """Return the object store at a URL or an absolute path."""
    from citekit.adapters.storage.object_store.folder import FolderObjectStore
    from citekit.adapters.storage.object_store.remote import RemoteObjectStore

    return RemoteObjectStore(store) if "://" in store else FolderObjectStore(Path(store))
