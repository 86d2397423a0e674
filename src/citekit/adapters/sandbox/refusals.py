"""Remembers files that exceeded their budget, so that the same work is not repeated at the same cost.

On a busy computer, programs share caches and cores, and the same work takes up to twice the processor time. A refusal
from that time lapses after some minutes, so that it does not outlast its reason.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field, frozen

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.sandbox.budget import Budget
from citekit.adapters.system.file_state import FileState

REMEMBERED = 4096
"""Maximum number of remembered files; the oldest refusals are removed first."""

FAILURES = 3
"""Number of failures after which all work on a file is refused. A part counts once, the whole file twice."""

LAPSE = 600.0
"""Seconds after which a file is tried again that exceeded its processor time while the computer was busy."""

VERSION = 3
"""Increase this when parsers become cheaper, so that refused files are tried again."""

_PART = "part:"
_CHEAP = frozenset({"measure", "probe", "facts", "is_upright", "picture"})
_OF_PARTS = frozenset({"extract", "chapters", "html", "cut_pages", "still"})
_NEW_EACH_TIME = frozenset({"target", "folder", "source"})


@frozen
class Work:
    """The work of a request. All requests that read a whole file count as the same work; each part is separate work."""

    kind: str
    part: str = ""

    @classmethod
    def of(cls, what: str, arguments: Mapping[str, Any]) -> Work:
        """Return the work of a request to `WorkerPool.ask`."""
        if what in _OF_PARTS:
            asked = {name: value for name, value in arguments.items() if name not in _NEW_EACH_TIME}
            return cls(_PART, json.dumps([what, asked], sort_keys=True, default=str))
        return cls("look" if what in _CHEAP else "read")

    @property
    def key(self) -> str:
        """Return the work as a short text."""
        return (
            _PART + hashlib.sha256(self.part.encode("utf-8", "surrogatepass")).hexdigest() if self.part else self.kind
        )


@frozen
class _Refusal:
    """`until` is the time at which the refusal lapses, in seconds of the epoch; None if it does not."""

    budget: Budget
    reason: str
    until: float | None = None

    def holds(self, wanted: Budget, now: float) -> bool:
        """Whether a request with the budget `wanted` would fail, too. The clock may have been set back."""
        is_current = self.until is None or now < self.until <= now + LAPSE
        return is_current and wanted.seconds <= self.budget.seconds and wanted.memory <= self.budget.memory

    def clause(self, now: float) -> str:
        """Return the reason, and when the file is tried again."""
        if self.until is None:
            return f"{self.reason}; to try again, run: citekit ingest --force"
        minutes = max(1, math.ceil((self.until - now) / 60))
        return (
            f"{self.reason}, but the computer was busy or slow, so CiteKit can try again in {minutes} "
            "min; to try now, run: citekit ingest --force"
        )


@define
class _Record:
    """The refusals of a file by work, and whether the index contains them."""

    refusals: dict[str, _Refusal] = field(factory=dict)
    is_stored: bool = False


@define
class Refusals:
    """Files that exceeded their budget or crashed a worker, by file state.

    An edited file, or a larger budget, is tried again. A refusal on a busy computer lapses after `LAPSE` seconds.

    Refusals are stored in memory and in `index`. Rows count only with a valid code of the home's seal, so that nobody
    can forge a refusal. A refusal whose row another process has removed no longer counts. Thread-safe.
    """

    index: Index | None = None
    now: Callable[[], float] = time.time
    _known: OrderedDict[FileState, _Record] = field(factory=OrderedDict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def reason(self, state: FileState, work: Work, budget: Budget) -> str | None:
        """Return why the same work failed before with at least this budget, and when it is tried again, as a clause.

        Returns None if it should be tried now.

        After `FAILURES` failures, all work on the file is refused.
        """
        now = self.now()
        with self._lock:
            record = self._of(state)
            known = {key: each for key, each in record.refusals.items() if each.holds(budget, now)}
        failures = sum(1 if key.startswith(_PART) else 2 for key in known)
        found = known.get(work.key) or (next(iter(known.values())) if failures >= FAILURES else None)
        if found is None or self._was_withdrawn(state, record):
            return None
        return found.clause(now)

    def add(self, state: FileState, work: Work, budget: Budget, reason: str, *, was_busy: bool = False) -> None:
        """Record that `work` exceeded `budget`; `reason` is a clause in the past tense.

        If the computer `was_busy`, the refusal lapses after `LAPSE` seconds.
        """
        until = self.now() + LAPSE if was_busy else None
        with self._lock:
            record = self._of(state)
            record.refusals[work.key] = _Refusal(budget, reason, until)
            rows = {
                key: [each.budget.seconds, each.budget.memory, each.reason, each.until]
                for key, each in record.refusals.items()
            }
        if self.index is not None:
            record.is_stored = self.index.put(_row(state), rows)

    def forget(self, path: str | os.PathLike[str]) -> None:
        """Remove all refusals of that file, so that it is tried again."""
        try:
            state = FileState.of(os.stat(path))  # noqa: PTH116 - the path as it is
        except OSError:
            return
        with self._lock:
            had = self._of(state).refusals
            self._known[state] = _Record()
        if had and self.index is not None:
            self.index.forget(_row(state))

    def _was_withdrawn(self, state: FileState, record: _Record) -> bool:
        """Return whether another process removed the refusals of the file (`citekit ingest --force`)."""
        if not record.is_stored or self.index is None or self.index.get(_row(state)) is not None:
            return False
        with self._lock:
            self._known[state] = _Record()
        return True

    def _of(self, state: FileState) -> _Record:
        """Return the refusals of a file. The index is read once for each file."""
        if state not in self._known:
            stored = None if self.index is None else self.index.get(_row(state))
            refusals = {key: each for key, value in (stored or {}).items() if (each := _refusal(value))}
            self._known[state] = _Record(refusals, stored is not None)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return self._known[state]


def _row(state: FileState) -> str:
    return f"refused:{VERSION}:{state}"


def _refusal(stored: object) -> _Refusal | None:
    match stored:
        case [int() | float() as seconds, int(memory), str(reason), None | int() | float() as until]:
            return _Refusal(Budget(float(seconds), memory), reason, until)
    return None
