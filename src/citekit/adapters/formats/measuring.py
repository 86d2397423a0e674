"""Measures the extent of files and caches the results by file digest."""

from __future__ import annotations

from attrs import frozen

from citekit.adapters.formats.handler import Services
from citekit.adapters.formats.registry import handler_of
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.domain.extent import Extent
from citekit.domain.ports.measurer import Measurer
from citekit.domain.source import Source
from citekit.wire.extent import from_plain, to_plain


@frozen
class FileMeasurer:
    """Measures files with the handlers of their formats."""

    services: Services

    def measure(self, source: Source) -> Extent:
        """See `Measurer.measure`."""
        return handler_of(source.format).measure(source.path, self.services)


VERSION = 2
"""Increase this number when a change makes the measured extent of the same bytes differ."""


@frozen
class RememberingMeasurer:
    """Measures files with `inner` and caches each result in `index`."""

    inner: Measurer
    index: Index

    def measure(self, source: Source) -> Extent:
        """See `Measurer.measure`. Failures are not cached."""
        known = from_plain(self.index.get(_key(source)))
        if known is not None:
            return known
        found = self.inner.measure(source)
        self.remember(source, found)
        return found

    def remember(self, source: Source, extent: Extent) -> None:
        """Cache `extent` as the extent of `source`. The caller must have measured it with trusted code."""
        self.index.put(_key(source), to_plain(extent))


def _key(source: Source) -> str:
    return f"bounds:{VERSION}:{source.format.name}:{source.digest}"
