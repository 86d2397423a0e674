"""Defines the port that reads source files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.source import Source


class Sources(Protocol):
    """Identifies and finds source files. It never writes to them, and hashes an unchanged file only once."""

    def identify(self, path: Path) -> Source:
        """Return the source at `path`: its absolute path with links to folders resolved, its digest, its size, and its
        format.

        Raise `SourceUnsupported` if the format is unknown. Raise `SourceUnreadable` if the file is missing, a folder, a
        device or pipe, empty, not readable for this user, changed while it was read, or has a name that is not valid
        UTF-8 and so cannot be stored in a map.
        """

    def digest(self, path: Path) -> Digest | None:
        """Return the current digest of the file at `path`, or None if the path is not a readable file."""

    def cached_digest(self, path: Path) -> Digest | None:
        """Return the digest of the file at `path` if it is cached and the file is unchanged; otherwise None.

        Only the status of the file is checked.
        """

    def digest_uncached(self, path: Path, at_most: int | None = None) -> Digest | None:
        """Return the same digest as `digest`, but always read every byte to verify the content.

        If the file has more than `at_most` bytes, return None without reading it.
        """

    def exists(self, path: Path) -> bool:
        """Return whether `path` is a regular file.

        If the path is invalid or not accessible, return False; never raise an error.
        """

    def is_unchanged(self, source: Source) -> bool:
        """Return whether the file at `source.path` has not been modified since it was identified.

        If so, everything read from the file since then comes from the identified bytes. This checks the times of the
        file and reads its content only if the times are too recent to be reliable. A file with different times counts
        as changed even if it has the same bytes, because it may have been changed and changed back.
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

        Files with the name `name` are checked first. Symbolic links are followed only if `allowed` returns True for
        them.
        """
