"""Maps files of strangers in a child."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve, frozen

from citekit.adapters.isolating.children import Children
from citekit.domain.formats import Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.mapper import Mapper
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.wire.maps import from_plain_map
from citekit.wire.parsed import plain_source


@frozen
class IsolatedMapper:
    """Maps as `here` would: in a child if the file `is_apart`, else here."""

    here: Mapper
    children: Children
    clock: Clock
    is_apart: Callable[[Source], bool]

    @property
    def identity(self) -> MapperIdentity:
        """That of the mapper itself: where it runs makes no difference to its maps."""
        return self.here.identity

    def supports(self, format: Format) -> bool:
        """See `Mapper.supports`."""
        return self.here.supports(format)

    def beside(self, source: Source) -> Sequence[Path]:
        """See `Mapper.beside`."""
        return self.here.beside(source)

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """See `Mapper.map`; raises `SourceUnsupported` where the child dies over the file."""
        if not self.is_apart(source):
            return self.here.map(source, resource_id, progress)
        asked = {"source": plain_source(source), "id": resource_id}
        found = from_plain_map(self.children.ask("map", source.path, asked, progress), "map")
        return evolve(found, created_at=self.clock.now())
