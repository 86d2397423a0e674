"""The extractors. Each is imported when a location of its kind is requested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from citekit.adapters.formats.registry import EXTRACTORS, InstalledExtractors, extractor_of
from citekit.container.lazy_proxy import LazyExtractor

if TYPE_CHECKING:
    from citekit.adapters.formats.handler import Services
    from citekit.domain.ports.extractor import Extractor

Wrap = Callable[[str, "Extractor"], "Extractor"]
"""Wraps the extractor with that name."""


def lazy_extractors(
    media: str, services: Callable[[], Services], wrap: Wrap = lambda _, made: made
) -> Sequence[Extractor]:
    """Return the extractors in order of precedence. `media` is the driver that is preferred for clips."""
    names = list(EXTRACTORS)
    if media == "ffmpeg":
        names.remove("ffmpeg")
        names.insert(names.index("clips"), "ffmpeg")
    built_in = [LazyExtractor(_making(name, services, wrap), EXTRACTORS[name][0]) for name in names]
    return InstalledExtractors(built_in, wrap, services)


def _making(name: str, services: Callable[[], Services], wrap: Wrap) -> Callable[[], Extractor]:
    return lambda: wrap(name, extractor_of(name, services()))
