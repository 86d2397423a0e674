"""The port for importers, which turn the structure that another program found into a map."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source


class MapAdapter(Protocol):
    """Imports maps. Node IDs are unique, and children are inside their parents.

    The same data results in the same nodes. Nothing is written.
    """

    @property
    def identity(self) -> MapperIdentity:
        """The identity of the importer."""

    def adapt(self, data: object, resource_id: str, source: Source | None = None) -> ResourceMap:
        """Return the map of `data` under the ID in the data, or else under `resource_id`.

        `data` is the path of a file or folder (`pathlib.Path`), or its content as plain data. Locations are in `source`
        if they are known, otherwise virtual. Raises `FaultyAnswer` for data in another format, `SourceUnreadable`,
        `RequestRefused` for a source that the structure does not match, and `DriverMissing`.
        """
