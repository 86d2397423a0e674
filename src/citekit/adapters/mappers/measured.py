"""A mapper that reports the extents of the files that it maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import field, frozen

from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.mapper import Mapper
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source


@frozen
class MeasuredMapper:
    """A mapper that calls `inner`, whose maps must have extents, and passes the extent of each file to `remember`."""

    inner: Mapper
    remember: Callable[[Source, Extent], None] = field(repr=False)

    @property
    def identity(self) -> MapperIdentity:
        """The identity of the mapper `inner`."""
        return self.inner.identity

    def supports(self, format: Format) -> bool:
        """See `Mapper.supports`."""
        return self.inner.supports(format)

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """See `Mapper.sidecar_files`."""
        return self.inner.sidecar_files(source)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """See `Mapper.map`."""
        made = self.inner.map(source, resource_id, progress)
        self.remember(source, made.extent)
        return made
