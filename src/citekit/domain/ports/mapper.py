"""The port for mappers, which turn a file into a map."""

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
    """Maps files. Node IDs are unique, every location is inside the resource, and children are inside their parents."""

    @property
    def identity(self) -> MapperIdentity:
        """The identity of the mapper. The same bytes are not mapped again under the same identity."""

    def supports(self, format: Format) -> bool:
        """Return whether this mapper can map files of that format."""

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """Return the other files that the map of `source` currently depends on, such as subtitles in its folder."""

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """Return the map of `source` under `resource_id`, with `source_hash`, `source_size`, and `mapper` in its
        metadata.

        Raises `SourceUnsupported` for a file that is not in its apparent format, `SourceUnreadable`,
        `MapperUnavailable` if the mapper failed, and `Cancelled`. The error of a library is the cause.
        """
