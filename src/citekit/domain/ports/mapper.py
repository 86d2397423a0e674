"""Defines the port for mappers, which turn a file into a map."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.formats import Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source


class Mapper(Protocol):
    """A component that turns a file into a map.

    Node IDs are unique. Locations are inside the resource, and children's locations are inside their parents'.
    """

    @property
    def identity(self) -> MapperIdentity:
        """The identity of the mapper."""

    def supports(self, format: Format) -> bool:
        """Return whether this mapper can map files in the given format."""

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """Return the other files that a map of `source` would depend on, such as subtitles in the same folder."""

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """Return the map of `source` with the ID `resource_id`.

        Its metadata has `source_hash`, `source_size`, and `mapper`. Raise `SourceUnsupported` if the file is not in its
        apparent format, `SourceUnreadable` if it cannot be read, `MapperUnavailable` if the mapper failed, or
        `Cancelled`.
        """
