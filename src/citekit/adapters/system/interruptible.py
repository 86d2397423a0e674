"""Waits for slow calls so that the caller can cancel."""

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


def uninterrupted(call: Callable[[], object]) -> None:
    """Run `call`, which raises nothing and ends soon, to its end, however often Ctrl-C is pressed; then raise that."""
    ended = threading.Event()
    threading.Thread(target=_signal, args=(call, ended), daemon=True).start()
    pressed: KeyboardInterrupt | None = None
    while not ended.is_set():
        try:
            ended.wait(HEARTBEAT)
        except KeyboardInterrupt as error:
            pressed = error
    if pressed is not None:
        raise pressed


def _signal(call: Callable[[], object], ended: threading.Event) -> None:
    try:
        call()
    finally:
        ended.set()


def _settle(outcome: Future[T], call: Callable[[], T]) -> None:
    try:
        outcome.set_result(call())
    except BaseException as error:  # carried to the thread that waits
        outcome.set_exception(error)
