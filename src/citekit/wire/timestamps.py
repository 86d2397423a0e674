"""Formats and parses ISO 8601 times."""

from __future__ import annotations

from datetime import UTC, datetime


def format_timestamp(moment: datetime) -> str:
    """Return a time as ISO 8601 text in UTC, ending in `Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """Parse an ISO 8601 time and return it in UTC, which is also the default time zone.

    Raise `ValueError` if it is not an ISO 8601 time, or if its year in UTC is not from 1 to 9999.
    """
    moment = datetime.fromisoformat(text)
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"the time {text} is out of range") from error
