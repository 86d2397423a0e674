"""Runs use cases in threads, so that the server stays responsive and calls can be canceled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

import anyio
from anyio import from_thread, to_thread
from attrs import define, field

from citekit.domain.errors import Cancelled
from citekit.domain.progress import Progress

REPORT_EVERY = 0.1
"""The minimum interval in seconds between progress notifications."""

LEAST_STEP = 1e-3
"""The increment of the progress when only the message changes."""

Report = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]
"""Sends one progress notification: done, total, message."""

_Result = TypeVar("_Result")


@define
class Workers:
    """Two groups of threads: for quick lookups, and for long extractions.

    Threads for extractions mostly wait for a parser process. There are more of them than parser processes, so that a
    few slow files do not delay the others.
    """

    at_once: int = 8
    cutting_at_once: int = 24
    busy: int = field(default=0, init=False)
    """The number of running threads, including those whose call was abandoned."""
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _quick: anyio.CapacityLimiter = field(init=False)
    _long: anyio.CapacityLimiter = field(init=False)

    @_quick.default
    def _quick_limiter(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(self.at_once)

    @_long.default
    def _long_limiter(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(self.cutting_at_once)

    async def quick(self, work: Callable[[], _Result]) -> _Result:
        """Run a quick lookup in a thread and return its result."""
        return await to_thread.run_sync(self._counted, work, limiter=self._quick, abandon_on_cancel=True)

    async def long(self, work: Callable[[Progress], _Result], report: Report | None) -> _Result:
        """Run long work in a thread, send its progress to `report`, and return its result.

        After cancellation, the work stops at its next progress update.
        """
        watch = Watch(report)
        try:
            return await to_thread.run_sync(
                self._counted, partial(work, watch), limiter=self._long, abandon_on_cancel=True
            )
        finally:
            watch.stop()

    def _counted(self, work: Callable[[], _Result]) -> _Result:
        with self._lock:
            self.busy += 1
        try:
            return work()
        finally:
            with self._lock:
                self.busy -= 1


@define
class Watch:
    """The progress callback of a worker thread.

    It forwards progress to `report` at a limited rate, and raises `Cancelled` after `stop`. Progress in MCP
    notifications must increase, so the progress of each stage is added to that of the previous stages.
    """

    report: Report | None
    _stopped: threading.Event = field(factory=threading.Event, init=False)
    _before: float = field(default=0.0, init=False)
    _last: float = field(default=0.0, init=False)
    _sent: float = field(default=-1.0, init=False)
    _due: float = field(default=0.0, init=False)
    _message: str = field(default="", init=False)

    def stop(self) -> None:
        """Record that the work is canceled or done, so that it stops at its next progress update."""
        self._stopped.set()

    def __call__(self, done: float, total: float | None = None, message: str = "") -> None:
        """Report progress (see `Progress`). Raise `Cancelled` if the work was stopped."""
        if self._stopped.is_set():
            raise Cancelled("The call was canceled. Unfinished work was not stored.")
        if self.report is None:
            return
        if done < self._last:
            self._before += self._last
        self._last = done
        now = time.monotonic()
        finished = total is not None and done >= total
        if message and message != self._message and self._before + done <= self._sent:
            self._before = self._sent + LEAST_STEP - done
        if self._before + done > self._sent and (now >= self._due or finished):
            self._sent, self._due, self._message = self._before + done, now + REPORT_EVERY, message
            self._send(self.report, None if total is None else self._before + total, message or None)

    def _send(self, report: Report, total: float | None, message: str | None) -> None:
        try:
            from_thread.run(report, self._sent, total, message)
        except (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError) as gone:
            raise Cancelled("The client disconnected. Unfinished work was not stored.") from gone
