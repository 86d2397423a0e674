"""The picture shown at one moment, as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.formats.media.evidence.requests import driver_identity, is_media, seconds, span_of
from citekit.adapters.formats.media.evidence.stream_copy import Copied
from citekit.adapters.formats.media.evidence.timeline import (
    SLACK,
    KeyPicture,
    Span,
    asked,
    nothing_there,
    rewind_to,
    seek_key,
)
from citekit.adapters.formats.media.streams import frames_of, picture, played
from citekit.adapters.libraries.pyav import opened
from citekit.domain.errors import ExtractionFailed, FormUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

if TYPE_CHECKING:
    from av.container import InputContainer

COMPRESSION = 4
"""How hard zlib tries: half the time of its usual 6 for a twentieth more bytes."""


class PyAvStillExtractor:
    """The picture shown at the start of a span of video; its extent is the time that it is shown."""

    @property
    def identity(self) -> ExtractorIdentity:
        """See `Extractor.identity`."""
        return driver_identity("pyav-still")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`; there is no clip among them."""
        return (Form.FRAME, Form.PNG) if is_media(format, location) and location.modality is Modality.VIDEO else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        place = span_of(source, location, options, self.forms(source.format, location))
        with opened(source.path, ExtractionFailed) as container:
            played(container)
            video = picture(container)
            if video is None:
                raise FormUnsupported("There is no picture in this recording: ask for the clip instead.")
            made = write_still(container, video, asked(container, place), target, progress)
        extent = TimeSpan(seconds(made.start), seconds(made.end), place.modality)
        return Extraction(suffix=".png", media_type="image/png", extent=extent)


def write_still(container: InputContainer, video: Any, span: Span, path: Path, progress: Progress) -> Copied:
    """Write the picture that is shown at the start of `span`, upright; it is shown until the next one comes."""
    key = seek_key(container, video, span.low)
    video.thread_type = "AUTO"
    shown, following = _shown_at(container, video, key, span, progress, key.first_pts)
    if shown is None or shown.pts != key.first_pts:
        shown, following = _shown_at(container, video, key, span, progress)
    if shown is None:
        raise nothing_there(Path(container.name).name)
    image = shown.to_image()
    quarter = round(shown.rotation / 90) % 4
    if quarter:
        image = image.rotate(90 * quarter, expand=True)
    with path.open("wb") as file:
        image.save(file, "PNG", compress_level=COMPRESSION)
    start = shown.time - span.zero
    end = following.time - span.zero if following is not None else span.end
    return Copied(max(start, 0.0), max(end, start + SLACK), max(start, 0.0))


def _shown_at(
    container: InputContainer, video: Any, key: KeyPicture, span: Span, progress: Progress, wanted: int | None = None
) -> tuple[Any, Any]:
    """The last picture not after the start, and the one after it; with `wanted` those before it may be left out."""
    shown = None
    rewind_to(container, video, key)
    for frame in frames_of(container, video, wanted):
        if frame.pts is None:
            continue
        if frame.time > span.low + SLACK and shown is not None:
            return shown, frame
        shown = frame
        progress(0.0, None, "decoding")
    return shown, None
