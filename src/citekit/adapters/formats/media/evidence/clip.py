"""Cuts clips with PyAV, in process."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.formats.media.evidence.containers import MP4, ClipContainer, container_for
from citekit.adapters.formats.media.evidence.flac import UncopyableError, copy_flac
from citekit.adapters.formats.media.evidence.lossless import copy_samples, encoder_for, sample_size, transcode_samples
from citekit.adapters.formats.media.evidence.mp3 import copy_mp3
from citekit.adapters.formats.media.evidence.requests import (
    conversion_notes,
    driver_identity,
    is_media,
    rounded_seconds,
    start_notes,
    validated_span,
)
from citekit.adapters.formats.media.evidence.smart_cut import smart_cut
from citekit.adapters.formats.media.evidence.stream_copy import ClipTimes, copy_streams
from citekit.adapters.formats.media.evidence.timeline import Span, requested_span
from citekit.adapters.formats.media.streams import audio_stream, codec_name, playable_streams, video_stream
from citekit.adapters.libraries.pyav import open_media
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
        place = validated_span(source, location, options, self.forms(source.format, location))
        with open_media(source.path, ExtractionFailed) as container:
            playable_streams(container)
            return _write_clip(container, place, options, target, progress)


def _write_clip(
    container: InputContainer, place: TimeSpan, options: Options, target: Path, progress: Progress
) -> Extraction:
    span = requested_span(container, place)
    video = video_stream(container) if place.modality is Modality.VIDEO else None
    audio = audio_stream(container)
    if video is None and audio is None:
        raise FormUnsupported("There is no sound in this video: ask for a span of video (video://...) instead.")
    if video is not None and options.accurate:
        made, notes = smart_cut(container, video, audio, span, target, progress)
        return _extraction(MP4, made, place, span, notes)
    codecs = [None if stream is None else codec_name(stream) for stream in (video, audio)]
    into = container_for(codecs[0], codecs[1], container.format.name)
    made = _copy_clip(container, video, audio, span, into, target, progress)
    return _extraction(into, made, place, span, conversion_notes(codecs[1] if video is None else None, into.suffix))


def _copy_clip(
    container: InputContainer, video: Any, audio: Any, span: Span, into: ClipContainer, target: Path, progress: Progress
) -> ClipTimes:
    if video is None and encoder_for(codec_name(audio), into) is not None:
        return _copy_sound(container, audio, span, into, target, progress)
    if video is None and into.suffix == ".mp3":
        with suppress(UncopyableError):
            return copy_mp3(container, audio, span, target, progress)
    return copy_streams(container, video, audio, span, into, target, progress)


def _copy_sound(
    container: InputContainer, audio: Any, span: Span, into: ClipContainer, target: Path, progress: Progress
) -> ClipTimes:
    """To the sample; decoded and encoded only where what is stored cannot be copied."""
    codec = codec_name(audio)
    if encoder_for(codec, into) == codec and sample_size(codec, audio.codec_context.channels) is not None:
        return copy_samples(container, audio, span, into, target, progress)
    if codec == "flac":
        with suppress(UncopyableError):
            return copy_flac(container, audio, span, target, progress)
    return transcode_samples(container, audio, span, into, target, progress)


def _extraction(into: ClipContainer, made: ClipTimes, place: TimeSpan, span: Span, notes: Sequence[str]) -> Extraction:
    extent = TimeSpan(rounded_seconds(made.start), rounded_seconds(made.end), place.modality)
    hidden = made.bytes_from < made.start - 0.0005
    return Extraction(
        suffix=into.suffix,
        media_type=into.media_type,
        extent=extent,
        bytes_from=rounded_seconds(made.bytes_from) if hidden else None,
        notes=(*notes, *start_notes(made.start, made.bytes_from, span.start, into.suffix)),
    )
