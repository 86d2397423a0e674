"""Reads the files that are mapped and cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.source import Source


class Sources(Protocol):
    """Never writes to a source. An unchanged file is read for its digest only once."""

    def identify(self, path: Path) -> Source:
        """The file at `path`, symbolic links followed, digested, its format detected.

        Raises `SourceUnreadable` (missing, a folder, a device or pipe, empty, not permitted, changed while it was read, or
        with a name that is not valid UTF-8, which no map could hold) and `SourceUnsupported` (nobody can tell what it is).
        """

    def digest(self, path: Path) -> Digest | None:
        """The digest of the file at `path` as it is now, or None where there is no readable file."""

    def cached_digest(self, path: Path) -> Digest | None:
        """The digest of the file at `path` as it is now, where a look at its state tells it; None where it would be read."""

    def digest_uncached(self, path: Path) -> Digest | None:
        """Like `digest`, but every byte is read, whatever is remembered of the file: for proofs."""

    def exists(self, path: Path) -> bool:
        """Whether there is a regular file at `path`. Never raises: a name that cannot be, or be looked at, is no file."""

    def is_unchanged(self, source: Source) -> bool:
        """Whether the file at `source.path` has the bytes it had when it was identified, and had no others since.

        So what was read of it since is of these bytes. Costs a look at the file's times; it is read again only where they
        are too young to be believed. A file whose times differ is not, whatever is in it: it may have been changed back.
        """

    def find(
        self,
        digest: Digest,
        size: int,
        name: str,
        roots: Sequence[Path],
        allowed: Callable[[Path], bool] = lambda _: True,
    ) -> Path | None:
        """A file with those bytes under one of `roots`; files called `name` are looked at first.

        A link is followed only where it is `allowed`; nothing is read for any other one.
        """
