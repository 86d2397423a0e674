"""Asks a service again where that helps, and only there.

Transient failures (HTTP 408, 429, 500, 502, 503, 504, a lost connection, a time-out) are tried again after a growing,
jittered pause, or after what `Retry-After` says; all others are final. The caller's progress is called now and then, so that
it can give up.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from attrs import field, frozen

from citekit.adapters.system.interruptible import attended
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress

TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
"""HTTP statuses after which the same request may succeed."""

PAUSE_LIMIT = 60.0
"""Seconds of the longest pause; a service that asks for more is not waited for."""

TIMEOUT_RETRIES = 1
"""How often a request is retried that was not answered in time."""

TIMED_OUT = frozenset({408, 504})
"""HTTP statuses that say so."""

T = TypeVar("T")


@frozen
class Verdict:
    """What an exception means: our error, whether a retry may help, and how many seconds to wait before.

    `timed_out`: nobody answered in time. That is retried once at most, as each try may be paid for and take as long.
    """

    error: CiteKitError
    transient: bool
    retry_after: float | None = None
    timed_out: bool = False


@frozen(kw_only=True)
class Retries:
    """`count` more tries after the first; pauses of about `base` seconds, twice that, four times that, ..."""

    count: int = 4
    base: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = field(default=random.random)

    def pause(self, attempt: int, asked_for: float | None) -> float | None:
        """Seconds before try `attempt` (from 1); None where there is no further try."""
        if attempt > self.count or (asked_for is not None and asked_for > PAUSE_LIMIT):
            return None
        if asked_for is not None:
            return asked_for
        growing: float = min(PAUSE_LIMIT, self.base * 2 ** (attempt - 1))
        return growing * (0.5 + self.jitter() / 2)


def asked(
    call: Callable[[], T], explain: Callable[[Exception], Verdict | None], retries: Retries, progress: Progress
) -> T:
    """As `tried`, of a call that takes no notice of the caller.

    What `progress` raises (`Cancelled`) goes through at once; the request is then left to itself.
    """
    waiting = partial(progress, 0, None, "waiting for the service")
    return tried(lambda: attended(call, waiting), explain, retries, progress)


def tried(
    call: Callable[[], T], explain: Callable[[Exception], Verdict | None], retries: Retries, progress: Progress
) -> T:
    """What `call` returns, tried again as `retries` says. Raises the last verdict's error; what has none goes through."""
    attempt = timeouts = 0
    while True:
        try:
            return call()
        except Exception as error:
            verdict = explain(error)
            if verdict is None:
                raise
            attempt += 1
            timeouts += verdict.timed_out
            again = verdict.transient and timeouts <= TIMEOUT_RETRIES
            pause = retries.pause(attempt, verdict.retry_after) if again else None
            if pause is None:
                raise verdict.error from error
            waiting = partial(progress, 0, None, f"waiting {pause:.0f} s: {verdict.error}")
            waiting()
            attended(partial(retries.sleep, pause), waiting)
