"""Which maps lie in a folder, remembered while the folder looks the same.

Imports next to nothing: programs that must start fast use it.
"""

from __future__ import annotations

import os
import re
import threading
import time
from contextlib import suppress
from typing import NamedTuple

from citekit.adapters.storage.map_states import State, is_settled, state_of
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
    found: dict[str, os.DirEntry[str]] = {}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            name = id_of(entry)
            if name is not None and (name not in found or _is_ours(entry, name)):
                found[name] = entry
    return found


def _is_ours(entry: os.DirEntry[str], resource_id: str) -> bool:
    """Whether a file has the name that we give, not the plain one that a person gives."""
    from citekit.domain.ids import stored_name

    return entry.name == stored_name(resource_id) + SUFFIX


class _Kept(NamedTuple):
    """The ids as they were listed at `looked`, when the folder looked like `state`, as it did since `since`."""

    ids: tuple[str, ...]
    state: State | None
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
        known = self.at_hand()
        if known is not None:
            return known
        looked = time.time()
        try:
            state = self._state()
            found = tuple(sorted(map_files(self._folder)))
        except OSError as error:
            raise self.unreadable(error) from error
        return self._keep(found, state, looked)

    def at_hand(self) -> tuple[str, ...] | None:
        """The ids as they were listed, where nothing has come or gone since; None where the folder would have to be read."""
        kept = self._kept
        if kept is None or kept.state is None or not is_settled(kept.state, kept.looked, kept.since):
            return None
        try:
            return kept.ids if self._state() == kept.state else None
        except OSError:
            return None

    def unreadable(self, error: OSError) -> MapCorrupt:
        """What is told of a folder that cannot be listed."""
        return MapCorrupt(f"The folder of maps cannot be read: {self._folder} ({error.strerror}).")

    def forget(self) -> None:
        """List the folder again at the next look: something was put there, or removed."""
        with self._lock:
            if self._kept is not None:
                self._kept = self._kept._replace(state=None)

    def _keep(self, found: tuple[str, ...], state: State | None, looked: float) -> tuple[str, ...]:
        with self._lock:
            before = self._kept
            since = looked
            if before is not None:
                found = before.ids if before.ids == found else found
                since = before.since if before.state == state else looked
            self._kept = _Kept(found, state, since, looked)
        return found

    def _state(self) -> State | None:
        with suppress(FileNotFoundError):
            return state_of(os.stat(self._folder))  # noqa: PTH116 - once for every look: a Path costs more than the look
        return None
