"""How Calibre writes numbers, stars and times."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, tzinfo

UNDEFINED = date(101, 1, 1)
"""The day that Calibre writes where none is known."""


def number(value: object) -> float | None:
    """A finite number, or None for anything else."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def stars(value: object) -> float | None:
    """Stars from 0 to 5: twice as many are stored. None where nobody has rated, for which 0 is stored too."""
    doubled = number(value)
    return doubled / 2 if doubled is not None and 0 < doubled <= 10 else None


def moment(value: object) -> datetime | None:
    """A time with its zone, UTC where it names none; None where it is not known."""
    try:
        read = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    read = read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    return read if read.date() > UNDEFINED else None


def day(value: object, zone: tzinfo | None) -> date | None:
    """The day of a time in `zone` (None: that of the computer), which is the one that Calibre shows."""
    read = moment(value)
    try:
        return read.astimezone(zone).date() if read is not None else None
    except (OverflowError, OSError, ValueError):
        return read.date() if read is not None else None
