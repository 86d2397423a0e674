"""Finds the source file that a map describes, and checks whether the file has changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

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
    """Finds the source file of a map.

    A relative path in an older map is relative to the folder `home`. A file that has moved is searched for in `roots`
    by its digest.

    A map is untrusted data: an attacker could have written any path into it. With a digest, the path may lead anywhere
    within `folders`, because the author of the map already had the contents of a file that matches. Otherwise, it must
    be below `home` or one of the roots. A recorded path outside `folders` is not read, and errors do not reveal what
    exists there.
    """

    sources: Sources
    home: Path
    roots: Sequence[Path] = field(default=(), converter=tuple[Path, ...])
    folders: Folders = UNRESTRICTED

    def __call__(self, resource_map: ResourceMap, extra_roots: Sequence[Path] = ()) -> Source:
        """Return the source file of the map, compared with the digest in the map, if there is one.

        `extra_roots` are searched in addition to `roots`. Raise `SourceChanged` if the bytes of the file differ, and
        the errors of `Sources.identify`. If the file is not found, raise `RequestRefused` if the map names no file, or
        names one outside the home without a digest, `PathNotAllowed` if a recorded path is outside the allowed folders,
        and otherwise `SourceMoved`.
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
            raise SourceChanged(resource_map.resource_id, str(path), home=str(self.home.absolute()))
        return self.sources.identify(moved)

    def is_inside(self, path: Path, extra_roots: Sequence[Path] = ()) -> bool:
        """Return whether `path`, with symbolic links resolved, is below `home`, one of `roots`, or one of
        `extra_roots`.
        """
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(os.path.realpath(root)) for root in (self.home, *self.roots, *extra_roots))

    def is_at(self, resource_map: ResourceMap, path: Path) -> bool:
        """Return whether `path` is the recorded path of the map's file, or the target of a symbolic link there."""
        written = self._as_written(resource_map)
        return written == path or (
            written is not None and written.is_symlink() and Path(os.path.realpath(written)) == path
        )

    def moved(self, resource_map: ResourceMap, source: Source) -> str | None:
        """Return a message that says where the moved file `source` was found, or None if it was not moved or the map
        has no digest.
        """
        if resource_map.source_digest is None or self.is_at(resource_map, source.path):
            return None
        written = self._as_written(resource_map)
        there = f"the source is no longer at {resource_map.source_path}"
        if written is not None:
            there = f"the file at {resource_map.source_path} is not the file that was mapped"
        elif self._outside(resource_map) is not None:
            there = "the recorded path is outside the folders that may be read here"
        return f"{there}; an identical file was found at {source.path}"

    def staleness(self, resource_map: ResourceMap) -> str | None:
        """Return a message if the source file is missing, has changed, or could not be checked, and otherwise None.

        None is also returned if the map has no path or no digest. Only the recorded path is checked, which is fast.
        """
        if not resource_map.source_path or resource_map.source_digest is None:
            return None
        path = self._as_written(resource_map)
        if path is None and self._outside(resource_map) is not None:
            return (
                f"CiteKit did not check whether the source has changed: {resource_map.source_path} is outside the "
                "folders that may be read here"
            )
        if path is None:
            return f"the source is no longer at {resource_map.source_path}"
        digest = self.sources.digest(path)
        if digest is None:
            return f"CiteKit did not check whether the source has changed: {path} cannot be read"
        return None if digest == resource_map.source_digest else "the source has changed since it was mapped"

    def _as_written(self, resource_map: ResourceMap, extra_roots: Sequence[Path] = ()) -> Path | None:
        known = resource_map.source_digest is not None
        within = (path for path in self._written(resource_map) if self.folders.covers(path))
        there = (path for path in within if self.sources.exists(path))
        return next((path for path in there if known or self.is_inside(path, extra_roots)), None)

    def _written(self, resource_map: ResourceMap) -> Sequence[Path]:
        """Return the paths at which the file may be according to the map."""
        return [Path(place) for place in written_places(resource_map.source_path, str(self.home))]

    def _outside(self, resource_map: ResourceMap) -> Path | None:
        """Return the first recorded path that is outside the allowed folders, or None."""
        return next((path for path in self._written(resource_map) if not self.folders.covers(path)), None)

    def _not_found(self, resource_map: ResourceMap) -> CiteKitError:
        name, written = resource_map.resource_id, resource_map.source_path
        if not written:
            return RequestRefused(
                f"The map of '{name}' names no source file, so its parts cannot be read or extracted. If it was imported, "
                "import it again with its file (--source FILE, or `source` in Python)."
            )
        outside = self._outside(resource_map)
        if outside is not None:
            self.folders.check(outside)  # raises PathNotAllowed
        there = next(filter(self.sources.exists, self._written(resource_map)), None)
        if resource_map.source_digest is None and there is not None:
            return RequestRefused(
                f"The map of '{name}' has no digest of its file, and {written} is outside the home. Add the folder of the "
                "file with --root DIR or in CITEKIT_ROOTS, or map the file again: citekit ingest "
                f"{quote(str(there))} --id {quote(name)} --force --home {quote(str(self.home.absolute()))}"
            )
        return SourceMoved(name, written, is_findable=resource_map.source_digest is not None)

    def _moved(self, resource_map: ResourceMap, roots: Sequence[Path]) -> Path | None:
        digest, size = resource_map.source_digest, resource_map.metadata.get("source_size")
        if digest is None or not isinstance(size, int) or not roots:
            return None
        return self.sources.find(digest, size, Path(resource_map.source_path).name, roots)
