"""Turns a file into a map."""

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
    """Node ids are unique, every location is inside the resource, children are inside their parents."""

    @property
    def identity(self) -> MapperIdentity:
        """Who this is; the same bytes under the same identity are not mapped again."""

    def supports(self, format: Format) -> bool:
        """Whether this mapper can map files of that format at all."""

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """Other files that the map of `source` depends on, such as subtitles in its folder, as they are now."""

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """The map of `source` under `resource_id`, with `source_hash`, `source_size` and `mapper` in its metadata.

        Raises `SourceUnsupported` for a file that is not what it seems, `SourceUnreadable` for one that cannot be read,
        `MapperUnavailable` where the mapper itself failed, `Cancelled`; a driver's own error is the cause.
        """
