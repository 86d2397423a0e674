"""Tells how far a file reaches, whatever a map says of it."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.extent import Extent
from citekit.domain.source import Source


class Measurer(Protocol):
    """The same bytes have the same bounds: those that the local mapper's map of them has. Nothing is written to a source."""

    def measure(self, source: Source) -> Extent:
        """The extent of `source`, complete for its format.

        Raises `SourceUnsupported` for a file that is not what it seems, or is protected, `SourceUnreadable` for one that
        cannot be read, `DriverMissing`.
        """
