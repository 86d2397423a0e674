"""Cuts files of strangers in a child."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from citekit.adapters.isolating.children import Children
from citekit.domain.errors import ExtractionFailed
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location
from citekit.domain.ports.extractor import Extractor
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.wire.locations import to_plain
from citekit.wire.parsed import plain_options, plain_source
from citekit.wire.receipts import extraction_from_plain


@frozen
class IsolatedExtractor:
    """Cuts as `here` would, which a child knows as `name`."""

    here: Extractor
    name: str
    children: Children

    @property
    def identity(self) -> ExtractorIdentity:
        """That of the extractor itself: where it runs makes no difference to the bytes."""
        return self.here.identity

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`."""
        return self.here.forms(format, location)

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`; raises `ExtractionFailed` where the child dies over the file."""
        asked = {
            "extractor": self.name,
            "source": plain_source(source),
            "location": to_plain(location),
            "options": plain_options(options),
            "target": str(target),
        }
        made = self.children.ask("extract", source.path, asked, progress, ExtractionFailed)
        return extraction_from_plain(made)
