"""Measures the extent of a source file, such as its number of pages."""

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
"""The maximum number of files whose extent is cached in memory."""


@frozen
class MeasuredExtent:
    """The measured extent of a source file.

    Without an `extent`, `doubt` says why it could not be measured. `source` is the file, if it was needed and found.
    """

    extent: Extent | None
    doubt: str | None = None
    source: Source | None = None


@define
class MeasureSource:
    """Measures the extent of source files, and caches each extent by the digest of the file."""

    locate: LocateSource
    measurer: Measurer
    _known: OrderedDict[Digest, Extent] = field(factory=OrderedDict, init=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def __call__(self, resource_map: ResourceMap, roots: Sequence[Path] = ()) -> MeasuredExtent:
        """Return the extent of the file that the map describes, from the cache if possible.

        It is None if the file is missing, has changed, or cannot be measured. A moved file is also searched for in
        `roots`. Raise `Cancelled` if the work is canceled.
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
        """Return the extent of `source`, which is None if it cannot be measured or the file changes.

        Raise `Cancelled` if the work is canceled.
        """
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
        return MeasuredExtent(None, f"{source.path} changed while it was being measured.", source)

    def _keep(self, digest: Digest, extent: Extent) -> None:
        with self._lock:
            self._known[digest] = extent
            self._known.move_to_end(digest)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
