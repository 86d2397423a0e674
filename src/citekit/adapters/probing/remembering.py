"""A measurer that remembers what was measured, by the bytes of the file."""

from __future__ import annotations

from attrs import frozen

from citekit.adapters.drivers.sqlite_index import Index
from citekit.domain.bounds import Bounds
from citekit.domain.ports.measurer import Measurer
from citekit.domain.source import Source
from citekit.wire.bounds import from_plain, to_plain

VERSION = 2
"""Changes whenever the same bytes would be measured otherwise."""


@frozen
class RememberingMeasurer:
    """Asks `inner` once for the same bytes, in any process, as long as `index` keeps the answer."""

    inner: Measurer
    index: Index

    def measure(self, source: Source) -> Bounds:
        """See `Measurer.measure`; a failure is not remembered."""
        known = from_plain(self.index.get(_key(source)))
        if known is not None:
            return known
        found = self.inner.measure(source)
        self.remember(source, found)
        return found

    def remember(self, source: Source, bounds: Bounds) -> None:
        """Somebody who may be believed has measured `source`."""
        self.index.put(_key(source), to_plain(bounds))


def _key(source: Source) -> str:
    return f"bounds:{VERSION}:{source.format.name}:{source.digest}"
