"""Retries requests to a service after transient failures, with exponential backoff and jitter, or after the delay in
`Retry-After`.

The caller's progress callback is called periodically, so that it can cancel.
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
"""The longest pause in seconds. If a service asks for more, the request is not retried."""

TIMEOUT_RETRIES = 1
"""The number of times that a request is retried after a timeout."""

TIMED_OUT = frozenset({408, 504})
"""HTTP statuses that report a timeout."""

T = TypeVar("T")


@frozen
class Verdict:
    """The meaning of an exception: the CiteKit error, whether a retry may help, and the delay in seconds, if any.

    `timed_out` marks a timeout, which is retried at most once, because each attempt may be billed.
    """

    error: CiteKitError
    transient: bool
    retry_after: float | None = None
    timed_out: bool = False


@frozen(kw_only=True)
class Retries:
    """Up to `count` retries, with pauses of about `base` seconds, doubled each time."""

    count: int = 4
    base: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = field(default=random.random)

    def pause(self, attempt: int, asked_for: float | None) -> float | None:
        """Return the pause in seconds before retry `attempt` (from 1), or None after `count` retries or if the service
        asks for a pause (`asked_for`) of more than `PAUSE_LIMIT` seconds.
        """
        if attempt > self.count or (asked_for is not None and asked_for > PAUSE_LIMIT):
            return None
        if asked_for is not None:
            return asked_for
        growing: float = min(PAUSE_LIMIT, self.base * 2 ** (attempt - 1))
        return growing * (0.5 + self.jitter() / 2)


def asked(
    call: Callable[[], T], explain: Callable[[Exception], Verdict | None], retries: Retries, progress: Progress
) -> T:
    """Return the result of `call` as `tried` does.

    If `progress` raises an exception, such as `Cancelled`, the request is abandoned.
    """
    waiting = partial(progress, 0, None, "waiting for the service")
    return tried(lambda: attended(call, waiting), explain, retries, progress)


def tried(
    call: Callable[[], T], explain: Callable[[Exception], Verdict | None], retries: Retries, progress: Progress
) -> T:
    """Return the result of `call`, retried according to `retries`.

    `explain` returns the verdict on an exception of `call`. Raise the error of the last verdict, or the exception
    itself if `explain` returns None.
    """
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
