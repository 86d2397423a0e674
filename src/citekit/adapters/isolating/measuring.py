"""Measures files of strangers in a child."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from citekit.adapters.isolating.children import Children
from citekit.domain.bounds import Bounds
from citekit.domain.errors import SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.ports.measurer import Measurer
from citekit.domain.source import Source
from citekit.wire.bounds import from_plain
from citekit.wire.parsed import plain_source


@frozen
class IsolatedMeasurer:
    """Measures as `here` would: in a child where that takes a compiled parser (`is_compiled`), else here."""

    here: Measurer
    children: Children
    is_compiled: Callable[[Format], bool]

    def measure(self, source: Source) -> Bounds:
        """See `Measurer.measure`; raises `SourceUnsupported` where the child dies over the file."""
        if not self.is_compiled(source.format):
            return self.here.measure(source)
        found = from_plain(self.children.ask("measure", source.path, {"source": plain_source(source)}))
        if found is None:
            raise SourceUnsupported(f"{source.path.name} cannot be measured.")
        return found
