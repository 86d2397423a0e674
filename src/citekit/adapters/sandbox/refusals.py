"""The files that exceeded their budget, so that the same work is not tried again at the same cost."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.sandbox.budget import Budget
from citekit.adapters.system.file_state import FileState

REMEMBERED = 4096
"""Files that are remembered; those that were refused longest ago are forgotten first."""

FAILURES = 3
"""How much may be tried in vain on one file before nothing more is: a part counts once, all of the file twice."""

VERSION = 1
"""Changes whenever parsers become cheaper, so that refused files are tried again."""

_PART = "part:"
_CHEAP = frozenset({"measure", "probe", "facts", "is_upright", "picture"})
_OF_PARTS = frozenset({"extract", "chapters", "html", "cut_pages", "still"})
_NEW_EACH_TIME = frozenset({"target", "folder", "source"})


@frozen
class Work:
    """What was asked of a file: everything that reads all of it counts as the same work, and so does each of its parts."""

    kind: str
    part: str = ""

    @classmethod
    def of(cls, what: str, arguments: Mapping[str, Any]) -> Work:
        """The work of a request of `Children.ask`."""
        if what in _OF_PARTS:
            asked = {name: value for name, value in arguments.items() if name not in _NEW_EACH_TIME}
            return cls(_PART, json.dumps([what, asked], sort_keys=True, default=str))
        return cls("look" if what in _CHEAP else "read")

    @property
    def key(self) -> str:
        """The work as a short text."""
        return (
            _PART + hashlib.sha256(self.part.encode("utf-8", "surrogatepass")).hexdigest() if self.part else self.kind
        )


@frozen
class _Refusal:
    budget: Budget
    reason: str


@define
class _Record:
    """The refusals of a file, by the work, and whether the index has them."""

    refusals: dict[str, _Refusal] = field(factory=dict)
    is_stored: bool = False


@define
class Refusals:
    """What exceeded its budget or crashed its process, by the state of the file.

    An edited file, or a larger budget, is tried again.

    Kept in memory and in `index`, whose rows count only under the seal of the home: nobody can forge one that denies a file.
    A refusal whose row another process has removed no longer counts. Safe for threads.
    """

    index: Index | None = None
    _known: OrderedDict[FileState, _Record] = field(factory=OrderedDict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def reason(self, state: FileState, work: Work, budget: Budget) -> str | None:
        """What the same work exceeded before with at least this budget, or None if it should be tried.

        After `FAILURES` any work on the file is refused.
        """
        with self._lock:
            record = self._of(state)
            known = {key: each for key, each in record.refusals.items() if _covers(each.budget, budget)}
        failures = sum(1 if key.startswith(_PART) else 2 for key in known)
        found = known.get(work.key) or (next(iter(known.values())) if failures >= FAILURES else None)
        if found is None or self._was_withdrawn(state, record):
            return None
        return found.reason

    def add(self, state: FileState, work: Work, budget: Budget, reason: str) -> None:
        """Remember that `work` exceeded `budget`; `reason` is a clause in the past tense."""
        with self._lock:
            record = self._of(state)
            record.refusals[work.key] = _Refusal(budget, reason)
            rows = {
                key: [each.budget.seconds, each.budget.memory, each.reason] for key, each in record.refusals.items()
            }
        if self.index is not None:
            record.is_stored = self.index.put(_row(state), rows)

    def forget(self, path: str | os.PathLike[str]) -> None:
        """Try that file again, whatever it has cost."""
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
        """Whether another process had the file tried again (`citekit ingest --force`), and removed what was stored."""
        if not record.is_stored or self.index is None or self.index.get(_row(state)) is not None:
            return False
        with self._lock:
            self._known[state] = _Record()
        return True

    def _of(self, state: FileState) -> _Record:
        """What is known of a file, which is read from the index once."""
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
        case [int() | float() as seconds, int(memory), str(reason)]:
            return _Refusal(Budget(float(seconds), memory), reason)
    return None


def _covers(tried: Budget, wanted: Budget) -> bool:
    """Whether what exceeded `tried` exceeds `wanted` as well."""
    return wanted.seconds <= tried.seconds and wanted.memory <= tried.memory
