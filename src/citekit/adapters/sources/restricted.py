"""Sources for callers who may not read every file."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from citekit.adapters.sources.allowed_folders import AllowedFolders, Way
from citekit.domain.digest import Digest
from citekit.domain.errors import PathNotAllowed
from citekit.domain.ports.sources import Sources
from citekit.domain.source import Source

REMEMBERED = 4096
"""Maximum number of allowed paths that are remembered."""


class ConfinedSources:
    """`Sources` limited to allowed folders. Any other file is refused by `identify`, and otherwise treated as missing.

    A file is identified and read by its real path. `is_unchanged` also checks that nothing on the path was replaced.
    """

    def __init__(self, inner: Sources, folders: AllowedFolders) -> None:
        self._inner, self._folders = inner, folders
        self._ways: dict[int, tuple[weakref.ref[Source], Way]] = {}
        self._allowed: OrderedDict[Path, tuple[Path, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def identify(self, path: Path) -> Source:
        """See `Sources.identify`. Raise `PathNotAllowed` if the file is not allowed, or if its path is being changed."""
        real = self._folders.check(path)
        source = None
        if self._inner.exists(real):
            way = self._folders.way(real)
            source = self._inner.identify(real)
            if source.path != real or not self._folders.is_same(real, way):
                raise self._folders.unsteady(path)
            self._keep(source, way)
        return source or self._inner.identify(real)  # raises an error that says why the file cannot be read

    def digest(self, path: Path) -> Digest | None:
        """See `Sources.digest`. Return None for a file that is not allowed."""
        real = self._real(path)
        return None if real is None else self._inner.digest(real)

    def cached_digest(self, path: Path) -> Digest | None:
        """See `Sources.cached_digest`. Return None for a file that is not allowed.

        A path that was allowed is checked again only if the offered folders have changed.
        """
        offered = self._folders.offered
        if self._allowed.get(path) != offered:
            if not self._folders.covers(path):
                return None
            with self._lock:
                self._allowed[path] = offered
                while len(self._allowed) > REMEMBERED:
                    self._allowed.popitem(last=False)
        return self._inner.cached_digest(path)

    def digest_uncached(self, path: Path, at_most: int | None = None) -> Digest | None:
        """See `Sources.digest_uncached`. Return None for a file that is not allowed."""
        real = self._real(path)
        return None if real is None else self._inner.digest_uncached(real, at_most)

    def exists(self, path: Path) -> bool:
        """See `Sources.exists`. Return False for a file that is not allowed."""
        real = self._real(path)
        return real is not None and self._inner.exists(real)

    def is_unchanged(self, source: Source) -> bool:
        """See `Sources.is_unchanged`.

        Return False if something on the path was replaced, or if `source` is not a result of this object's `identify`.
        """
        known = self._ways.get(id(source))
        if known is None or known[0]() is not source:
            return False
        return self._inner.is_unchanged(source) and self._folders.is_same(source.path, known[1])

    def find(
        self,
        digest: Digest,
        size: int,
        name: str,
        roots: Sequence[Path],
        allowed: Callable[[Path], bool] = lambda _: True,
    ) -> Path | None:
        """See `Sources.find`. Only allowed `roots` are searched. Links out of the allowed folders are not followed."""
        within = [root for root in roots if self._folders.covers(root)]
        found = self._inner.find(digest, size, name, within, lambda link: allowed(link) and self._folders.covers(link))
        return found if found is not None and self._folders.covers(found) else None

    def _real(self, path: Path) -> Path | None:
        try:
            return self._folders.check(path)
        except PathNotAllowed:
            return None

    def _keep(self, source: Source, way: Way) -> None:
        key = id(source)
        self._ways[key] = weakref.ref(source, lambda _: self._ways.pop(key, None)), way
