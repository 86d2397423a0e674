"""Defines the port for importers, which convert a structure that another program found to a map."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source


class MapAdapter(Protocol):
    """An importer of maps.

    The node IDs of a map are unique, and children's locations are inside their parents' locations. The same data
    results in the same nodes.
    """

    @property
    def identity(self) -> MapperIdentity:
        """The name and version of the importer."""

    def adapt(self, data: object, resource_id: str, source: Source | None = None) -> ResourceMap:
        """Convert `data` to a map. The map has the ID that is in the data, or else `resource_id`.

        `data` is the path of a file or folder (`pathlib.Path`), or its content as plain data. Locations refer to
        `source` if they are known; otherwise, they are virtual. Raise `FaultyAnswer` if the data is in another format,
        `RequestRefused` if the structure does not match the source or `data` is a folder where a file is required,
        `MapperUnavailable` if a user's importer fails, `SourceUnreadable` if a file cannot be read, or `DriverMissing`
        if a required extra is not installed.
        """
