"""Tells the time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Times are aware, in UTC."""

    def now(self) -> datetime:
        """The time now."""
