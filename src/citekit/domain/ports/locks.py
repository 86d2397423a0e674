"""Defines the port for locks between threads and processes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol

from citekit.domain.progress import Progress, silent


def wait_silently() -> None:
    """Do nothing, the default while waiting for a lock."""


def report_waiting(progress: Progress, message: str) -> Callable[[], object]:
    """Return a callback that reports `message` to `progress` during a wait; `wait_silently` if that is `silent`."""
    return wait_silently if progress is silent else partial(progress, 0.0, None, message)


class Locks(Protocol):
    """Named locks, which are released even if the process that holds them ends.

    Different names may share a lock.
    """

    def holding(self, name: str, waiting: Callable[[], object] = wait_silently) -> AbstractContextManager[None]:
        """Wait for the lock `name` and hold it during a `with` block.

        `waiting` is called repeatedly during the wait; if it raises an exception (`Cancelled`), the wait ends. With the
        default callback, a long wait is logged as a warning. If the home folder cannot be written, the block runs
        without a lock. Raise `HomeUnsafe` if the lock file is a link.
        """
