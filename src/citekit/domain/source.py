"""Defines the files that are mapped and that evidence is extracted from."""

from __future__ import annotations

from pathlib import Path

from attrs import field, frozen

from citekit.domain.digest import Digest
from citekit.domain.formats import Format


@frozen
class Source:
    """A regular, readable, non-empty file at the absolute path `path`.

    `digest` and `size` (bytes) describe its content. `Sources` compares `state`, which may be empty, to detect later
    changes. `readers` are the read bits of its permissions (0o444 for everyone); files derived from it get the same.
    """

    path: Path
    digest: Digest
    size: int
    format: Format
    state: str = field(default="", eq=False, repr=False)
    readers: int = field(default=0o444, eq=False, repr=False)
