"""Defines the port that decides which files may be read."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Folders(Protocol):
    """The folders from which a caller of the use cases may read files."""

    def check(self, path: Path) -> Path:
        """Return `path`, with symbolic links resolved unless every file is allowed.

        Raise `PathNotAllowed` if the path is not inside the allowed folders; whether the file exists then makes no
        difference.
        """

    def covers(self, path: Path) -> bool:
        """Return whether `check` accepts `path`. Raises no exception."""

    def remember(self, path: Path) -> None:
        """Record that the owner mapped the file at `path`, so that other callers may extract evidence from it.

        Raises no exception.
        """
