"""Parsed maps in memory, as long as their files look as they did."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from attrs import field, frozen

from citekit.adapters.system.file_state import FINE, FileState
from citekit.domain.resource_map import ResourceMap

HOT_LIMIT = 16 * 1024 * 1024
"""Bytes of map files whose parsed maps are kept in memory (they take about a third more there); the least recently used go
first."""

RACY = FINE
"""Seconds within which a file may change twice and keep its time of change."""


@frozen
class _Hot:
    """A parsed map: its file at `path` looked like `state` when it was read, and since `since`.

    None of `absent` was there, which would have been read instead.
    """

    resource_map: ResourceMap
    path: Path
    absent: tuple[Path, ...]
    state: FileState
    since: float
    read_at: float
    is_settled: bool = field(init=False)
    """Whether it looked so long enough after its last change for another one to show."""
    _name: str = field(init=False)

    @is_settled.default
    def _settled(self) -> bool:
        return self.state.is_settled(self.read_at, RACY, self.since)

    @_name.default
    def _path_as_text(self) -> str:
        return str(self.path)

    def is_current(self) -> bool:
        """Whether the file still looks as it did, and another change would show."""
        if not self.is_settled:
            return False
        try:
            status = os.stat(self._name)  # noqa: PTH116 (at every look: a path as text is looked at faster)
        except OSError:
            return False
        return self.state == FileState.of(status) and not (self.absent and any(map(os.path.lexists, self.absent)))


class MapCache:
    """Maps by their ids, as many as have `HOT_LIMIT` bytes of files."""

    def __init__(self) -> None:
        self._hot: OrderedDict[str, _Hot] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, resource_id: str) -> ResourceMap | None:
        """The map, if reading its file again would give the same."""
        hot = self._hot.get(resource_id)
        if hot is None or not hot.is_current():
            return None
        with self._lock, suppress(KeyError):
            self._hot.move_to_end(resource_id)
        return hot.resource_map

    def keep(self, found: ResourceMap, path: Path, absent: tuple[Path, ...], state: FileState, read_at: float) -> None:
        """Keep what was read from `path`, open in that state, after `read_at` (seconds since the epoch).

        `absent` are the paths that would have been read instead, had they been there.
        """
        with self._lock:
            before = self._hot.get(found.resource_id)
            since = before.since if before is not None and before.state == state else read_at
            self._drop(found.resource_id)
            self._hot[found.resource_id] = _Hot(found, path, absent, state, since, read_at)
            self._size += state.size
            while self._size > HOT_LIMIT and len(self._hot) > 1:
                self._drop(next(iter(self._hot)))

    def drop(self, resource_id: str) -> None:
        """Forget the map."""
        with self._lock:
            self._drop(resource_id)

    def _drop(self, resource_id: str) -> None:
        hot = self._hot.pop(resource_id, None)
        self._size -= hot.state.size if hot else 0
