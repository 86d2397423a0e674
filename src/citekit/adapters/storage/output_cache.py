"""An in-memory cache of output files and their receipts, valid while the files are unchanged."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path

from attrs import define, field, frozen

from citekit.adapters.system.file_state import FINE, FileState
from citekit.domain.evidence import Receipt

REMEMBERED = 8192
"""Maximum number of cached outputs; the least recently used is evicted first."""

RACY = FINE
"""Seconds within which a file may change twice without a new timestamp."""


@frozen
class Asked:
    """The inputs other than the receipt that determine an output's file name."""

    name: str
    suffix: str
    owner: str | None


@frozen
class Placed:
    """An output file at `path` with the file state `shown`, and its receipt.

    The receipt's file had the state `state` when it was read after `read_at`, and has had it since `since`.
    """

    path: Path
    shown: FileState
    receipt: Receipt
    receipt_file: str
    state: FileState
    since: float
    read_at: float
    is_settled: bool = field(init=False)

    @is_settled.default
    def _settled(self) -> bool:
        return self.state.is_settled(self.read_at, RACY, self.since)

    def has(self, receipt: Receipt) -> bool:
        """Return whether that receipt is stored there, judging by the state of its file."""
        if not self.is_settled or (self.receipt is not receipt and self.receipt != receipt):
            return False
        try:
            return FileState.of(os.lstat(self.receipt_file)) == self.state
        except OSError:
            return False


@define
class PlacedFiles:
    """The `REMEMBERED` most recently used outputs, by request and by path."""

    _asked: OrderedDict[Asked, Placed] = field(factory=OrderedDict, init=False)
    _paths: dict[Path, Placed] = field(factory=dict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def asked(self, asked: Asked, receipt: Receipt) -> Placed | None:
        """Return the path of an earlier output for the same request and receipt, or None."""
        placed = self._asked.get(asked)
        if placed is None or not placed.has(receipt):
            return None
        with self._lock:
            if asked in self._asked:
                self._asked.move_to_end(asked)
        return placed

    def at(self, path: Path) -> Placed | None:
        """Return the last output at `path`, or None."""
        return self._paths.get(path)

    def keep(
        self, asked: Asked, path: Path, shown: FileState, receipt: Receipt, claim: tuple[Path, FileState, float]
    ) -> None:
        """Cache the output at `path`. `claim` has the receipt's file, its state, and when it was read."""
        receipt_file, state, at = claim
        with self._lock:
            before = self._paths.get(path)
            since = before.since if before is not None and before.state == state else at
            self._drop(asked)
            self._asked[asked] = self._paths[path] = Placed(path, shown, receipt, str(receipt_file), state, since, at)
            while len(self._asked) > REMEMBERED:
                self._drop(next(iter(self._asked)))

    def forget(self, path: Path) -> None:
        """Forget the path, because another file is about to be written there."""
        with self._lock:
            self._paths.pop(path, None)

    def _drop(self, asked: Asked) -> None:
        placed = self._asked.pop(asked, None)
        if placed is not None and self._paths.get(placed.path) is placed:
            del self._paths[placed.path]
