"""Makes callers in all threads and processes take turns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol

from citekit.domain.progress import Progress, silent


def patiently() -> None:
    """Nothing is done while a lock is waited for."""


def while_waiting(progress: Progress, message: str) -> Callable[[], object]:
    """What tells `progress` that the work waits; nothing where nobody watches it."""
    return patiently if progress is silent else partial(progress, 0.0, None, message)


class Locks(Protocol):
    """A lock dies with its holder. Different names may share a lock, so that their number is bounded."""

    def holding(self, name: str, waiting: Callable[[], object] = patiently) -> AbstractContextManager[None]:
        """Waits until nobody else holds `name`. Where the home cannot be written nothing is locked, nor raised.

        `waiting` is called now and then while it waits; what that raises (`Cancelled`) ends the wait. Without it, a long
        wait is logged as a warning.
        """
