"""Remembers files that exceeded their budget or crashed a worker, so that the same work is not attempted again.

On a busy computer, the same work takes up to twice the processor time. Therefore, a refusal that was recorded on a busy
computer expires after some minutes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shlex
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
"""Maximum number of files remembered in memory. Those added first are removed first."""

FAILURES = 3
"""Number of failures after which all work on a file is refused.

A failure of work on a part of the file counts as one, and any other as two.
"""

LAPSE = 600.0
"""Seconds after which a file that exceeded its processor time while the computer was busy is tried again."""

VERSION = 3
"""Increase this when parsers become cheaper, so that refused files are tried again."""

_PART = "part:"
_CHEAP = frozenset({"measure", "probe", "facts", "is_upright", "picture"})
_OF_PARTS = frozenset({"extract", "chapters", "html", "document", "cut_pages", "still"})
_NEW_EACH_TIME = frozenset({"target", "folder", "source"})


@frozen
class Work:
    """A category of requests about a file that fail together.

    Requests that read the whole file are one category, cheap requests are another, and each part of a file has its own.
    """

    kind: str
    part: str = ""

    @classmethod
    def of(cls, what: str, arguments: Mapping[str, Any]) -> Work:
        """Return the work that a request to `WorkerPool.ask` belongs to."""
        if what in _OF_PARTS:
            asked = {name: value for name, value in arguments.items() if name not in _NEW_EACH_TIME}
            return cls(_PART, json.dumps([what, asked], sort_keys=True, default=str))
        return cls("look" if what in _CHEAP else "read")

    @property
    def key(self) -> str:
        """A short text that identifies the work."""
        return (
            _PART + hashlib.sha256(self.part.encode("utf-8", "surrogatepass")).hexdigest() if self.part else self.kind
        )


@frozen
class _Refusal:
    """The record that work on a file exceeded `budget`, or crashed a worker that had this budget.

    `reason` is a clause that says what happened. `until` is when the record expires, in seconds since 1970; None means
    never.
    """

    budget: Budget
    reason: str
    until: float | None = None

    def holds(self, wanted: Budget, now: float) -> bool:
        """Return whether the refusal applies to a request with the budget `wanted` at the time `now`.

        It does not apply if it has expired, if the budget is larger, or if the clock was set back.
        """
        is_current = self.until is None or now < self.until <= now + LAPSE
        return is_current and wanted.seconds <= self.budget.seconds and wanted.memory <= self.budget.memory

    def clause(self, now: float, path: str, home_option: str) -> str:
        """Return the reason, and how and when the file at `path` is tried again, as a clause for an error message."""
        again = f"run citekit ingest --force {shlex.quote(path)}{home_option}"
        if self.until is None:
            return f"{self.reason}; to try again, {again}"
        minutes = max(1, math.ceil((self.until - now) / 60))
        return (
            f"{self.reason}, but the computer was busy or slow, so CiteKit can try again in {minutes} "
            f"min; to try now, {again}"
        )


@define
class _Record:
    """The refusals of a file by the key of the work, and whether they are stored in the index on disk."""

    refusals: dict[str, _Refusal] = field(factory=dict)
    is_stored: bool = False


@define
class Refusals:
    """Records which files exceeded their budget or crashed a worker. Several threads can use it.

    A file is tried again after it is edited, if its budget is larger, after its refusal has expired, after `forget`, or
    after another process removes its row from `index`, in which refusals are stored (None: in memory only). Stored rows
    need a valid authentication code of this CiteKit home, so that nobody can forge a refusal.
    `home_option` is the option `--home` of the command in messages, with a space before it, or "".
    """

    index: Index | None = None
    now: Callable[[], float] = time.time
    home_option: str = ""
    _known: OrderedDict[FileState, _Record] = field(factory=OrderedDict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def reason(self, state: FileState, work: Work, budget: Budget, path: str = "FILE") -> str | None:
        """Return why the work is refused and how it is tried again, as a clause; None if it should be tried now.

        `path` is the path of the file for the message.

        Work is refused if it failed before with at least this budget, or if the file has `FAILURES` failures.
        """
        now = self.now()
        with self._lock:
            record = self._of(state)
            known = {key: each for key, each in record.refusals.items() if each.holds(budget, now)}
        failures = sum(1 if key.startswith(_PART) else 2 for key in known)
        found = known.get(work.key) or (next(iter(known.values())) if failures >= FAILURES else None)
        if found is None or self._was_withdrawn(state, record):
            return None
        return found.clause(now, path, self.home_option)

    def add(self, state: FileState, work: Work, budget: Budget, reason: str, *, was_busy: bool = False) -> None:
        """Record that `work` on a file exceeded `budget` or crashed a worker. `reason` is a clause in the past tense.

        If the computer `was_busy`, the record expires after `LAPSE` seconds.
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
        """Remove the refusals of the file at `path`, so that it is tried again."""
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
        """Return whether another process, such as `citekit ingest --force`, removed the stored refusals of a file.

        If so, remove them from memory, too.
        """
        if not record.is_stored or self.index is None or self.index.get(_row(state)) is not None:
            return False
        with self._lock:
            self._known[state] = _Record()
        return True

    def _of(self, state: FileState) -> _Record:
        """Return the refusals of a file. They are read from the index on first use."""
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
