"""Creates what makes maps: mappers, importers, and the use cases that map one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.container.cached_property import first_use
from citekit.container.lazy_proxy import lazy
from citekit.container.names import ADAPTERS, MODEL_MAPPERS
from citekit.container.readers import Readers
from citekit.domain.errors import RequestRefused

if TYPE_CHECKING:
    from citekit.application.import_map import ImportMap
    from citekit.application.ingest import Ingest
    from citekit.container.mappers import Mappers
    from citekit.domain.ports.map_adapter import MapAdapter
    from citekit.domain.ports.mapper import Mapper
    from citekit.wire.locations import BoxOrder


class MapMaking(Readers):
    """The mappers and importers of one home, and the use cases that map one file with them."""

    __slots__ = ()

    @first_use
    def mapper(self) -> Mapper:
        """The configured mapper. Raises the errors of `Mappers.called`."""
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

    def _mapper_choice(self) -> str:
        automatic = self.settings.mapper == "auto"
        why = self.mapper_choice()[1] if automatic else f"CITEKIT_MAPPER={self.settings.mapper}"
        return f"{self.mapper.identity} ({why})"

    @property
    def files_at_once(self) -> int:
        """The number of files to map at the same time, which can be higher for a model, because most files wait for the
        service.
        """
        chosen = self.settings
        waits = self.mapper.identity.name in MODEL_MAPPERS
        return max(chosen.concurrency, chosen.model_concurrency) if waits else chosen.concurrency

    def adapter_called(self, name: str, box_order: BoxOrder | None = None) -> MapAdapter:
        """Return the importer with that name, or the one in the Python file whose path is `name`.

        `box_order`, by default `BoxOrder.CORNERS`, applies only to the importer `generic`. Raise `RequestRefused` if
        there is no importer with that name, or if the file cannot be loaded.
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
    def ingest(self) -> Ingest:
        """The use case that maps one file."""
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

    @first_use
    def confined_ingest(self) -> Ingest:
        """The use case that maps a file for an agent: only in `mappable_folders`, and with the local mapper."""
        from citekit.adapters.sources.filesystem import FileSources
        from citekit.adapters.sources.restricted import ConfinedSources
        from citekit.application.ingest import Ingest
        from citekit.application.resource_ids import ChooseId

        folders = self.mappable_folders
        sources = ConfinedSources(self._given.get("sources") or FileSources(self.index), folders)
        choose_id = ChooseId(self.maps, self.settings.home)
        return Ingest(sources, self.maps, self.local_mapper, self.locks, choose_id, folders, keep_other_maps=True)

    @first_use
    def adapt(self) -> ImportMap:
        """The use case that converts data of another program to a map and stores it."""
        from citekit.application.import_map import ImportMap

        return ImportMap(self.sources, self.maps, self.local_mapper, self.locks, self.extents, self.folders)
