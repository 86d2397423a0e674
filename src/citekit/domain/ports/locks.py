"""Makes callers in all threads and processes take turns."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Locks(Protocol):
    """A lock dies with its holder. Different names may share a lock, so that their number is bounded."""

    def holding(self, name: str) -> AbstractContextManager[None]:
        """Waits until nobody else holds `name`. Where the home cannot be written nothing is locked, nor raised."""
