"""Choose the id under which a file's map is, or will be, stored."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from attrs import frozen

from citekit.domain.errors import MapCorrupt, RequestRefused, ResourceMissing
from citekit.domain.ids import resource_id, unique
from citekit.domain.map_card import MapCard
from citekit.domain.modality import Modality
from citekit.domain.ports.map_store import MapStore
from citekit.domain.source import Source

TRIES = 50
"""Numbered ids that are looked at one by one; in a folder of thousands of files of one name, the first free one is taken."""


class Place(NamedTuple):
    """An id, and the map that is there already: one of the same file, or of the same bytes."""

    resource_id: str
    card: MapCard | None


@frozen
class ChooseId:
    """A map of another file is never overwritten. `home` is what relative paths of older maps are relative to.

    Costs a look at a few cards, however many maps there are.
    """

    maps: MapStore
    home: Path

    def __call__(self, source: Source, wanted: str | None, *, force: bool = False) -> str:
        """`wanted`, or the slug of the file's name, with `_2` and so on where that belongs to another file.

        Raises `RequestRefused` where `wanted` belongs to another file, and `MapCorrupt` where nobody can tell whose map it
        is; with `force` that one is overwritten.
        """
        return self.place(source, wanted, force=force).resource_id

    def place(self, source: Source, wanted: str | None, *, force: bool = False) -> Place:
        """The id, with what is there. Raises what a call raises."""
        if wanted is not None:
            there = self._owner(wanted, force=force)
            if there is not None and not self.same_source(there, source):
                raise RequestRefused(
                    f"The id '{wanted}' belongs to {there.source_path}. Choose another --id, or remove that map first."
                )
            return Place(wanted, there)
        first = default_id(source)
        there = self._owner(first, force=force)
        if there is None or self.same_source(there, source):
            return Place(first, there)
        for candidate in self._numbered(source, first):
            there = self._owner(candidate, force=force)
            if there is None or self.same_source(there, source):
                return Place(candidate, there)
        return Place(unique(first, _Taken(self.maps)), None)

    def _numbered(self, source: Source, first: str) -> chain[str]:
        """The ids that the file's map has already, as far as is remembered; then those that are tried one by one."""
        numbered = re.compile(rf"{re.escape(first)}_\d+")
        known = (name for name in self.maps.find_source(str(source.path)) if numbered.fullmatch(name))
        return chain(known, (f"{first}_{number}" for number in range(2, TRIES)))

    def same_source(self, there: MapCard, source: Source) -> bool:
        """Whether a map speaks of this file: its path, or its bytes."""
        same = there.source_path == str(source.path) or there.source_hash == source.digest.hex
        return same or self.home / there.source_path == source.path

    def _owner(self, candidate: str, *, force: bool) -> MapCard | None:
        try:
            return self.maps.card(candidate)
        except ResourceMissing:
            return None
        except MapCorrupt:
            if not force:
                raise
            self.maps.ids()  # raises where no map can be read at all: then nothing can be overwritten either
            return None


@frozen
class _Taken:
    """The ids that are taken, each looked up when it is asked for."""

    maps: MapStore

    def __contains__(self, candidate: object) -> bool:
        try:
            self.maps.card(str(candidate))
        except ResourceMissing:
            return False
        except MapCorrupt:
            self.maps.ids()  # raises where no map can be read at all: every id would seem taken, without end
        return True


def default_id(source: Source) -> str:
    """The slug of the file's name; texts keep their extension."""
    return resource_id(source.path.name, keep_extension=source.format.modality is Modality.TEXT)
