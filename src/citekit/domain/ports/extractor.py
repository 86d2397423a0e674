"""Cuts a part out of a source."""

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
    """What it makes opens with any other tool, and its extent equals the location. The source is only read."""

    @property
    def identity(self) -> ExtractorIdentity:
        """Who this is; part of the key of what it makes."""

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """The forms it can cut such a place of such a file into; none where this is not its work.

        NATIVE stands for the usual form of that place; of all extractors together, at least one has it.
        """

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write that part to `target`, a path that does not exist, and say what was made.

        The same arguments give the same bytes. Raises `LocationOutside` beyond the end of the source, `FormUnsupported`,
        `SourceUnsupported`, `ExtractionFailed` (the driver's error is its cause), `DriverMissing`, `HomeUnwritable` (the
        target cannot be written), `Cancelled`.
        """
