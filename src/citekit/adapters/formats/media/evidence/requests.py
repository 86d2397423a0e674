"""Functions that the clip and still extractors share: identity, validation of requests, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from citekit.adapters.formats.media.evidence.containers import ASF, MATROSKA, MOV, MP4, WEBM
from citekit.adapters.system.installed_packages import version_of
from citekit.domain.errors import FormUnsupported
from citekit.domain.evidence import ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.numbers import shortest
from citekit.domain.source import Source

TOLERANCE = 0.0015
"""The number of seconds by which a clip, or the data stored in it, can start early without a note."""


@cache
def driver_identity(name: str) -> ExtractorIdentity:
    """Return the identity of the extractor `name`, which includes the version of PyAV.

    Another version contains another FFmpeg, which can write different bytes.
    """
    return ExtractorIdentity(name, f"6+av{version_of('av')}")


def is_media(format: Format, location: Location) -> bool:
    """Return whether `location` is a span of time in a video or audio file."""
    return format.modality in (Modality.VIDEO, Modality.AUDIO) and isinstance(location, TimeSpan)


def validated_span(source: Source, location: Location, options: Options, forms: Sequence[Form]) -> TimeSpan:
    """Return `location` as a span of time.

    Raise `FormUnsupported` if it is not a span, or if the requested form is not among `forms`.
    """
    if not isinstance(location, TimeSpan) or not forms:
        raise FormUnsupported(f"{source.path.name} supports only spans of time (#t=10-20) as locations.")
    if options.form not in forms:
        known = ", ".join(form.value for form in forms)
        raise FormUnsupported(
            f"A span of {location.modality.value} cannot be extracted as {options.form.value}. Valid forms: {known}."
        )
    return location


def rounded_seconds(value: float) -> float:
    """Return a time in seconds rounded to microseconds, and at least 0, for a receipt."""
    return max(round(value, 6), 0.0)


_WITH_EDIT_LISTS = (MP4.suffix, MOV.suffix)
"""The suffixes of clips of video that can begin at any frame."""

_OF_VIDEO = (WEBM.suffix, MATROSKA.suffix, ASF.suffix)
"""The suffixes of clips that begin at a keyframe and always contain video."""


def start_notes(start: float, bytes_from: float, wanted: float, suffix: str) -> list[str]:
    """Return notes that explain whether a clip shows or stores more than was requested. All times are in seconds.

    It shows the source from `start` on, and stores it from `bytes_from` on. `wanted` is the requested start, and
    `suffix` that of the file.
    """
    notes = []
    begins, asked, stored = _seconds_text(start), _seconds_text(wanted), _seconds_text(bytes_from)
    if wanted - start > TOLERANCE and suffix in _WITH_EDIT_LISTS:
        notes.append(
            f"The clip begins at {begins} s instead of {asked} s, because the frame shown at {asked} s begins then."
        )
    elif wanted - start > TOLERANCE:
        notes.append(
            f"The clip begins at {begins} s instead of {asked} s, because a {suffix} file that is not re-encoded can begin "
            "only at a keyframe or packet."
            + (" For an exact start, request an accurate cut." if suffix in _OF_VIDEO else "")
        )
    if start - bytes_from > TOLERANCE and suffix == ".mp3":
        notes.append(f"The file also contains the source from {stored} s to {begins} s, which players skip as padding.")
    elif start - bytes_from > TOLERANCE:
        notes.append(
            f"The file also contains the source from {stored} s to {begins} s, which its edit list tells players to skip."
            + (" To omit it, request an accurate cut." if suffix != ".m4a" else "")  # only videos are cut accurately
        )
    return notes


def conversion_notes(codec: str | None, suffix: str) -> list[str]:
    """Return a note if audio of another codec was converted to FLAC, or an empty list."""
    if codec is None or suffix != ".flac" or codec == "flac":
        return []
    return [f"The audio was decoded and stored as FLAC, because CiteKit cannot cut {codec} without decoding it."]


def _seconds_text(value: float) -> str:
    return shortest(rounded_seconds(round(value, 3)))
