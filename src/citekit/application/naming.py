"""Choose the id under which a file's map is, or will be, stored."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

from attrs import frozen

from citekit.domain.errors import MapCorrupt, RequestRefused, ResourceMissing
from citekit.domain.ids import resource_id, unique
from citekit.domain.modality import Modality
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

TRIES = 50
"""Numbered ids that are looked at one by one; in a folder of thousands of files of one name, the first free one is taken."""


@frozen
class ChooseId:
    """A map of another file is never overwritten. `home` is what relative paths of older maps are relative to."""

    maps: MapStore
    home: Path

    def __call__(self, source: Source, wanted: str | None, *, force: bool = False) -> str:
        """`wanted`, or the slug of the file's name, with `_2` and so on where that belongs to another file.

        Raises `RequestRefused` where `wanted` belongs to another file, and `MapCorrupt` where nobody can tell whose map it
        is; with `force` that one is overwritten.
        """
        if wanted is not None:
            there = self._owner(wanted, force=force)
            if there is not None and not self.same_source(there, source):
                raise RequestRefused(
                    f"The id '{wanted}' belongs to {there.source_path}. Choose another --id, or remove that map first."
                )
            return wanted
        self.maps.ids()  # raises where the maps cannot be read at all: every id would seem taken, without end
        first = default_id(source)
        if self._is_free_for(source, first, force=force):
            return first
        numbered = re.compile(rf"{re.escape(first)}_\d+")
        known = (name for name in self.maps.find_source(str(source.path)) if numbered.fullmatch(name))
        looked_at = (f"{first}_{number}" for number in range(2, TRIES))
        for candidate in chain(known, looked_at):
            if self._is_free_for(source, candidate, force=force):
                return candidate
        return unique(first, set(self.maps.ids()))

    def _is_free_for(self, source: Source, candidate: str, *, force: bool) -> bool:
        there = self._owner(candidate, force=force)
        return there is None or self.same_source(there, source)

    def same_source(self, there: ResourceMap, source: Source) -> bool:
        """Whether a map speaks of this file: its path, or its bytes."""
        return self.home / there.source_path == source.path or there.source_digest == source.digest

    def _owner(self, candidate: str, *, force: bool) -> ResourceMap | None:
        try:
            return self.maps.get(candidate)
        except ResourceMissing:
            return None
        except MapCorrupt:
            if force:
                return None
            raise


def default_id(source: Source) -> str:
    """The slug of the file's name; texts keep their extension."""
    return resource_id(source.path.name, keep_extension=source.format.modality is Modality.TEXT)
