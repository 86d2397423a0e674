"""Creates the use cases of one home, with the adapters that the settings choose. Each is created on first use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.container.answers import Answers
from citekit.container.cached_property import first_use
from citekit.container.names import INDEX

if TYPE_CHECKING:
    from citekit.application.doctor import Doctor
    from citekit.application.edit_map import EditMap
    from citekit.application.ingest_for_search import IngestForSearch
    from citekit.application.ingest_many import IngestMany
    from citekit.application.remove_resource import RemoveResource
    from citekit.application.rename_resource import RenameResource
    from citekit.application.sync_buckets import SyncBuckets
    from citekit.application.sync_folders import SyncFolders
    from citekit.application.tag_resources import TagResources
    from citekit.container.library import Alexandria
    from citekit.domain.ports.mcp_clients import McpClients


class Container(Answers):
    """The use cases of one home and the adapters that they use. Each object is created on first use. Thread-safe.

    The base classes are `Answers`, `MapMaking`, `Readers`, `Access`, and `Stores`. Each uses only those after it in
    this list, which a type checker can verify.
    """

    __slots__ = ()

    def for_clients(self) -> Container:
        """Return a container for the same home that can read only the files in `client_folders`."""
        return Container(self.settings, self._given, confined=True)

    @first_use
    def ingest_many(self) -> IngestMany:
        """The use case that maps many files."""
        from citekit.application.ingest_for_search import IngestForSearch
        from citekit.application.ingest_many import IngestMany

        return IngestMany(IngestForSearch(self.ingest, self._index_ranking.unless_known, self.next_reads.announced))

    @first_use
    def ingest_for_search(self) -> IngestForSearch:
        """The use case that maps one file and indexes its text."""
        from citekit.application.ingest_for_search import IngestForSearch

        return IngestForSearch(self.ingest, self._index_text.unless_known, self.next_reads.announced)

    @first_use
    def ingest_for_agents(self) -> IngestForSearch:
        """The use case that maps a file for an agent and indexes its text. See `confined_ingest`."""
        from citekit.application.ingest_for_search import IngestForSearch

        return IngestForSearch(self.confined_ingest, self._index_text.unless_known, self.next_reads.announced)

    @first_use
    def mcp_clients(self) -> McpClients:
        """The settings of the MCP clients of this user."""
        import os

        from citekit.adapters.clients.settings_files import FileMcpClients

        return FileMcpClients(os.environ, Path.home())

    @first_use
    def edit_map(self) -> EditMap:
        """The use case that corrects maps by hand."""
        from citekit.application.edit_map import EditMap

        return EditMap(self.maps, self.locks, self.clock, str(self.settings.home.absolute()))

    @first_use
    def tag(self) -> TagResources:
        """The use case that tags resources, and finds those with a tag."""
        from citekit.application.tag_resources import TagResources

        return TagResources(self.maps, self.tag_store)

    @first_use
    def remove(self) -> RemoveResource:
        """The use case that removes a resource."""
        from citekit.application.remove_resource import RemoveResource

        return RemoveResource(self.maps, self.text_index, self.ranking_index, self.tag_store)

    @first_use
    def rename(self) -> RenameResource:
        """The use case that gives a resource another ID."""
        from citekit.application.rename_resource import RenameResource

        return RenameResource(self.maps, self.tag_store, self.locks, self.remove)

    @first_use
    def sync(self) -> SyncFolders:
        """The use case that keeps the maps of folders up to date."""
        from citekit.application.sync_folders import SyncFolders

        chosen = self.settings
        skip = (chosen.maps_folder, chosen.output_folder, chosen.cache_folder)
        return SyncFolders(self.sources, self.maps, self.ingest_many, self.remove, chosen.home, self.is_mappable, skip)

    @first_use
    def sync_buckets(self) -> SyncBuckets:
        """The use case that keeps the maps of files in buckets up to date."""
        from citekit.application.sync_buckets import SyncBuckets

        return SyncBuckets(
            self.bucket_files, self.maps, self.ingest_many, self.remove, self.is_known_name, self.settings.home
        )

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


def _installed_mappers() -> Sequence[tuple[str, str]]:
    from citekit.adapters.mappers.custom import installed_names

    return installed_names()
