"""Chooses the ID under which a file's map is, or will be, stored."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
"""IDs with a number below this are tried one by one, in case they belong to the same file."""


class Place(NamedTuple):
    """A resource ID, and the card of the existing map of the same file or the same bytes with that ID, or None."""

    resource_id: str
    card: MapCard | None


@frozen
class ChooseId:
    """Chooses resource IDs so that the map of one file does not overwrite that of another.

    Relative paths in older maps are relative to the folder `home`.
    """

    maps: MapStore
    home: Path

    def __call__(self, source: Source, wanted: str | None, *, force: bool = False) -> str:
        """Return the ID for the map of `source`.

        This is `wanted`, or else the slug of the file name. If another file has that slug, the ID begins with the name
        of the folder, or of two folders, or ends with a number, such as `_2`. Raise `RequestRefused` if `wanted`
        belongs to another file, and `MapCorrupt` if the existing map with the ID cannot be read and `force` is not set.
        """
        return self.place(source, wanted, force=force).resource_id

    def place(self, source: Source, wanted: str | None, *, force: bool = False) -> Place:
        """Return the ID for the map of `source`, and the card of its existing map. See `ChooseId.__call__`."""
        if wanted is not None:
            there = self._owner(wanted, force=force)
            if there is not None and not self.same_source(there, source):
                raise RequestRefused(
                    f"The ID '{wanted}' belongs to the map of {there.source_path or there.title}. Choose another ID, or "
                    "remove that map first."
                )
            return Place(wanted, there)
        first = default_id(source)
        there = self._owner(first, force=force)
        if there is None or self.same_source(there, source):
            return Place(first, there)
        for candidate in self._others(source, first):
            there = self._owner(candidate, force=force)
            if there is None or self.same_source(there, source):
                return Place(candidate, there)
        return Place(unique(first, _Taken(self.maps)), None)

    def _others(self, source: Source, first: str) -> chain[str]:
        """Return the IDs to try, in order: those of existing maps of the file, those with the names of folders, and
        numbered ones.
        """
        in_folders = ids_in_folders(source)
        numbered = re.compile(rf"{re.escape(first)}_\d+")
        known = (
            name for name in self.maps.find_source(str(source.path)) if name in in_folders or numbered.fullmatch(name)
        )
        return chain(known, in_folders, (f"{first}_{number}" for number in range(2, TRIES)))

    def same_source(self, there: MapCard, source: Source) -> bool:
        """Return whether the map with the card `there` describes `source`: it has the same path or the same bytes."""
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
            self.maps.ids()  # raises if the folder is unreadable: then nothing can be overwritten either
            return None


@frozen
class _Taken:
    """The set of IDs that are in use, looked up in the map store."""

    maps: MapStore

    def __contains__(self, candidate: object) -> bool:
        try:
            self.maps.card(str(candidate))
        except ResourceMissing:
            return False
        except MapCorrupt:
            self.maps.ids()  # raises if the folder is unreadable, which would make every ID seem taken
        return True


def default_id(source: Source) -> str:
    """Return the slug of the file's name, without the extension unless the file is a text file."""
    return resource_id(source.path.name, keep_extension=source.format.modality is Modality.TEXT)


def ids_in_folders(source: Source) -> Sequence[str]:
    """Return the IDs of a file that begin with the name of its folder, or with the names of its last two folders."""
    is_text = source.format.modality is Modality.TEXT
    return [resource_id(name, keep_extension=is_text) for name in names_in_folders(source.path)]


def names_in_folders(path: Path) -> Sequence[str]:
    """Return the file name preceded by the name of its folder, and by the names of its last two folders.

    A name is left out if the path does not have that many folders.
    """
    *_, above, folder, _ = ("", "", *path.absolute().parts[1:])
    return [f"{folder} {path.name}"] * bool(folder) + [f"{above} {folder} {path.name}"] * bool(above)
