"""What was laid out lately: which receipts lie in which files, as long as those look as they did."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from pathlib import Path

from attrs import define, field, frozen

from citekit.adapters.system.file_state import FINE, FileState
from citekit.domain.evidence import Receipt

REMEMBERED = 8192
"""Files whose receipts are kept; the least recently looked at go first."""

RACY = FINE
"""Seconds within which a file may change twice and keep its time of change."""


@frozen
class Asked:
    """What decides on the name of a file, beside the receipt."""

    name: str
    suffix: str
    owner: str | None


@frozen
class Placed:
    """What lies at `path`, and looked like `shown` there, and its receipt.

    The receipt's file looked like `state` when it was read, after `read_at`, and since `since`.
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
        """Whether that receipt lies there, as far as the state of its file tells."""
        if not self.is_settled or (self.receipt is not receipt and self.receipt != receipt):
            return False
        try:
            return FileState.of(os.lstat(self.receipt_file)) == self.state
        except OSError:
            return False


@define
class PlacedFiles:
    """The last `REMEMBERED`, by what was asked for and by their paths."""

    _asked: OrderedDict[Asked, Placed] = field(factory=OrderedDict, init=False)
    _paths: dict[Path, Placed] = field(factory=dict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def asked(self, asked: Asked, receipt: Receipt) -> Placed | None:
        """Where that receipt lies, if it was placed before when the same was asked for."""
        placed = self._asked.get(asked)
        if placed is None or not placed.has(receipt):
            return None
        with self._lock:
            if asked in self._asked:
                self._asked.move_to_end(asked)
        return placed

    def at(self, path: Path) -> Placed | None:
        """What was placed there last."""
        return self._paths.get(path)

    def keep(
        self, asked: Asked, path: Path, shown: FileState, receipt: Receipt, claim: tuple[Path, FileState, float]
    ) -> None:
        """Remember what was found at `path`; `claim` is the receipt's file, its state, and when it was read."""
        receipt_file, state, at = claim
        with self._lock:
            before = self._paths.get(path)
            since = before.since if before is not None and before.state == state else at
            self._drop(asked)
            self._asked[asked] = self._paths[path] = Placed(path, shown, receipt, str(receipt_file), state, since, at)
            while len(self._asked) > REMEMBERED:
                self._drop(next(iter(self._asked)))

    def forget(self, path: Path) -> None:
        """Another file is laid there."""
        with self._lock:
            self._paths.pop(path, None)

    def _drop(self, asked: Asked) -> None:
        placed = self._asked.pop(asked, None)
        if placed is not None and self._paths.get(placed.path) is placed:
            del self._paths[placed.path]
