"""What is asked of the extractors of this family, and who they are.

Sentences about what a clip shows that is not exactly as asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from citekit.adapters.system.installed_packages import version_of
from citekit.domain.errors import FormUnsupported
from citekit.domain.evidence import ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.numbers import shortest
from citekit.domain.source import Source


@cache
def driver_identity(name: str) -> ExtractorIdentity:
    """An extractor that writes with PyAV: another FFmpeg inside may write other bytes."""
    return ExtractorIdentity(name, f"4+av{version_of('av')}")


def is_media(format: Format, location: Location) -> bool:
    """Whether this is a span of time in a video or audio file."""
    return format.modality in (Modality.VIDEO, Modality.AUDIO) and isinstance(location, TimeSpan)


def validated_span(source: Source, location: Location, options: Options, forms: Sequence[Form]) -> TimeSpan:
    """`location` as a span of time. Raises `FormUnsupported` where it is none, or has not the form asked for."""
    if not isinstance(location, TimeSpan) or not forms:
        raise FormUnsupported(f"{source.path.name} is cut by a span of time (#t=10-20), and holds no other places.")
    if options.form not in forms:
        known = ", ".join(form.value for form in forms)
        raise FormUnsupported(f"A span of {location.modality.value} cannot be given as {options.form.value}: {known}.")
    return location


TOLERANCE = 0.0015


def rounded_seconds(value: float) -> float:
    """A time in whole microseconds, not below 0: what a receipt shows."""
    return max(round(value, 6), 0.0)


def start_notes(start: float, bytes_from: float, wanted: float, suffix: str) -> list[str]:
    """What to say where a clip shows, or holds, more than was asked for."""
    notes = []
    begins, asked, held = _seconds_text(start), _seconds_text(wanted), _seconds_text(bytes_from)
    if wanted - start > TOLERANCE:
        notes.append(
            f"The clip begins at {begins} s instead of {asked} s: "
            f"a copy in a {suffix} file can begin only at a keyframe or packet."
        )
    if start - bytes_from > TOLERANCE and suffix == ".mp3":
        notes.append(f"The file also holds the source from {held} s on: players skip it as padding.")
    elif start - bytes_from > TOLERANCE:
        notes.append(
            f"The file also holds the source from {held} s on, hidden by its edit list; "
            "ask for an accurate cut to leave it out."
        )
    return notes


def conversion_notes(codec: str | None, suffix: str) -> list[str]:
    """What to say where sound is kept as FLAC that was not."""
    if codec is None or suffix != ".flac" or codec == "flac":
        return []
    return [f"The sound was decoded and kept as FLAC: {codec} cannot be cut as it is."]


def _seconds_text(value: float) -> str:
    return shortest(rounded_seconds(round(value, 3)))
