"""A file that can be mapped and cut."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from citekit.domain.digest import Digest
from citekit.domain.formats import Format


@frozen
class Source:
    """A regular, readable, non-empty file: `path` is absolute, `digest` and `size` (bytes) are those of its content."""

    path: Path
    digest: Digest
    size: int
    format: Format
