"""How much memory this process holds."""

from __future__ import annotations

import os
from pathlib import Path

_STATM = Path("/proc/self/statm")


def held_bytes() -> int:
    """Bytes of memory that this process holds now; 0 where the system does not say. Costs some ten microseconds."""
    try:
        return int(_STATM.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
