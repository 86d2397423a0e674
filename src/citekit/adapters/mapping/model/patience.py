"""Asking again where that helps, and only there.

Transient failures (HTTP 408, 429, 500, 502, 503, 504, a lost connection, a time-out) are tried again after a growing,
jittered pause, or after what `Retry-After` says; all others are final. A budget bounds the requests of one map.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from attrs import define, field, frozen

from citekit.adapters.drivers.asking_again import Retries
from citekit.adapters.drivers.attended import attended
from citekit.domain.errors import MapperUnavailable
from citekit.domain.progress import Progress

T = TypeVar("T")


@frozen
class Failure:
    """What became of a request: our error for it, whether asking again may help, and how long to wait before."""

    error: MapperUnavailable
    transient: bool
    retry_after: float | None = None


@frozen(kw_only=True)
class Patience:
    """`retries` more tries after the first; pauses of about `base`, twice that, four times that, ... seconds."""

    retries: int = 3
    base: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = field(default=random.random)

    def pause(self, attempt: int, asked_for: float | None) -> float | None:
        """Seconds before try `attempt` (from 1); None where there is no further try."""
        return Retries(count=self.retries, base=self.base, jitter=self.jitter).pause(attempt, asked_for)


@define
class Budget:
    """At most `limit` requests (None: no bound), counted over all threads."""

    limit: int | None = None
    spent: int = 0
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def spend(self) -> None:
        """Count a request. Raises `MapperUnavailable` where none is left."""
        with self._lock:
            if self.limit is not None and self.spent >= self.limit:
                raise MapperUnavailable(
                    f"The budget of {self.limit} requests is used up before the map was finished: "
                    "allow more (--max-requests), or map a smaller file."
                )
            self.spent += 1


def patiently(
    call: Callable[[], T], explain: Callable[[Exception], Failure | None], patience: Patience, progress: Progress
) -> T:
    """What `call` returns, tried again as `patience` says.

    `explain` tells of an exception what it means; None lets it through as it is. Raises the error of the last failure.
    """
    attempt = 0
    while True:
        try:
            return call()
        except Exception as error:
            failure = explain(error)
            if failure is None:
                raise
            attempt += 1
            pause = patience.pause(attempt, failure.retry_after) if failure.transient else None
            if pause is None:
                raise failure.error from error
            waiting = f"waiting {pause:.0f} s: {failure.error}"
            progress(0, None, waiting)
            attended(partial(patience.sleep, pause), partial(progress, 0, None, waiting))
