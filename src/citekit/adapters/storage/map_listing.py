"""Which maps lie in a folder, remembered while the folder looks the same.

Imports next to nothing: programs that must start fast use it.
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
"""Ids that are stored as they are; 200 is `domain.ids.STORED_ID_LIMIT`."""


def id_of(entry: os.DirEntry[str]) -> str | None:
    """The id of the map in a file of that name, or None where the file is no map or no id reaches it."""
    name = entry.name
    if not name.endswith(SUFFIX) or name.startswith(".") or entry.is_dir(follow_symlinks=False):
        return None
    stem = name[: -len(SUFFIX)]
    return stem if _PLAIN.fullmatch(stem) else _odd_id(stem)


def is_plain(resource_id: str) -> bool:
    """Whether an id can be stored, as it is, under the name of its file."""
    return _PLAIN.fullmatch(resource_id) is not None


def _odd_id(stem: str) -> str | None:
    from urllib.parse import unquote

    from citekit.domain.ids import check_resource_id, stored_name

    with suppress(UnicodeDecodeError, ResourceIdRefused):
        decoded = unquote(stem, errors="strict")
        return check_resource_id(decoded if stored_name(decoded) == stem else stem)
    return None


def map_files(folder: str) -> dict[str, os.DirEntry[str]]:
    """The file of each map by its id: of two that stand for one id, the one that is read. Raises `OSError`.

    A folder that is not there has no maps.
    """
    return dict(each_map_file(folder))


def each_map_file(folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The same one by one, in any order; only odd names are held, since two of them may stand for one id."""
    odd: dict[str, os.DirEntry[str]] = {}
    check_folder(folder)
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            name = id_of(entry)
            if name is None:
                continue
            if is_plain(name) and len(entry.name) == len(name) + len(SUFFIX):
                yield name, entry
            elif name not in odd or _is_ours(entry, name):
                odd[name] = entry
    yield from odd.items()


def _is_ours(entry: os.DirEntry[str], resource_id: str) -> bool:
    """Whether a file has the name that we give, not the plain one that a person gives."""
    from citekit.domain.ids import stored_name

    return entry.name == stored_name(resource_id) + SUFFIX


class _Kept(NamedTuple):
    """The ids as they were listed at `looked`, when the folder looked like `state`, as it did since `since`."""

    ids: tuple[str, ...]
    state: FileState | None
    since: float
    looked: float


class MapListing:
    """The ids of the maps in a folder. The same object as long as they are the same.

    What lies in a folder does not change without its times: a file that is edited in place keeps its id.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._kept: _Kept | None = None
        self._lock = threading.Lock()

    def ids(self) -> tuple[str, ...]:
        """The ids, sorted. Raises `MapCorrupt` where the folder cannot be read."""
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
        """The ids as they were listed, where nothing has come or gone since; None where the folder would have to be read."""
        kept = self._kept
        state = kept.state if kept is not None else None
        if kept is None or state is None or not state.is_settled(kept.looked, state.window, kept.since):
            return None
        try:
            return kept.ids if self._state() == state else None
        except OSError:
            return None

    def unreadable(self, error: OSError) -> MapCorrupt:
        """The error for a folder that cannot be listed."""
        return MapCorrupt(f"The folder of maps cannot be read: {self._folder} ({error.strerror}).")

    def check(self) -> None:
        """Raises `MapCorrupt` where the folder is there, but cannot be read."""
        check_folder(self._folder)
        try:
            with suppress(FileNotFoundError), os.scandir(self._folder):
                pass
        except OSError as error:
            raise self.unreadable(error) from error

    def versions(self) -> Iterator[tuple[str, str]]:
        """Each id with the version of its file, looked at now. Raises `MapCorrupt` where the folder cannot be read."""
        now = time.time()
        try:
            for name, entry in each_map_file(self._folder):
                with suppress(OSError):
                    yield name, version_of(entry.stat(), now)
        except OSError as error:
            raise self.unreadable(error) from error

    def forget(self) -> None:
        """List the folder again at the next look: something was put there, or removed."""
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
            return FileState.of(os.stat(self._folder))  # noqa: PTH116 - once for every look: a Path costs more than the look
        return None


class MapVersions(Mapping[str, str]):
    """The versions of maps by their ids, as they are when asked for: nothing is held, however many there are."""

    def __init__(self, listing: MapListing, version: Callable[[str], str | None]) -> None:
        """`version` tells that of one map, None where there is none."""
        self._listing = listing
        self._version = version

    def __getitem__(self, resource_id: str) -> str:
        """The version of a map."""
        version = self._version(resource_id)
        if version is None:
            raise KeyError(resource_id)
        return version

    def __iter__(self) -> Iterator[str]:
        """Every id."""
        return (name for name, _ in self._listing.versions())

    def __len__(self) -> int:
        """How many there are."""
        return sum(1 for _ in self)

    def items(self) -> ItemsView[str, str]:
        """Each id and version, for one look at each."""
        return _Items(self, self._listing.versions)


class _Items(ItemsView[str, str]):
    def __init__(self, versions: Mapping[str, str], look: Callable[[], Iterator[tuple[str, str]]]) -> None:
        super().__init__(versions)
        self._look = look

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._look()
