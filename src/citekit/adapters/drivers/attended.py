"""Waits for slow calls in such a way that whoever asked can give up meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import TypeVar

HEARTBEAT = 0.25
"""Seconds between two looks at whether the caller still wants the answer."""

T = TypeVar("T")


def attended(call: Callable[[], T], heartbeat: Callable[[], None]) -> T:
    """What `call` returns or raises; it runs in a thread of its own while `heartbeat` is called in this one.

    Where `heartbeat` raises (such as `Cancelled`), or Ctrl-C is pressed, that error goes through at once. The call is then
    left to itself: its thread ends with it, and does not keep the program from ending.
    """
    outcome: Future[T] = Future()
    threading.Thread(target=_settle, args=(outcome, call), daemon=True).start()
    while True:
        try:
            return outcome.result(HEARTBEAT)
        except NotYet:
            if outcome.done():  # the call's own error, not ours about waiting
                return outcome.result()
            heartbeat()


def _settle(outcome: Future[T], call: Callable[[], T]) -> None:
    try:
        outcome.set_result(call())
    except BaseException as error:  # carried to the thread that waits
        outcome.set_exception(error)
