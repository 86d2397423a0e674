"""Creates the extractors. Each is imported when a location of a kind that it supports is first requested."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.adapters.formats.registry import EXTRACTORS, InstalledExtractors, extractor_of
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from citekit.adapters.formats.handler import Services
    from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
    from citekit.domain.formats import Format
    from citekit.domain.locations import Location
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.source import Source

Wrap = Callable[[str, "Extractor"], "Extractor"]
"""Receives the name of an extractor and the extractor, and returns the extractor to use."""


def lazy_extractors(
    media: str, services: Callable[[], Services], wrap: Wrap = lambda _, made: made
) -> Sequence[Extractor]:
    """Return the extractors in order of precedence, including those of installed packages.

    If `media` is "ffmpeg", the extractor that runs the ffmpeg program precedes the one that uses PyAV. `wrap` receives
    the name and instance of each extractor and returns the extractor to use.
    """
    names = list(EXTRACTORS)
    if media == "ffmpeg":
        names.remove("ffmpeg")
        names.insert(names.index("clips"), "ffmpeg")
    built_in = [LazyExtractor(_making(name, services, wrap), EXTRACTORS[name][0]) for name in names]
    return InstalledExtractors(built_in, wrap, services)


def _making(name: str, services: Callable[[], Services], wrap: Wrap) -> Callable[[], Extractor]:
    return lambda: wrap(name, extractor_of(name, services()))


class LazyExtractor:
    """An `Extractor` that is created when it is first needed for a location of one of the classes in `kinds`."""

    def __init__(self, make: Callable[[], Extractor], *kinds: type) -> None:
        self._make, self._kinds = make, kinds
        self._lock = threading.Lock()
        self._one: Extractor | None = None

    @property
    def _made(self) -> Extractor:
        with self._lock:
            if self._one is None:
                self._one = self._make()
            return self._one

    @property
    def identity(self) -> ExtractorIdentity:
        """See `Extractor.identity`."""
        return self._made.identity

    def identity_for(self, source: Source) -> ExtractorIdentity:
        """See `DependentExtractor.identity_for`."""
        from citekit.domain.ports.extractor import identity_of

        return identity_of(self._made, source)

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`. There are none for locations of other classes."""
        return self._made.forms(format, location) if isinstance(location, self._kinds) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        return self._made.extract(source, location, options, target, progress)
