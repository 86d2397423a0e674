"""Times in the written form: ISO 8601."""

from __future__ import annotations

from datetime import UTC, datetime


def format_timestamp(moment: datetime) -> str:
    """A time in the written form: ISO 8601 in UTC with `Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """The time that a text says, in UTC; one without a zone is UTC. Raises `ValueError`."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
