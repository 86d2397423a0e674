"""Find the file a map speaks of, and tell whether it still is that file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

from citekit.domain.errors import SourceChanged, SourceMoved
from citekit.domain.ports.sources import Sources
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source


@frozen
class LocateSource:
    """`home` is what relative paths of older maps are relative to; `roots` are where a moved file is looked for."""

    sources: Sources
    home: Path
    roots: Sequence[Path] = field(default=(), converter=tuple[Path, ...])

    def __call__(self, resource_map: ResourceMap, extra_roots: Sequence[Path] = ()) -> Source:
        """The file, unchanged since it was mapped.

        Raises `SourceMoved` where it is nowhere, `SourceChanged` where its bytes are others, and what
        `Sources.identify` raises. A map that does not say what its file's digest was is believed.
        """
        path = self.path(resource_map, extra_roots)
        if path is None:
            raise SourceMoved(resource_map.resource_id, resource_map.source_path)
        source = self.sources.identify(path)
        if resource_map.source_digest not in (None, source.digest):
            raise SourceChanged(resource_map.resource_id, str(path))
        return source

    def path(self, resource_map: ResourceMap, extra_roots: Sequence[Path] = ()) -> Path | None:
        """Where the file is now: its own path, that path below the home, or a file with its bytes under a root."""
        if not resource_map.source_path:
            return None
        return self._as_written(resource_map) or self._moved(resource_map, (*extra_roots, *self.roots))

    def _as_written(self, resource_map: ResourceMap) -> Path | None:
        written = Path(resource_map.source_path)
        if written.is_absolute():
            return written if written.is_file() else None
        return next((path for path in (self.home / written, self.home / written.name) if path.is_file()), None)

    def _moved(self, resource_map: ResourceMap, roots: Sequence[Path]) -> Path | None:
        digest, size = resource_map.source_digest, resource_map.metadata.get("source_size")
        if digest is None or not isinstance(size, int) or not roots:
            return None
        return self.sources.find(digest, size, Path(resource_map.source_path).name, roots)

    def staleness(self, resource_map: ResourceMap) -> str | None:
        """None where the file still is what was mapped, else a sentence that says what became of it.

        Looks only where the map says the file is: a virtual answer does not pay for a search.
        """
        if not resource_map.source_path or resource_map.source_digest is None:
            return None
        path = self._as_written(resource_map)
        if path is None:
            return f"the source is no longer at {resource_map.source_path}"
        if self.sources.digest(path) != resource_map.source_digest:
            return "the source has changed since it was mapped"
        return None
