"""Turns the structure that another program found into a map."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source


class MapAdapter(Protocol):
    """Node ids are unique, children are inside their parents; the same data gives the same nodes. Nothing is written."""

    @property
    def identity(self) -> MapperIdentity:
        """Who this is."""

    def adapt(self, data: object, resource_id: str, source: Source | None = None) -> ResourceMap:
        """The map of `data`, under the id that the data themselves name, else under `resource_id`.

        `data` is the path of a file or folder (`pathlib.Path`), or what such a file holds, as plain data. Locations are in
        `source` if they are known, else virtual. Raises `FaultyAnswer` for data of another shape,
        `SourceUnreadable`, `RequestRefused` for a source that this structure cannot speak of, `DriverMissing`.
        """
