"""An in-memory cache of parsed maps, valid while their files are unchanged."""

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
"""Limit on the total size of the cached map files, in bytes. Parsed maps take about a third more memory."""

RACY = FINE
"""Seconds within which a file may change twice without a new timestamp."""


@frozen
class _Hot:
    """A parsed map, and the `state` that its file at `path` has had since `since`.

    No file existed at the paths in `absent`, which take precedence.
    """

    resource_map: ResourceMap
    path: Path
    absent: tuple[Path, ...]
    state: FileState
    since: float
    read_at: float
    is_settled: bool = field(init=False)
    """Whether the file was old enough when read that a further change would show in its timestamps."""
    _name: str = field(init=False)

    @is_settled.default
    def _settled(self) -> bool:
        return self.state.is_settled(self.read_at, RACY, self.since)

    @_name.default
    def _path_as_text(self) -> str:
        return str(self.path)

    def is_current(self) -> bool:
        """Return whether the file is unchanged, and a further change would show in its timestamps."""
        if not self.is_settled:
            return False
        try:
            status = os.stat(self._name)  # noqa: PTH116 (called often: `os.stat` of a string is faster)
        except OSError:
            return False
        return self.state == FileState.of(status) and not (self.absent and any(map(os.path.lexists, self.absent)))


class MapCache:
    """Parsed maps by resource ID, up to `HOT_LIMIT` bytes of map files. The last map is cached even if it is larger."""

    def __init__(self) -> None:
        self._hot: OrderedDict[str, _Hot] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, resource_id: str) -> ResourceMap | None:
        """Return the map if its file is unchanged, else None."""
        hot = self._hot.get(resource_id)
        if hot is None or not hot.is_current():
            return None
        with self._lock, suppress(KeyError):
            self._hot.move_to_end(resource_id)
        return hot.resource_map

    def keep(self, found: ResourceMap, path: Path, absent: tuple[Path, ...], state: FileState, read_at: float) -> None:
        """Cache a map read from `path`, whose file was in that state after `read_at` (seconds since the epoch).

        No file existed at the paths in `absent`, which take precedence.
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
        """Remove the map from the cache."""
        with self._lock:
            self._drop(resource_id)

    def _drop(self, resource_id: str) -> None:
        hot = self._hot.pop(resource_id, None)
        self._size -= hot.state.size if hot else 0
