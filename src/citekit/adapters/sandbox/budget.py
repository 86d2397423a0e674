"""Limits the processor time and the memory of a request about one file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from citekit.domain.formats import by_name
from citekit.domain.modality import Modality

MEGABYTE = 1_000_000

SMALL = 500_000
"""The maximum size in bytes of a file that counts as small."""

PER_MEGABYTE = 4
"""Processor time for each megabyte beyond `SMALL`, as a multiple of the time for a small file.

Annual reports of 0.7 to 2 MB that draw their text two letters at a time take 4 to 8 s for each megabyte, up to twice as
much on a busy machine.
"""

RECORDINGS = 4
"""The minimum processor time for an audio or video file, as a multiple of the time for a small file.

Scene detection decodes the whole file.
"""

PER_PICTURE = 6
"""Additional processor time for each image that is read by OCR, as a multiple of the time for a small file.

A window of speech that is recognized counts as several images.
"""

MEMORY_PER_MEGABYTE = 10
"""Each whole megabyte of a file adds the memory limit for files under 1 MB, divided by this number."""

_RECORDED = frozenset({Modality.VIDEO, Modality.AUDIO})


@frozen
class Budget:
    """The limits of one request to a worker.

    `seconds` is the processor time, to which each image that OCR reads adds `picture` seconds. `memory` is the number
    of bytes in addition to what the worker uses when the request begins.
    """

    seconds: float
    memory: int
    picture: float = 0.0


@frozen
class Allowance:
    """Computes budgets.

    `seconds` is the processor time for a file of at most `SMALL` bytes, and `memory` is the number of bytes for a file
    under 1 MB. `most` is the upper limit for the memory of any file.
    """

    seconds: float
    memory: int
    most: int

    def budget(self, path: str | os.PathLike[str], size: int, arguments: Mapping[str, Any]) -> Budget:
        """Return the budget of a request with `arguments` about the file at `path`, which has `size` bytes."""
        megabytes = size // MEGABYTE
        units = 1 + max(0, size - SMALL) * PER_MEGABYTE / MEGABYTE
        if _modality(path, arguments) in _RECORDED:
            units = max(units, RECORDINGS)
        memory = self.memory + megabytes * self.memory // MEMORY_PER_MEGABYTE
        return Budget(round(self.seconds * units, 1), min(memory, self.most), self.seconds * PER_PICTURE)


def _modality(path: str | os.PathLike[str], arguments: Mapping[str, Any]) -> Modality | None:
    """Return the modality of the file from the format in `arguments`, or else from the file name; None if it is
    unknown.
    """
    match arguments:
        case {"source": {"format": [_, str(modality), _]}}:
            return Modality(modality)
    promised = by_name(os.fspath(path))
    return None if promised is None else promised.modality
