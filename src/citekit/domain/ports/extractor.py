"""Defines the port for extractors, which extract evidence from a source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


class Extractor(Protocol):
    """A component that extracts a part of a source into a file that other programs can open."""

    @property
    def identity(self) -> ExtractorIdentity:
        """The identity of the extractor."""

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """Return the forms that the extractor can produce for `location` in a file of `format`.

        The result is empty if the extractor does not support the location or the format.
        """

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Extract the part of `source` at `location` to the path `target`, and describe the result.

        `target` must not exist yet. The same arguments result in the same bytes. Raise `LocationOutside` if the
        location is beyond the end of the source, `HomeUnwritable` if the target cannot be written, `ExtractionFailed`
        if a library fails, `FormUnsupported`, `SourceUnsupported`, `DriverMissing`, or `Cancelled`.
        """


class DependentExtractor(Extractor, Protocol):
    """An extractor whose output also depends on files next to the source, such as subtitles."""

    def identity_for(self, source: Source) -> ExtractorIdentity:
        """Return the identity for a source, which depends on the files next to it that affect the result."""


def identity_of(extractor: Extractor, source: Source) -> ExtractorIdentity:
    """Return the identity of an extractor for a source."""
    identity_for: Callable[[Source], ExtractorIdentity] | None = getattr(extractor, "identity_for", None)
    return (
        extractor.identity if identity_for is None else identity_for(source)
    )  # isinstance would cost as much as the rest
