"""The port that measures the extent of a file, independent of any map."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.extent import Extent
from citekit.domain.source import Source


class Measurer(Protocol):
    """Measures files. The result depends only on the bytes and equals the extent in the local mapper's map.

    Nothing is written to a source.
    """

    def measure(self, source: Source) -> Extent:
        """Return the extent of `source` with all values that its format has.

        Raises `SourceUnsupported` for a file that is protected or not in its apparent format, `SourceUnreadable`, and
        `DriverMissing`.
        """
