"""A mapper that returns scripted maps, for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import define, field

from citekit.domain.formats import Format
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.node import Node
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

Script = Callable[[Source], Sequence[Node]]


@define
class ScriptedMapper:
    """A mapper for tests that calls `script` for the nodes of a source and records the sources in `mapped`."""

    script: Script
    identity: MapperIdentity = field(default=MapperIdentity("scripted", "1"))
    facts: dict[str, Any] = field(factory=dict)
    mapped: list[Source] = field(factory=list)

    def supports(self, format: Format) -> bool:
        """Return True for every format."""
        return True

    def sidecar_files(self, source: Source) -> Sequence[Path]:
        """Return no files."""
        return ()

    def map(self, source: Source, resource_id: str, progress: Progress = silent) -> ResourceMap:
        """Return a map with the nodes that `script` returns for `source`."""
        progress(0, 1, "mapping")
        self.mapped.append(source)
        return ResourceMap(
            resource_id=resource_id,
            modality=source.format.modality,
            title=source.path.stem,
            source_path=str(source.path),
            nodes=tuple(self.script(source)),
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            metadata={
                "source_hash": source.digest.hex,
                "source_size": source.size,
                "mapper": self.identity.to_metadata(),
                **self.facts,
            },
        )
