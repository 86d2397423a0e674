"""Find the file a map speaks of, and tell whether it still is that file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

from citekit.application.recorded_paths import written_places
from citekit.application.source_access import UNRESTRICTED
from citekit.domain.errors import CiteKitError, RequestRefused, SourceChanged, SourceMoved
from citekit.domain.ports.folders import Folders
from citekit.domain.ports.sources import Sources
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source


@frozen
class LocateSource:
    """`home` is what relative paths of older maps are relative to; `roots` are where a moved file is looked for.

    A map is data that somebody may have sent us. It is followed anywhere only where it knows the digest of the file's
    bytes, so that nothing is read out that its maker did not have; without one, only below `home` and `roots`. Outside of
    `folders`, it is not followed at all, and nothing there is revealed.
    """

    sources: Sources
    home: Path
    roots: Sequence[Path] = field(default=(), converter=tuple[Path, ...])
    folders: Folders = UNRESTRICTED

    def __call__(self, resource_map: ResourceMap, extra_roots: Sequence[Path] = ()) -> Source:
        """The file, unchanged since it was mapped.

        Raises `SourceMoved` where it is nowhere, `SourceChanged` where its bytes are others, `PathNotAllowed` where it is
        said to be outside of the folders, and what `Sources.identify` raises.
        """
        roots = (*extra_roots, *self.roots)
        path = self._as_written(resource_map, extra_roots) or self._moved(resource_map, roots)
        if path is None:
            raise self._not_found(resource_map)
        source = self.sources.identify(path)
        if resource_map.source_digest in (None, source.digest):
            return source
        moved = self._moved(resource_map, roots)
        if moved is None:
            raise SourceChanged(resource_map.resource_id, str(path))
        return self.sources.identify(moved)

    def is_inside(self, path: Path, extra_roots: Sequence[Path] = ()) -> bool:
        """Whether a path, links followed, lies below the home or one of the roots."""
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(os.path.realpath(root)) for root in (self.home, *self.roots, *extra_roots))

    def is_at(self, resource_map: ResourceMap, path: Path) -> bool:
        """Whether `path` is where the map says its file is, or what a link there leads to."""
        written = self._as_written(resource_map)
        return written == path or (
            written is not None and written.is_symlink() and Path(os.path.realpath(written)) == path
        )

    def moved(self, resource_map: ResourceMap, source: Source) -> str | None:
        """None where the file that was found is where the map says, else a sentence that says where it was found."""
        if resource_map.source_digest is None or self.is_at(resource_map, source.path):
            return None
        written = self._as_written(resource_map)
        there = f"the source is no longer at {resource_map.source_path}"
        if written is not None:
            there = f"the file at {resource_map.source_path} has other bytes than were mapped"
        elif self._outside(resource_map) is not None:
            there = "the source is said to be outside the folders that may be read here"
        return f"{there}; a file with the bytes that were mapped was found at {source.path}"

    def staleness(self, resource_map: ResourceMap) -> str | None:
        """None where the file still is what was mapped, else a sentence that says what became of it.

        Looks only where the map says the file is: a virtual answer does not pay for a search.
        """
        if not resource_map.source_path or resource_map.source_digest is None:
            return None
        path = self._as_written(resource_map)
        if path is None and self._outside(resource_map) is not None:
            return (
                f"nobody looked whether the source has changed: {resource_map.source_path} is outside the folders that may "
                "be read here"
            )
        if path is None:
            return f"the source is no longer at {resource_map.source_path}"
        if self.sources.digest(path) != resource_map.source_digest:
            return "the source has changed since it was mapped"
        return None

    def _as_written(self, resource_map: ResourceMap, extra_roots: Sequence[Path] = ()) -> Path | None:
        known = resource_map.source_digest is not None
        within = (path for path in self._written(resource_map) if self.folders.covers(path))
        there = (path for path in within if self.sources.exists(path))
        return next((path for path in there if known or self.is_inside(path, extra_roots)), None)

    def _written(self, resource_map: ResourceMap) -> Sequence[Path]:
        """Where the map says its file is; nowhere where it says nothing."""
        return [Path(place) for place in written_places(resource_map.source_path, str(self.home))]

    def _outside(self, resource_map: ResourceMap) -> Path | None:
        """The first place outside of the folders at which the map says that its file is."""
        return next((path for path in self._written(resource_map) if not self.folders.covers(path)), None)

    def _not_found(self, resource_map: ResourceMap) -> CiteKitError:
        name, written = resource_map.resource_id, resource_map.source_path
        if not written:
            return RequestRefused(f"The map of '{name}' names no file, so there is nothing to cut.")
        outside = self._outside(resource_map)
        if outside is not None:
            self.folders.check(outside)  # raises PathNotAllowed
        if resource_map.source_digest is None and any(map(self.sources.exists, self._written(resource_map))):
            return RequestRefused(
                f"The map of '{name}' does not say what the bytes of its file were, and {written} lies outside the home: "
                "ingest that file, or name its folder (--root DIR)."
            )
        return SourceMoved(name, written)

    def _moved(self, resource_map: ResourceMap, roots: Sequence[Path]) -> Path | None:
        digest, size = resource_map.source_digest, resource_map.metadata.get("source_size")
        if digest is None or not isinstance(size, int) or not roots:
            return None
        return self.sources.find(digest, size, Path(resource_map.source_path).name, roots)
