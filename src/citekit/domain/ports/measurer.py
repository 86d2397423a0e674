"""Defines the port that measures the extent of a file, independent of any map."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.extent import Extent
from citekit.domain.source import Source


class Measurer(Protocol):
    """A component that measures the extent of files.

    The result depends only on the bytes of the file and equals the extent in the local mapper's map.
    """

    def measure(self, source: Source) -> Extent:
        """Return the extent of `source`, with the values that apply to its format.

        Raise `SourceUnsupported` if the file is protected or not in its apparent format, `SourceUnreadable` if it
        cannot be read, or `DriverMissing` if the library for its format is not installed.
        """
