"""The port for locks between threads and processes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol

from citekit.domain.progress import Progress, silent


def wait_silently() -> None:
    """Do nothing while waiting for a lock."""


def report_waiting(progress: Progress, message: str) -> Callable[[], object]:
    """Return a callback that reports waiting to `progress`; it does nothing if `progress` is `silent`."""
    return wait_silently if progress is silent else partial(progress, 0.0, None, message)


class Locks(Protocol):
    """Named locks that are released when their holder ends. Names may share a lock, so that the number of locks is
    bounded.
    """

    def holding(self, name: str, waiting: Callable[[], object] = wait_silently) -> AbstractContextManager[None]:
        """Wait for the lock `name`, and hold it. If the home cannot be written, nothing is locked and nothing is
        raised.

        `waiting` is called repeatedly during the wait, and an exception from it (`Cancelled`) ends the wait. Without
        it, a long wait is logged as a warning.
        """
