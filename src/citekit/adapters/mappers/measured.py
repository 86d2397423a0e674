"""A mapper whose maps tell how far their files reach, to whoever wants to remember it."""

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
    """Maps as `inner` does, which must be one that measures files itself, and calls `remember` with what it measured."""

    inner: Mapper
    remember: Callable[[Source, Extent], None] = field(repr=False)

    @property
    def identity(self) -> MapperIdentity:
        """That of the mapper itself."""
        return self.inner.identity

    def supports(self, format: Format) -> bool:
        """See `Mapper.supports`."""
        return self.inner.supports(format)

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """See `Mapper.beside`."""
        return self.inner.sidecar_files(source)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """See `Mapper.map`."""
        made = self.inner.map(source, resource_id, progress)
        self.remember(source, made.bounds)
        return made
