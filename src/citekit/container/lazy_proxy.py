"""Provides proxies for objects that are imported and created on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
    from citekit.domain.formats import Format
    from citekit.domain.locations import Location
    from citekit.domain.ports.extractor import Extractor
    from citekit.domain.source import Source

T = TypeVar("T")


def lazy(make: Callable[[], T]) -> T:
    """Return a proxy for the object that `make` returns.

    Every attribute access calls `make`, which should therefore be fast or cache its result.
    """
    return cast("T", _Lazy(make))


class _Lazy:
    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> object:
        return getattr(self._make(), name)

    def __call__(self, *arguments: object, **named: object) -> object:
        return cast("Callable[..., object]", self._make())(*arguments, **named)


class LazyExtractor:
    """An `Extractor` that is created when a location of one of the classes in `kinds` is first requested."""

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
        """See `Extractor.forms`. Return no forms for a location that is not of one of the supported classes."""
        return self._made.forms(format, location) if isinstance(location, self._kinds) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        return self._made.extract(source, location, options, target, progress)
