"""Lists the maps in a folder, and caches the listing while the folder is unchanged.

Imports almost nothing, so that programs start quickly.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, ItemsView, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from citekit.adapters.system.file_state import FileState, version_of
from citekit.adapters.system.home_files import check_folder
from citekit.domain.errors import MapCorrupt, ResourceIdRefused

SUFFIX = ".json"

_PLAIN = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,199}", re.ASCII)
"""Resource IDs that are used as file names without encoding; 200 is `domain.ids.STORED_ID_LIMIT`."""


def is_plain(resource_id: str) -> bool:
    """Return whether the resource ID is used as a file name without encoding."""
    return _PLAIN.fullmatch(resource_id) is not None


def _odd_id(stem: str) -> str | None:
    from urllib.parse import unquote

    from citekit.domain.ids import check_resource_id, stored_name

    with suppress(UnicodeDecodeError, ResourceIdRefused):
        decoded = unquote(stem, errors="strict")
        return check_resource_id(decoded if stored_name(decoded) == stem else stem)
    return None


def map_files(folder: str) -> dict[str, os.DirEntry[str]]:
    """Return the map file for each resource ID; of two files with the same ID, the one that the store reads.

    The result is empty if the folder is missing. Raise `OSError` if it cannot be read.
    """
    return dict(each_map_file(folder))


def each_map_file(folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield each resource ID with its map file, in any order; nothing if the folder is missing.

    Files with plain names are yielded at once. Those with encoded names come last, because two of them may have the
    same ID, and only the one that the store reads is yielded. Raise `OSError` if the folder cannot be read.
    """
    odd: dict[str, os.DirEntry[str]] = {}
    check_folder(folder)
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            stem, suffix = entry.name[: -len(SUFFIX)], entry.name[-len(SUFFIX) :]
            if suffix != SUFFIX or stem.startswith(".") or entry.is_dir(follow_symlinks=False):
                continue
            if is_plain(stem):
                yield stem, entry
                continue
            name = _odd_id(stem)
            if name is not None and (name not in odd or _is_ours(entry, name)):
                odd[name] = entry
    yield from odd.items()


def _is_ours(entry: os.DirEntry[str], resource_id: str) -> bool:
    """Return whether the file has the name that CiteKit writes, not a plain one."""
    from citekit.domain.ids import stored_name

    return entry.name == stored_name(resource_id) + SUFFIX


class _Kept(NamedTuple):
    """A listing made at `looked`. The folder has been in the state `state` since `since`."""

    ids: tuple[str, ...]
    state: FileState | None
    since: float
    looked: float


class MapListing:
    """The resource IDs of the maps in a folder; the same tuple while they are unchanged."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._kept: _Kept | None = None
        self._lock = threading.Lock()

    def ids(self) -> tuple[str, ...]:
        """Return the resource IDs, sorted. Raise `MapCorrupt` if the folder cannot be read."""
        known = self.cached()
        if known is not None:
            return known
        looked = time.time()
        try:
            state = self._state()
            found = tuple(sorted(map_files(self._folder)))
        except OSError as error:
            raise self.unreadable(error) from error
        return self._keep(found, state, looked)

    def cached(self) -> tuple[str, ...] | None:
        """Return the cached listing if the folder is unchanged, else None."""
        kept = self._kept
        state = kept.state if kept is not None else None
        if kept is None or state is None or not state.is_settled(kept.looked, state.window, kept.since):
            return None
        try:
            return kept.ids if self._state() == state else None
        except OSError:
            return None

    def unreadable(self, error: OSError) -> MapCorrupt:
        """Return the error for a folder that cannot be listed."""
        return MapCorrupt(f"The folder of maps cannot be read: {self._folder} ({error.strerror}).")

    def check(self) -> None:
        """Raise `MapCorrupt` if the folder exists but cannot be read."""
        check_folder(self._folder)
        try:
            with suppress(FileNotFoundError), os.scandir(self._folder):
                pass
        except OSError as error:
            raise self.unreadable(error) from error

    def versions(self) -> Iterator[tuple[str, str]]:
        """Yield each resource ID with the current version of its file.

        Raise `MapCorrupt` if the folder cannot be read.
        """
        now = time.time()
        try:
            for name, entry in each_map_file(self._folder):
                with suppress(OSError):
                    yield name, version_of(entry.stat(), now)
        except OSError as error:
            raise self.unreadable(error) from error

    def forget(self) -> None:
        """Discard the cached listing, because a map was added or removed."""
        with self._lock:
            if self._kept is not None:
                self._kept = self._kept._replace(state=None)

    def _keep(self, found: tuple[str, ...], state: FileState | None, looked: float) -> tuple[str, ...]:
        with self._lock:
            before = self._kept
            since = looked
            if before is not None:
                found = before.ids if before.ids == found else found
                since = before.since if before.state == state else looked
            self._kept = _Kept(found, state, since, looked)
        return found

    def _state(self) -> FileState | None:
        with suppress(FileNotFoundError):
            return FileState.of(os.stat(self._folder))  # noqa: PTH116 - called often: a Path costs more than the stat
        return None


class MapVersions(Mapping[str, str]):
    """The version of each map by resource ID, read on demand."""

    def __init__(self, listing: MapListing, version: Callable[[str], str | None]) -> None:
        """`version` returns the version of one map, or None if the map does not exist."""
        self._listing = listing
        self._version = version

    def __getitem__(self, resource_id: str) -> str:
        """Return the version of a map. Raise `KeyError` if there is no map."""
        version = self._version(resource_id)
        if version is None:
            raise KeyError(resource_id)
        return version

    def __iter__(self) -> Iterator[str]:
        """Iterate over the resource IDs."""
        return (name for name, _ in self._listing.versions())

    def __len__(self) -> int:
        """Return the number of maps."""
        return sum(1 for _ in self)

    def items(self) -> ItemsView[str, str]:
        """Return the resource IDs with their versions, with one `stat` for each."""
        return _Items(self, self._listing.versions)


class _Items(ItemsView[str, str]):
    def __init__(self, versions: Mapping[str, str], look: Callable[[], Iterator[tuple[str, str]]]) -> None:
        super().__init__(versions)
        self._look = look

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._look()
