"""Imports JSON that is similar to CiteKit's stored form of a map."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from citekit.adapters.importers.json_files import read_json
from citekit.domain.errors import RequestRefused
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.wire import maps
from citekit.wire.legacy_forms import without_nulls
from citekit.wire.locations import BoxOrder


@frozen
class GenericAdapter:
    """An importer of JSON that the lenient map reader in `wire` accepts. `box_order` is the order of the numbers in a
    `bbox`.
    """

    box_order: BoxOrder = BoxOrder.CORNERS
    identity: MapperIdentity = field(default=MapperIdentity("adapt:generic", "1"))

    def adapt(self, data: object, resource_id: str, source: Source | None = None) -> ResourceMap:
        """See `MapAdapter.adapt`. If `source` is given, it replaces the source that the data names."""
        where = str(data) if isinstance(data, Path) else "The data is not valid"
        if isinstance(data, Path):
            if data.is_dir():
                raise RequestRefused(f"{data} is a folder. Pass the JSON file of a map instead.")
            data = read_json(data)
        if isinstance(data, list):
            data = {"nodes": data}
        if isinstance(data, Mapping):
            data = {"title": resource_id, "resource_id": resource_id, **_titled(data)}
            if source is not None:
                data |= {"type": source.format.modality.value, "source_path": str(source.path)}
        return maps.from_plain_map(data, where, self.box_order)


def _titled(data: Mapping[str, object]) -> dict[str, object]:
    """Return `data` without null values, with the title in its metadata if it has none."""
    plain = without_nulls(data)
    metadata = plain.get("metadata")
    if "title" not in plain and isinstance(metadata, Mapping) and metadata.get("title"):
        plain["title"] = metadata["title"]
    return plain
