"""The clock of the machine, and the ID of its current boot."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from pathlib import Path


class SystemClock:
    """Whole microseconds, UTC."""

    def now(self) -> datetime:
        """The time now."""
        return datetime.now(UTC)


_LINUX = Path("/proc/sys/kernel/random/boot_id")


@functools.cache
def boot_id() -> str | None:
    """A text that is another one after every start of the machine (random(4), Linux); None where it is not known."""
    try:
        return _LINUX.read_bytes().strip().decode() or None
    except (OSError, ValueError):
        return None
