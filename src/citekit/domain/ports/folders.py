"""Which files may be named and read."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Folders(Protocol):
    """The folders in which files may be named and read by the caller of the use cases."""

    def check(self, path: Path) -> Path:
        """The path to read instead of `path`, its links followed. Raises `PathNotAllowed`.

        The answer for a path outside is the same whether or not there is a file.
        """

    def covers(self, path: Path) -> bool:
        """Whether `check` lets that path through. Never raises."""

    def remember(self, path: Path) -> None:
        """Note that its owner named the file at `path` and had it mapped: others may have it cut, too. Never raises."""
