"""The port for extractors, which extract evidence from a source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


class Extractor(Protocol):
    """Extracts a part of a source into a file that other programs can open.

    The extent of the result equals the location. The source is only read.
    """

    @property
    def identity(self) -> ExtractorIdentity:
        """The identity of the extractor, which is part of the key of its evidence."""

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """Return the forms that it can produce for that location in that format; empty if it does not support it.

        NATIVE is the default form of a location. For every location, at least one extractor has it.
        """

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write the part to `target`, a path that does not exist, and return what was extracted.

        The same arguments result in the same bytes. Raises `LocationOutside` beyond the end of the source,
        `FormUnsupported`, `SourceUnsupported`, `ExtractionFailed` (with the library's error as its cause),
        `DriverMissing`, `HomeUnwritable` (the target cannot be written), and `Cancelled`.
        """
