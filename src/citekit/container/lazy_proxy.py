"""Adapters that are imported when there is work for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
    from citekit.domain.formats import Format
    from citekit.domain.locations import Location
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.source import Source


class Late:
    """Stands for what `make` gives, which is made when something of it is first asked for; any thread may ask."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        return getattr(self._make(), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it."""
        return self._make()(*arguments, **named)


class LateExtractor:
    """An `Extractor` of places of some kinds, made when there is such a place: no other one is its work."""

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
        """Who this is."""
        return self._made.identity

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """The forms it can cut such a place into."""
        return self._made.forms(format, location) if isinstance(location, self._kinds) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        return self._made.extract(source, location, options, target, progress)
