"""The clock of the machine, and the ID of its current boot."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from pathlib import Path


class SystemClock:
    """The system clock in UTC, with microsecond resolution."""

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)


_LINUX = Path("/proc/sys/kernel/random/boot_id")


@functools.cache
def boot_id() -> str | None:
    """Return a text that changes with every boot (random(4), Linux), or None if it is not available."""
    try:
        return _LINUX.read_bytes().strip().decode() or None
    except (OSError, ValueError):
        return None
