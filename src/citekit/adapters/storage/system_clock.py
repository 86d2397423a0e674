"""The clock of the machine."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """Whole microseconds, UTC."""

    def now(self) -> datetime:
        """The time now."""
        return datetime.now(UTC)
