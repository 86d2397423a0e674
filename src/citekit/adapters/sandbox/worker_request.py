"""Sends one request to a worker, waits for the answer, and checks the limits beyond which the worker must be killed."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic, thread_time
from typing import Any

from attrs import define, field, frozen

from citekit.adapters.sandbox.budget import MEGABYTE, Allowance, Budget
from citekit.adapters.sandbox.lanes import Lanes, Turn
from citekit.adapters.sandbox.worker import FILE_MEMORY
from citekit.adapters.system.child_process import ChildProcess
from citekit.domain.errors import FaultyAnswer
from citekit.domain.progress import Progress
from citekit.wire.errors import CAUSE_LIMIT
from citekit.wire.worker_protocol import message_from

LOOK = 0.1
"""Interval between two calls of `progress`, which may cancel the request, in seconds."""

WAITING = 10
"""Ratio of the limit of the quick lane for elapsed time to its limit for processor time. On a busy machine, requests
have to wait for a processor.
"""

DISPLACED = 2
"""A request may run for this many times `slow_after` before it must give way to others."""

IN_A_CROWD = 5
"""While another request waits for the quick lane, `slow_after` is divided by this number."""

BUSY = 1.25
"""A request that takes this many times its processor time had to wait for a processor."""

BUSY_LOAD = 0.75
"""Load average of the last minute, for each processor, above which the computer counts as busy."""

SAMPLE = 100_000
"""The number of additions that are timed to measure the speed of a processor."""

SAMPLE_SECONDS = 0.0015
"""Processor time in seconds that these additions take on a processor of 3 GHz that does nothing else."""

SLOW = 1.5
"""If the sample takes more than this many times `SAMPLE_SECONDS`, the computer counts as slow."""

TIME = "time"
"""The name of the limit on processor time in `SpentError`. The names of the memory limits are in `worker`."""

NONSENSE = "the worker process returned an invalid answer"


class DiedError(Exception):
    """A worker could not be started, died on a file, stopped answering, or sent an invalid message.

    The message is a clause that says so.
    """


class CrashedError(DiedError):
    """A worker crashed on a file. A second attempt would probably crash, too."""


class SpentError(Exception):
    """A request exceeded the limit `what` of its budget: `TIME`, `FILE_MEMORY`, or `CHILD_MEMORY`.

    If the computer `was_busy`, the same work may take less time later.
    """

    def __init__(self, what: object, *, was_busy: bool = False) -> None:
        self.what = what
        self.was_busy = was_busy
        super().__init__(what)


class DisplacedError(Exception):
    """A slow request must stop and start again later, because the slow lane is full and quick requests wait."""


@frozen
class Request:
    """A message to a worker about the file `path`, and its limits: the `budget`, and `patience`, the seconds without
    progress.

    After `slow_after` seconds of processor time, the request counts as slow.
    """

    path: str
    message: bytes
    budget: Budget | None
    patience: float
    progress: Progress
    slow_after: float

    @property
    def memory(self) -> int:
        """The memory limit of the request in bytes; 0 if there is no budget."""
        return 0 if self.budget is None else self.budget.memory


def is_busy(elapsed: float, used: float) -> bool:
    """Return whether the computer was busy during a request that took `elapsed` seconds, `used` of them on a processor.

    It counts as busy if the request had to wait, if the load average of the last minute is more than `BUSY_LOAD` per
    processor, or if a processor is now much slower than usual.
    """
    if elapsed > BUSY * used:
        return True
    with suppress(OSError, AttributeError):
        if os.getloadavg()[0] > BUSY_LOAD * (os.cpu_count() or 1):
            return True
    return _sample_seconds() > SLOW * SAMPLE_SECONDS


def _sample_seconds() -> float:
    """Return the processor time in seconds of a fixed computation, the shortest of three measurements."""
    found = math.inf
    for _ in range(3):
        begun = thread_time()
        sum(range(SAMPLE))
        found = min(found, thread_time() - begun)
    return found


def spent(what: object, budget: Budget | None, allowance: Allowance | None = None) -> str:
    """Return a clause that says which limit a request exceeded and which setting raises it.

    `allowance` computed the `budget`.
    """
    if budget is not None and what == TIME:
        return f"it took more than {budget.seconds:g} s of processor time (to allow more, increase CITEKIT_PARSER_CPU)"
    if budget is not None and what == FILE_MEMORY:
        allowed = budget.memory // MEGABYTE
        is_capped = allowance is not None and budget.memory >= allowance.most
        setting = (
            "CITEKIT_PARSER_MEMORY or, on a cluster, the memory limit of its workers"
            if is_capped
            else "CITEKIT_PARSER_FILE_MEMORY"
        )
        return f"it took more than {allowed} MB of memory (to allow more, increase {setting})"
    return (
        "it took more memory than is allowed (to allow more, increase CITEKIT_PARSER_MEMORY or, on a cluster, the memory "
        "limit of its workers)"
    )


@define
class Conversation:
    """The exchange with the worker `child` about `request`. `turn` is the request's permission from `lanes` to run."""

    child: ChildProcess
    request: Request
    lanes: Lanes
    turn: Turn
    _begun: float = field(factory=monotonic, init=False)
    _heard: float = field(factory=monotonic, init=False)
    _used_before: float = field(init=False)
    _allowed: float = field(init=False)
    _shown: tuple[float, float | None, str] = field(default=(0.0, None, ""), init=False)

    @_used_before.default
    def _used_so_far(self) -> float:
        return self.child.processor_time() or 0.0

    @_allowed.default
    def _seconds(self) -> float:
        return math.inf if self.request.budget is None else self.request.budget.seconds

    def answer(self) -> Mapping[str, Any]:
        """Send the request and return the answer.

        Raise `SpentError` if the request exceeds its budget, `DiedError` if the worker stops answering or sends an
        invalid message, `DisplacedError` if the request must wait, `ChildProcessEndedError` if the worker ends, and the
        errors of `progress`.
        """
        self.child.send(self.request.message)
        while True:
            received = self.child.receive(LOOK)
            if received is not None:
                self._heard = monotonic()
                said = understood(received)
                if "progress" in said:
                    self._shown = _progress(said["progress"])
                elif "picture" in said:
                    self._allowed += 0.0 if self.request.budget is None else self.request.budget.picture
                else:
                    return said
            self._check_limits()
            self.request.progress(*self._shown)

    @property
    def was_busy(self) -> bool:
        """Whether the computer was busy, for a request that has used up its processor time."""
        return is_busy(monotonic() - self._begun, self._allowed)

    def _check_limits(self) -> None:
        now = monotonic()
        if now - self._heard > self.request.patience:
            raise DiedError(
                f"no progress was made for {self.request.patience:g} s (to wait longer, increase CITEKIT_PARSER_TIMEOUT)"
            )
        used = (self.child.processor_time() or 0.0) - self._used_before
        if used > self._allowed:
            raise SpentError(TIME, was_busy=self.was_busy)
        self.turn.is_expensive |= used > self.request.slow_after
        taken = max(used, (now - self._begun) / WAITING) / self.request.slow_after
        self.turn.took_long |= taken > (1 / IN_A_CROWD if self.lanes.is_waited_for else 1)
        if self.turn.took_long or self.turn.is_slow:
            self._slow_down(makes_room=taken > DISPLACED)

    def _slow_down(self, *, makes_room: bool) -> None:
        if not self.lanes.slow_down(self.turn) and makes_room:
            raise DisplacedError
        if self.turn.is_slow and self.lanes.is_crowded:
            self.child.lower_priority()


def understood(answer: bytes) -> dict[str, Any]:
    """Parse a message from a worker. Raise `DiedError` if it is not valid."""
    try:
        return message_from(answer)
    except FaultyAnswer as error:
        raise DiedError(NONSENSE) from error


def _progress(said: Any) -> tuple[float, float | None, str]:
    """Parse a progress report (done, total, text) from a worker. Raise `DiedError` if it is not valid."""
    try:
        done, total, text = said
        shown = (float(done), None if total is None else float(total), str(text)[:CAUSE_LIMIT])
    except (TypeError, ValueError, OverflowError) as error:
        raise DiedError(NONSENSE) from error
    if not math.isfinite(shown[0]) or not (shown[1] is None or math.isfinite(shown[1])):
        raise DiedError(NONSENSE)
    return shown
