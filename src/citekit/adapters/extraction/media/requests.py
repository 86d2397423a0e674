"""What is asked of the extractors of this family, and who they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from citekit.adapters.drivers.installed import version_of
from citekit.domain.errors import FormUnsupported
from citekit.domain.evidence import ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.source import Source


@cache
def driver_identity(name: str) -> ExtractorIdentity:
    """An extractor that writes with PyAV: another FFmpeg inside may write other bytes."""
    return ExtractorIdentity(name, f"4+av{version_of('av')}")


def is_media(format: Format, location: Location) -> bool:
    """Whether this is a span of time in a video or audio file."""
    return format.modality in (Modality.VIDEO, Modality.AUDIO) and isinstance(location, TimeSpan)


def span_of(source: Source, location: Location, options: Options, forms: Sequence[Form]) -> TimeSpan:
    """`location` as a span of time. Raises `FormUnsupported` where it is none, or has not the form asked for."""
    if not isinstance(location, TimeSpan) or not forms:
        raise FormUnsupported(f"{source.path.name} is cut by a span of time (#t=10-20), and holds no other places.")
    if options.form not in forms:
        known = ", ".join(form.value for form in forms)
        raise FormUnsupported(f"A span of {location.modality.value} cannot be given as {options.form.value}: {known}.")
    return location
