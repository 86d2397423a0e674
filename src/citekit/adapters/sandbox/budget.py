"""How much processor time and memory a request may take for one file, before its child is ended."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from citekit.domain.formats import by_name
from citekit.domain.modality import Modality

MEGABYTE = 1_000_000

PER_MEGABYTE = 5
"""Processor time for each megabyte of a file of 1 MB or more, in units of the time for a small file.

Annual reports of 1 to 2 MB that show their text in pieces of two letters take 10 s for each megabyte, on a busy machine more.
"""

RECORDINGS = 4
"""Processor time for a recording, in the same units: finding its scenes means decoding it, however few bytes it has."""

PER_PICTURE = 6
"""Processor time added for each picture whose text is read (OCR), in the same units."""

MEMORY_PER_MEGABYTE = 10
"""Each megabyte of a file of 1 MB or more adds the memory of a small file divided by this."""

_RECORDED = frozenset({Modality.VIDEO, Modality.AUDIO})


@frozen
class Budget:
    """`seconds` of processor time, and `memory` in bytes on top of what the child holds when it begins.

    `picture` is the processor time that is added for each picture whose text is read.
    """

    seconds: float
    memory: int
    picture: float = 0.0


@frozen
class Allowance:
    """The budget of any file: `seconds` and `memory` (bytes) are those of one under 1 MB; `most` bounds the memory."""

    seconds: float
    memory: int
    most: int

    def budget(self, path: str | os.PathLike[str], size: int, arguments: Mapping[str, Any]) -> Budget:
        """The budget of a request about the file at `path`, which has `size` bytes."""
        megabytes = size // MEGABYTE
        units = max(1, size * PER_MEGABYTE / MEGABYTE) if megabytes else 1
        if _modality(path, arguments) in _RECORDED:
            units = max(units, RECORDINGS)
        memory = self.memory + megabytes * self.memory // MEMORY_PER_MEGABYTE
        return Budget(round(self.seconds * units, 1), min(memory, self.most), self.seconds * PER_PICTURE)


def _modality(path: str | os.PathLike[str], arguments: Mapping[str, Any]) -> Modality | None:
    """The kind of file: as it was identified if the request says so, else as its name promises."""
    match arguments:
        case {"source": {"format": [_, str(modality), _]}}:
            return Modality(modality)
    promised = by_name(os.fspath(path))
    return None if promised is None else promised.modality
