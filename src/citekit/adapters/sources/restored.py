"""Sources whose local copies can be fetched again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import frozen

from citekit.domain.digest import Digest
from citekit.domain.errors import SourceUnreadable
from citekit.domain.ports.remote_files import RemoteFiles
from citekit.domain.ports.sources import Sources
from citekit.domain.source import Source


@frozen
class RestoredSources:
    """`Sources` that fetch a copy again if it was removed from the cache of remote files."""

    inner: Sources
    remote: RemoteFiles

    def identify(self, path: Path) -> Source:
        """Identify the file, which is fetched if its copy is gone."""
        try:
            return self.inner.identify(path)
        except SourceUnreadable:
            if not self.remote.restore(path):
                raise
        return self.inner.identify(path)

    def digest(self, path: Path) -> Digest | None:
        """Return the digest of the copy. A copy that is gone is not fetched for this."""
        return self.inner.digest(path)

    def cached_digest(self, path: Path) -> Digest | None:
        """See `Sources.cached_digest`."""
        return self.inner.cached_digest(path)

    def digest_uncached(self, path: Path, at_most: int | None = None) -> Digest | None:
        """See `Sources.digest_uncached`."""
        return self.inner.digest_uncached(path, at_most)

    def exists(self, path: Path) -> bool:
        """Return whether the file is there, or was fetched again."""
        return self.inner.exists(path) or self.remote.restore(path)

    def is_unchanged(self, source: Source) -> bool:
        """See `Sources.is_unchanged`."""
        return self.inner.is_unchanged(source)

    def find(
        self,
        digest: Digest,
        size: int,
        name: str,
        roots: Sequence[Path],
        allowed: Callable[[Path], bool] = lambda _: True,
    ) -> Path | None:
        """See `Sources.find`."""
        return self.inner.find(digest, size, name, roots, allowed)
