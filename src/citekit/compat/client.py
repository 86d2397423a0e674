"""Provides `CiteKitClient` of citekit 0.2."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve

from citekit.compat.adapters import MapAdapter
from citekit.compat.mapper import GeminiMapper, gemini_settings
from citekit.compat.models import Node, ResolvedEvidence, ResourceMap, domain_map, evidence_of, map_of, node_of
from citekit.container import bootstrap
from citekit.domain.address import parse_address
from citekit.domain.errors import AddressMalformed, NodeMissing, ResourceMissing, SourceMoved, SourceUnreadable
from citekit.domain.ids import check_resource_id
from citekit.domain.node import NodeName
from citekit.entrypoints.sdk import read_modality
from citekit.wire import maps


class CiteKitClient:
    """A client with the interface of citekit 0.2 that maps files, reads maps, and extracts evidence.

    `mapper` is any object with a sync or async method `generate_map(resource_path, resource_type, resource_id)`. The
    default is Gemini if `api_key` or the environment variable GEMINI_API_KEY is set, otherwise the local mapper.
    `model` and `max_retries` apply to Gemini.
    """

    def __init__(
        self,
        mapper: Any = None,
        base_dir: str = ".",
        storage_dir: str = ".resource_maps",
        output_dir: str = ".citekit_output",
        concurrency_limit: int = 5,
        api_key: str | None = None,
        model: str = "",
        max_retries: int = 3,
    ) -> None:
        home = Path(base_dir).absolute()
        if isinstance(mapper, GeminiMapper):
            settings, mapper = mapper.settings(home), None
        else:
            settings = gemini_settings(home, api_key or os.environ.get("GEMINI_API_KEY"), model, max_retries)
        settings = evolve(
            settings,
            maps_folder=home / storage_dir,
            output_folder=home / output_dir,
            concurrency=concurrency_limit,
        )
        self._app = bootstrap(settings)
        if mapper is not None:
            self._app = bootstrap(settings, mapper=self._app.mapper_from(mapper))
        self._turns = asyncio.Semaphore(concurrency_limit)
        self._adapters: dict[str, MapAdapter] = {}

    async def ingest(self, resource_path: str, resource_type: str, resource_id: str | None = None) -> ResourceMap:
        """Map the file at `resource_path`, store the map, and return it.

        If `resource_id` is None, the ID is the file name without its suffix. Raise `FileNotFoundError` if the file is
        missing or unreadable, and CiteKit's own errors for other failures.
        """
        path = Path(resource_path)
        modality = read_modality(resource_type)
        async with self._turns:
            with _old_errors():
                wanted = check_resource_id(resource_id or path.stem)
                done = await asyncio.to_thread(self._app.ingest, path, wanted_id=wanted, modality=modality)
        return map_of(done.resource_map)

    def get_map(self, resource_id: str) -> ResourceMap:
        """Return the stored map with that ID. Raise `FileNotFoundError` if there is no such map."""
        with _old_errors():
            return map_of(self._app.maps.get(resource_id))

    def list_maps(self) -> list[str]:
        """Return the IDs of all stored maps."""
        return list(self._app.maps.ids())

    def get_structure(self, resource_id: str) -> dict[str, Any]:
        """Return the stored map with that ID as plain data, without the library's chunks.

        Raise `FileNotFoundError` if there is no such map.
        """
        with _old_errors():
            return maps.to_plain_map(self._app.maps.get(resource_id).outline)

    def save_map(self, resource_map: ResourceMap) -> None:
        """Store a map in place of an existing map with the same ID.

        Raise `ResourceIdRefused` or `FaultyAnswer` if the ID or the map is invalid.
        """
        with _old_errors():
            check_resource_id(resource_map.resource_id)
            self._app.maps.put(domain_map(resource_map))

    def register_adapter(self, name: str, adapter: MapAdapter) -> None:
        """Register an adapter under the name that callers pass to `adapt`."""
        self._adapters[name] = adapter

    def adapt(self, adapter_name: str, input_data: Any, **kwargs: Any) -> ResourceMap:
        """Convert data with a registered adapter, store the resulting map, and return it.

        Raise `ValueError` if no adapter has that name, and the errors of the adapter.
        """
        if adapter_name not in self._adapters:
            raise ValueError(f"No adapter registered with name: {adapter_name}")
        made = self._adapters[adapter_name].adapt(input_data, **kwargs)
        self.save_map(made)
        return made

    def search(self, query: str) -> list[tuple[str, Node]]:
        """Return up to 10,000 nodes whose title or summary matches the words of `query`, best first, each preceded by
        its resource ID.
        """
        return [(hit.resource_id, node_of(hit.node)) for hit in self._app.search(query, limit=10_000)]

    def resolve(
        self, resource_id: str, node_id: str, virtual: bool = False, source_path: str | None = None
    ) -> ResolvedEvidence:
        """Return the evidence of a node.

        With `virtual`, nothing is extracted. If the source file has moved, it is searched for in the folder of
        `source_path`. Raise `FileNotFoundError` if the map or the source is missing, `ValueError` if the node is
        missing, and CiteKit's own errors for other failures.
        """
        with _old_errors():
            resource_map = self._app.maps.get(resource_id)
            roots = () if source_path is None else (Path(source_path).absolute().parent,)
            evidence = self._app.resolve(NodeName(resource_id, node_id), virtual=virtual, roots=roots)
            return evidence_of(evidence, resource_map.find(node_id))

    def resolve_from_url(self, url: str) -> ResolvedEvidence | None:
        """Return the innermost node that contains the address `url` as virtual evidence.

        Return None if the address is malformed, its resource has no map, or it is not within a node. Raise
        `LocationOutside` if it is beyond the end of the file, and `RequestRefused` if the resource has another type.
        """
        try:
            evidence = self._app.resolve(parse_address(url), virtual=True)
        except (AddressMalformed, ResourceMissing):
            return None
        return None if evidence.node is None else evidence_of(evidence, evidence.node)

    def is_visited(self, node_id: str) -> bool:
        """Return whether the output folder contains evidence of a node with that ID, judging by file names."""
        wanted = f"_{node_id.replace('.', '_')}"
        folder = self._app.settings.output_folder
        return folder.is_dir() and any(path.stem.endswith(wanted) for path in folder.iterdir())


@contextmanager
def _old_errors() -> Iterator[None]:
    """Convert missing maps and files to `FileNotFoundError`, and missing nodes to `ValueError`, as in citekit 0.2."""
    try:
        yield
    except (ResourceMissing, SourceUnreadable, SourceMoved) as error:
        raise FileNotFoundError(str(error)) from error
    except NodeMissing as error:
        raise ValueError(str(error)) from error
