"""Source files."""

from __future__ import annotations

from pathlib import Path

from attrs import field, frozen

from citekit.domain.digest import Digest
from citekit.domain.formats import Format


@frozen
class Source:
    """A regular, readable, non-empty file. `path` is absolute; `digest` and `size` (bytes) describe its content.

    `state` records the file's status (such as its times) when it was identified. `Sources` uses it to detect later
    writes. It is empty if the status was not recorded.

    `readers` has the read bits of the file's permissions (0o444: everyone). Files derived from this one get no others.
    """

    path: Path
    digest: Digest
    size: int
    format: Format
    state: str = field(default="", eq=False, repr=False)
    readers: int = field(default=0o444, eq=False, repr=False)
