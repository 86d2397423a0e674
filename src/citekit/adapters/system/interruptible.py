"""Runs slow calls so that the caller can cancel the wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import TypeVar

HEARTBEAT = 0.25
"""Interval between two checks for cancellation, in seconds."""

T = TypeVar("T")


def attended(call: Callable[[], T], heartbeat: Callable[[], None]) -> T:
    """Return the result of `call`, which runs in its own thread while `heartbeat` is called in this one.

    If `heartbeat` raises an exception, such as `Cancelled`, or Ctrl-C is pressed, the call is abandoned.
    """
    outcome: Future[T] = Future()
    threading.Thread(target=_settle, args=(outcome, call), daemon=True).start()
    while True:
        try:
            return outcome.result(HEARTBEAT)
        except NotYet:
            if outcome.done():  # the error of the call itself, without the context of the wait
                return outcome.result()
            heartbeat()


def uninterrupted(call: Callable[[], object]) -> None:
    """Run `call`, which is short and does not raise, to completion despite Ctrl-C.

    If Ctrl-C was pressed, then raise `KeyboardInterrupt`.
    """
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
    except BaseException as error:  # passed to the waiting thread
        outcome.set_exception(error)
