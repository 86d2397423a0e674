"""The port that reads source files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.source import Source


class Sources(Protocol):
    """Identifies and finds source files. It never writes to them, and hashes an unchanged file only once."""

    def identify(self, path: Path) -> Source:
        """Return the file at `path` with symbolic links resolved, its digest, and its format.

        Raises `SourceUnreadable` (missing, a folder, a device or pipe, empty, not permitted, changed while it was read,
        or with a name that is not valid UTF-8, which a map cannot store) and `SourceUnsupported` (its format is
        unknown).
        """

    def digest(self, path: Path) -> Digest | None:
        """Return the current digest of the file at `path`, or None if there is no readable file."""

    def cached_digest(self, path: Path) -> Digest | None:
        """Return the digest of the file at `path` if it is cached and the file's status is unchanged; otherwise None."""

    def digest_uncached(self, path: Path) -> Digest | None:
        """Like `digest`, but always reads every byte, to prove the content."""

    def exists(self, path: Path) -> bool:
        """Return whether there is a regular file at `path`. Never raises: False if the name is not valid or not
        accessible.
        """

    def is_unchanged(self, source: Source) -> bool:
        """Return whether the file at `source.path` still has the identified bytes and was not written to in between.

        If so, everything read from it since then comes from these bytes. Checks the file's times, and reads the file
        only if they are too recent to be reliable. A file with different times is considered changed, whatever its
        bytes are: it may have been changed and changed back.
        """

    def find(
        self,
        digest: Digest,
        size: int,
        name: str,
        roots: Sequence[Path],
        allowed: Callable[[Path], bool] = lambda _: True,
    ) -> Path | None:
        """Return a file with those bytes under one of `roots`. Files called `name` are checked first.

        Symbolic links are followed only if `allowed` accepts them; other links are not read.
        """
