"""A file that can be mapped and cut."""

from __future__ import annotations

from pathlib import Path

from attrs import field, frozen

from citekit.domain.digest import Digest
from citekit.domain.formats import Format


@frozen
class Source:
    """A regular, readable, non-empty file: `path` is absolute, `digest` and `size` (bytes) are those of its content.

    `state` is what the file looked like when it was identified, by which its `Sources` tell whether somebody has written
    to it since; empty where nobody looked.

    `readers` are the read bits of its permissions (0o444: everybody). What is derived from the file gets no others.
    """

    path: Path
    digest: Digest
    size: int
    format: Format
    state: str = field(default="", eq=False, repr=False)
    readers: int = field(default=0o444, eq=False, repr=False)
