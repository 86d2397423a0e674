"""No bounds: for who works on their own machine."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen


@frozen
class Anywhere:
    """`Folders` that are all there are; nothing is remembered."""

    def check(self, path: Path) -> Path:
        """`path` itself."""
        return path

    def covers(self, path: Path) -> bool:  # noqa: ARG002
        """True."""
        return True

    def remember(self, path: Path) -> None:
        """Nothing."""


ANYWHERE = Anywhere()
