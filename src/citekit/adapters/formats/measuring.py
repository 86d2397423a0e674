"""Measures the extent of files, and caches what was measured by the bytes of the file."""

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
    """Measures a file with the handler of its format."""

    services: Services

    def measure(self, source: Source) -> Extent:
        """See `Measurer.measure`."""
        return handler_of(source.format).measure(source.path, self.services)


VERSION = 2
"""Changes whenever the same bytes would be measured otherwise."""


@frozen
class RememberingMeasurer:
    """Asks `inner` once for the same bytes, in any process, as long as `index` keeps the answer."""

    inner: Measurer
    index: Index

    def measure(self, source: Source) -> Extent:
        """See `Measurer.measure`; a failure is not remembered."""
        known = from_plain(self.index.get(_key(source)))
        if known is not None:
            return known
        found = self.inner.measure(source)
        self.remember(source, found)
        return found

    def remember(self, source: Source, bounds: Extent) -> None:
        """Somebody who may be believed has measured `source`."""
        self.index.put(_key(source), to_plain(bounds))


def _key(source: Source) -> str:
    return f"bounds:{VERSION}:{source.format.name}:{source.digest}"
