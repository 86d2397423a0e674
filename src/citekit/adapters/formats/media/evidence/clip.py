"""Cuts clips with PyAV, in process."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.formats.media.evidence.containers import MP4, Target, container_for
from citekit.adapters.formats.media.evidence.flac import UncopyableError, copy_frames
from citekit.adapters.formats.media.evidence.lossless import copy_samples, cut_samples, encoder_for, sample_size
from citekit.adapters.formats.media.evidence.mp3 import copy_mp3
from citekit.adapters.formats.media.evidence.requests import (
    about_decoded,
    about_shown,
    driver_identity,
    is_media,
    seconds,
    span_of,
)
from citekit.adapters.formats.media.evidence.smart_cut import smart_cut
from citekit.adapters.formats.media.evidence.stream_copy import Copied, copy
from citekit.adapters.formats.media.evidence.timeline import Span, asked
from citekit.adapters.formats.media.streams import codec_name, picture, played, sound
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


class PyAvClipExtractor:
    """Stream copy that shows exactly the asked start where the container can hide what comes before it.

    `accurate` re-encodes from the start to the next key picture, or all where a clean join is not possible.
    """

    @property
    def identity(self) -> ExtractorIdentity:
        """See `Extractor.identity`."""
        return driver_identity("pyav-clip")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`."""
        return (Form.NATIVE,) if is_media(format, location) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        place = span_of(source, location, options, self.forms(source.format, location))
        with opened(source.path, ExtractionFailed) as container:
            played(container)
            return _clip(container, place, options, target, progress)


def _clip(container: InputContainer, place: TimeSpan, options: Options, target: Path, progress: Progress) -> Extraction:
    span = asked(container, place)
    video = picture(container) if place.modality is Modality.VIDEO else None
    audio = sound(container)
    if video is None and audio is None:
        raise FormUnsupported("There is no sound in this video: ask for a span of video (video://...) instead.")
    if video is not None and options.accurate:
        made, notes = smart_cut(container, video, audio, span, target, progress)
        return _extraction(MP4, made, place, span, notes)
    codecs = [None if stream is None else codec_name(stream) for stream in (video, audio)]
    into = container_for(codecs[0], codecs[1], container.format.name)
    made = _cut(container, video, audio, span, into, target, progress)
    return _extraction(into, made, place, span, about_decoded(codecs[1] if video is None else None, into.suffix))


def _cut(
    container: InputContainer, video: Any, audio: Any, span: Span, into: Target, target: Path, progress: Progress
) -> Copied:
    if video is None and encoder_for(codec_name(audio), into) is not None:
        return _cut_sound(container, audio, span, into, target, progress)
    if video is None and into.suffix == ".mp3":
        with suppress(UncopyableError):
            return copy_mp3(container, audio, span, target, progress)
    return copy(container, video, audio, span, into, target, progress)


def _cut_sound(
    container: InputContainer, audio: Any, span: Span, into: Target, target: Path, progress: Progress
) -> Copied:
    """To the sample; decoded and encoded only where what is stored cannot be copied."""
    codec = codec_name(audio)
    if encoder_for(codec, into) == codec and sample_size(codec, audio.codec_context.channels) is not None:
        return copy_samples(container, audio, span, into, target, progress)
    if codec == "flac":
        with suppress(UncopyableError):
            return copy_frames(container, audio, span, target, progress)
    return cut_samples(container, audio, span, into, target, progress)


def _extraction(into: Target, made: Copied, place: TimeSpan, span: Span, notes: Sequence[str]) -> Extraction:
    extent = TimeSpan(seconds(made.start), seconds(made.end), place.modality)
    hidden = made.bytes_from < made.start - 0.0005
    return Extraction(
        suffix=into.suffix,
        media_type=into.media_type,
        extent=extent,
        bytes_from=seconds(made.bytes_from) if hidden else None,
        notes=(*notes, *about_shown(made.start, made.bytes_from, span.start, into.suffix)),
    )
