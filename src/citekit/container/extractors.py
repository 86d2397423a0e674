"""Creates the extractors. Each is imported when a location of a kind that it supports is first requested."""

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
    """Return the extractors in order of precedence, including those of installed packages.

    `media` names the program that is preferred for cutting clips; "ffmpeg" moves that extractor ahead of the built-in
    one. `services` returns the parsers that extractors need. `wrap` receives the name and instance of each extractor
    and returns the extractor to use, for example one that runs in a worker.
    """
    names = list(EXTRACTORS)
    if media == "ffmpeg":
        names.remove("ffmpeg")
        names.insert(names.index("clips"), "ffmpeg")
    built_in = [LazyExtractor(_making(name, services, wrap), EXTRACTORS[name][0]) for name in names]
    return InstalledExtractors(built_in, wrap, services)


def _making(name: str, services: Callable[[], Services], wrap: Wrap) -> Callable[[], Extractor]:
    return lambda: wrap(name, extractor_of(name, services()))
