"""Schedules requests to workers in two lanes (queues), so that long requests do not delay short ones."""

from __future__ import annotations

import os
import threading

from attrs import define, field


@define(eq=False)
class Turn:
    """Permission for a request to use one worker. `memory` is the memory limit of the request in bytes.

    `is_slow` is whether the request is in the slow lane. `took_long` is whether it exceeded the time limit of the quick
    lane, as any request may on a busy computer. `is_expensive` is whether it used much processor time.
    """

    memory: int
    is_slow: bool = False
    took_long: bool = field(default=False, init=False)
    is_expensive: bool = field(default=False, init=False)


@define(eq=False)
class Lanes:
    """The quick lane and the slow lane for requests to workers. Several threads can use it.

    `quick` and `slow` are the maximum numbers of running requests; without a slow lane (0), long requests stay in the
    quick lane. All requests together may use `memory` bytes, of which `reserve` bytes are only for the quick lane. A
    single request, or the only one in the slow lane, may use more.
    """

    quick: int
    slow: int
    memory: float
    reserve: float = 0
    _turns: list[Turn] = field(factory=list, init=False)
    _waiting: int = field(default=0, init=False)
    _change: threading.Condition = field(factory=threading.Condition, init=False, repr=False)

    def enter(self, memory: int, timeout: float, *, is_slow: bool = False) -> Turn | None:
        """Wait for permission to run a request and return it, or None if it is not granted within `timeout` seconds.

        `memory` is the memory limit of the request in bytes.
        """
        turn = Turn(memory, is_slow)
        with self._change:
            if not self._has_room(turn) and not self._waited(turn, timeout):
                return None
            self._turns.append(turn)
        return turn

    def slow_down(self, turn: Turn) -> bool:
        """Move the request of `turn` to the slow lane, if there is one that has room.

        Return False if it has no room while other requests wait for the quick lane: the request must then stop and
        wait.
        """
        with self._change:
            if turn.is_slow or not self.slow:
                return True
            slow = Turn(turn.memory, is_slow=True)
            if not self._has_room(slow):
                return not self._waiting
            turn.is_slow = True
            self._change.notify_all()
        return True

    def leave(self, turn: Turn) -> None:
        """Release the permission `turn`."""
        with self._change:
            self._turns.remove(turn)
            self._change.notify_all()

    @property
    def taken(self) -> int:
        """The number of requests that are running."""
        return len(self._turns)

    @property
    def is_waited_for(self) -> bool:
        """Whether a request is waiting for the quick lane."""
        return self._waiting > 0

    @property
    def is_crowded(self) -> bool:
        """Whether more requests are running than there are processors."""
        return len(self._turns) > _processors()

    def _waited(self, turn: Turn, timeout: float) -> bool:
        self._waiting += not turn.is_slow
        try:
            return self._change.wait_for(lambda: self._has_room(turn), timeout)
        finally:
            self._waiting -= not turn.is_slow

    def _has_room(self, turn: Turn) -> bool:
        lane = [each for each in self._turns if each.is_slow == turn.is_slow]
        if len(lane) >= (self.slow if turn.is_slow else self.quick):
            return False
        others = lane if turn.is_slow else self._turns
        most = self.memory - self.reserve if turn.is_slow else self.memory
        return not others or sum(each.memory for each in others) + turn.memory <= most


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1
