"""Sentences about what a clip shows that is not exactly as asked."""

from __future__ import annotations

from citekit.domain.numbers import shortest

TOLERANCE = 0.0015


def seconds(value: float) -> float:
    """A time in whole microseconds, not below 0: what a receipt shows."""
    return max(round(value, 6), 0.0)


def about_shown(start: float, bytes_from: float, wanted: float, suffix: str) -> list[str]:
    """What to say where a clip shows, or holds, more than was asked for."""
    notes = []
    if wanted - start > TOLERANCE:
        notes.append(
            f"The clip begins at {_s(start)} s instead of {_s(wanted)} s: a copy in a {suffix} file cannot begin between "
            "key pictures or packets."
        )
    if start - bytes_from > TOLERANCE and suffix == ".mp3":
        notes.append(f"The file also holds what comes from {_s(bytes_from)} s on: players pass over it as padding.")
    elif start - bytes_from > TOLERANCE:
        notes.append(
            f"The file also holds what comes from {_s(bytes_from)} s on, hidden by its edit list; "
            "ask for an accurate cut to leave that out."
        )
    return notes


def about_decoded(codec: str | None, suffix: str) -> list[str]:
    """What to say where sound is kept as FLAC that was not."""
    if codec is None or suffix != ".flac" or codec == "flac":
        return []
    return [f"The sound was decoded and kept as FLAC: {codec} cannot be cut as it is."]


def _s(value: float) -> str:
    return shortest(seconds(round(value, 3)))
