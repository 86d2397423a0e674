"""Defines the port that reads source files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.source import Source


class Sources(Protocol):
    """Identifies and finds source files, which are only read."""

    def identify(self, path: Path) -> Source:
        """Return the source at `path`: its absolute path with links to folders resolved, its digest, its size, and its
        format.

        A missing copy of a remote file is fetched again, which can raise the errors of `RemoteFiles.restore`. Raise
        `SourceUnsupported` if the format is unknown, or if a text has the suffix of a binary format. Raise
        `SourceUnreadable` if the file is missing, a folder, a device or pipe, empty, not readable for this user,
        changed while it was read, or has a name that is not valid UTF-8 and so cannot be stored in a map.
        """

    def digest(self, path: Path) -> Digest | None:
        """Return the current digest of the file at `path`, or None if it is not a readable file."""

    def cached_digest(self, path: Path) -> Digest | None:
        """Return the digest of the file at `path` if it is cached and the status of the file has not changed; otherwise
        None.
        """

    def digest_uncached(self, path: Path, at_most: int | None = None) -> Digest | None:
        """Return the same digest as `digest`, but read the whole file to verify the content.

        If the file has more than `at_most` bytes, return None without reading it.
        """

    def exists(self, path: Path) -> bool:
        """Return whether `path` is a regular file that is accessible.

        A missing copy of a remote file is fetched again, which can raise the errors of `RemoteFiles.restore`.
        """

    def is_unchanged(self, source: Source) -> bool:
        """Return whether the file at `source.path` has not been modified since it was identified.

        This checks the times of the file and reads its content only if the times are too recent to be reliable. A file
        with different times counts as changed even if it has the same bytes, because it may have been changed and
        changed back.
        """

    def find(
        self,
        digest: Digest,
        size: int,
        name: str,
        roots: Sequence[Path],
        allowed: Callable[[Path], bool] = lambda _: True,
    ) -> Path | None:
        """Return the path of a file with the given digest and size in the folders `roots`, or None.

        Files with the name `name` are checked first. Symbolic links are followed if `allowed` returns True for them.
        """
