"""Tell how far the file of a map reaches, whatever the map says of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from attrs import define, field, frozen

from citekit.application.locate_source import LocateSource
from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled, CiteKitError
from citekit.domain.extent import Extent
from citekit.domain.ports.measurer import Measurer
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

REMEMBERED = 4096
"""Files whose bounds are kept in memory; those looked up longest ago go first."""


@frozen
class MeasuredExtent:
    """`extent` of the file itself; None if it is unknown; `doubt` then says why, in a sentence.

    `source` is the file, where it was looked for.
    """

    extent: Extent | None
    doubt: str | None = None
    source: Source | None = None


@define
class MeasureSource:
    """Measures a file once, and knows it by its bytes from then on."""

    locate: LocateSource
    measurer: Measurer
    _known: OrderedDict[Digest, Extent] = field(factory=OrderedDict, init=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def __call__(self, resource_map: ResourceMap, roots: Sequence[Path] = ()) -> MeasuredExtent:
        """How far the file that was mapped reaches.

        Never the extent of another file: if the file is gone, the extent is unknown.
        """
        known = self._known.get(resource_map.source_digest) if resource_map.source_digest is not None else None
        if known is not None:
            return MeasuredExtent(known)
        try:
            source = self.locate(resource_map, roots)
        except Cancelled:
            raise
        except CiteKitError as error:
            return MeasuredExtent(None, str(error))
        return self.of(source)

    def of(self, source: Source) -> MeasuredExtent:
        """How far a file reaches."""
        known = self._known.get(source.digest)
        if known is not None:
            return MeasuredExtent(known, source=source)
        try:
            extent = self.measurer.measure(source)
        except Cancelled:
            raise
        except CiteKitError as error:
            return MeasuredExtent(None, str(error), source)
        if self.locate.sources.is_unchanged(source):
            self._keep(source.digest, extent)
            return MeasuredExtent(extent, source=source)
        return MeasuredExtent(None, f"{source.path} was changed while it was measured.", source)

    def _keep(self, digest: Digest, extent: Extent) -> None:
        with self._lock:
            self._known[digest] = extent
            self._known.move_to_end(digest)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
