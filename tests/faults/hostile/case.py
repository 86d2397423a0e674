"""What a hostile content is: how it is made, how it is fed, and what it must not cost or bring along."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import frozen

WORD = "lost-swan-of-the-canary"
"""What the files and the answers of the bait hold: where it turns up, something was read that must not be."""


@frozen
class Bait:
    """What hostile contents point at: a file and a server on this machine that nobody may open or ask."""

    file: Path
    port: int

    @property
    def url(self) -> str:
        """An address of the server."""
        return f"http://127.0.0.1:{self.port}/bait"


Maker = Callable[[Path, Bait], Path]
"""Writes a content into a folder, and says which file is to be fed."""


@frozen
class Case:
    """One hostile content. `way` is how it is fed (see `feeding`); none of `absent` may be in the evidence.

    `seconds` of processor time, `megabytes` of memory and of evidence are what it may cost; `brief` cases are tried on
    every run of the suite. `refused`: True where only an error is right, False where only a map is, None for either.
    """

    family: str
    name: str
    make: Maker
    way: str = "file"
    absent: tuple[bytes, ...] = ()
    seconds: float = 30.0
    megabytes: int = 1024
    output: int = 64
    brief: bool = False
    refused: bool | None = None
