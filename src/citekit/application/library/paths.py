"""Which files a caller may name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen
from attrs.converters import optional

from citekit.domain.errors import PathNotAllowed


@frozen
class AllowedPaths:
    """Paths, links followed, below one of `roots`; without roots, any path.

    For callers that act for somebody else, such as an agent; who works on their own machine may name what they can read.
    """

    roots: Sequence[Path] | None = field(converter=optional(tuple[Path, ...]))

    def check(self, path: Path) -> Path:
        """`path` itself. Raises `PathNotAllowed`."""
        if self.roots is None:
            return path
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(os.path.realpath(root)) for root in self.roots):
            allowed = ", ".join(str(root) for root in self.roots)
            raise PathNotAllowed(
                f"{path} is outside the folders that may be read here ({allowed}): its owner can add a folder by "
                "CITEKIT_ROOTS, or by LOCAL_INGEST_PATH."
            )
        return path
