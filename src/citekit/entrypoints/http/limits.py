"""Limits the requests of each subject, in each worker process."""

from __future__ import annotations

import time
from collections.abc import Callable

from attrs import define, field


@define
class Budget:
    """A token bucket: `rate` requests per minute, which may arrive at once."""

    rate: float
    clock: Callable[[], float] = time.monotonic
    _left: float = field(init=False)
    _at: float = field(init=False)

    @_left.default
    def _full(self) -> float:
        return self.rate

    @_at.default
    def _start(self) -> float:
        return self.clock()

    def take(self) -> float:
        """Count a request and return 0, or return the seconds until one is available."""
        now = self.clock()
        self._left = min(self.rate, self._left + (now - self._at) * self.rate / 60)
        self._at = now
        if self._left < 1:
            return (1 - self._left) * 60 / self.rate
        self._left -= 1
        return 0.0


@define
class Limits:
    """The budgets and the numbers of running requests, by subject.

    `rate` is the maximum number of requests per minute, and `concurrent` the maximum number at the same time.
    """

    rate: float
    concurrent: int
    _budgets: dict[str, Budget] = field(factory=dict, init=False)
    _running: dict[str, int] = field(factory=dict, init=False)

    def enter(self, name: str) -> float:
        """Begin a request of a subject and return 0, or return the seconds after which to try again."""
        wait = self._budgets.setdefault(name, Budget(self.rate)).take()
        if wait == 0 and self._running.get(name, 0) >= self.concurrent:
            wait = 1.0
        if wait == 0:
            self._running[name] = self._running.get(name, 0) + 1
        return wait

    def leave(self, name: str) -> None:
        """End a request of a subject."""
        self._running[name] -= 1
        if not self._running[name]:
            del self._running[name]
