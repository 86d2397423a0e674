"""Extracts clips with the library PyAV, without starting another program."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.formats.media.evidence.containers import MP4, ClipContainer, UncopyableError, container_for
from citekit.adapters.formats.media.evidence.flac import copy_flac
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
    """Extracts clips by copying the encoded streams.

    The clip starts exactly at the requested time if its container can hide the earlier frames that it must include. The
    option `accurate` encodes the frames up to the next keyframe again, or all frames if they cannot be joined with
    copied ones. A video that no container of clips can store, such as Cinepak, is encoded again.
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
        location_span = validated_span(source, location, options, self.forms(source.format, location))
        with open_media(source.path, ExtractionFailed) as container:
            playable_streams(container)
            return _write_clip(container, location_span, options, target, progress)


def _write_clip(
    container: InputContainer, location: TimeSpan, options: Options, target: Path, progress: Progress
) -> Extraction:
    span = requested_span(container, location)
    video = video_stream(container) if location.modality is Modality.VIDEO else None
    audio = audio_stream(container)
    if video is None and audio is None:
        raise FormUnsupported("This video has no audio. Use a video:// address to extract a span of video instead.")
    if video is not None and options.accurate:
        return _cut_accurately(container, video, audio, location, span, target, progress)
    codecs = [None if stream is None else codec_name(stream) for stream in (video, audio)]
    output = container_for(codecs[0], codecs[1], container.format.name)
    try:
        times = _copy_clip(container, video, audio, span, output, target, progress)
    except UncopyableError:
        if video is None:
            raise
        return _cut_accurately(container, video, audio, location, span, target, progress)
    return _extraction(
        output, times, location, span, conversion_notes(codecs[1] if video is None else None, output.suffix)
    )


def _cut_accurately(
    container: InputContainer,
    video: Any,
    audio: Any,
    location: TimeSpan,
    span: Span,
    target: Path,
    progress: Progress,
) -> Extraction:
    times, notes = smart_cut(container, video, audio, span, target, progress)
    return _extraction(MP4, times, location, span, notes)


def _copy_clip(
    container: InputContainer,
    video: Any,
    audio: Any,
    span: Span,
    output: ClipContainer,
    target: Path,
    progress: Progress,
) -> ClipTimes:
    if video is None and encoder_for(codec_name(audio), output) is not None:
        return _copy_sound(container, audio, span, output, target, progress)
    if video is None and output.suffix == ".mp3":
        with suppress(UncopyableError):
            return copy_mp3(container, audio, span, target, progress)
    return copy_streams(container, video, audio, span, output, target, progress)


def _copy_sound(
    container: InputContainer, audio: Any, span: Span, output: ClipContainer, target: Path, progress: Progress
) -> ClipTimes:
    """Write the audio of `span`, exact to the sample. Decode and encode it only if it cannot be copied."""
    codec = codec_name(audio)
    if encoder_for(codec, output) == codec and sample_size(codec, audio.codec_context.channels) is not None:
        return copy_samples(container, audio, span, output, target, progress)
    if codec == "flac":
        with suppress(UncopyableError):
            return copy_flac(container, audio, span, target, progress)
    return transcode_samples(container, audio, span, output, target, progress)


def _extraction(
    output: ClipContainer, times: ClipTimes, location: TimeSpan, span: Span, notes: Sequence[str]
) -> Extraction:
    extent = TimeSpan(rounded_seconds(times.start), rounded_seconds(times.end), location.modality)
    hidden = times.bytes_from < times.start - 0.0005
    return Extraction(
        suffix=output.suffix,
        media_type=output.media_type,
        extent=extent,
        bytes_from=rounded_seconds(times.bytes_from) if hidden else None,
        notes=(*notes, *start_notes(times.start, times.bytes_from, span.start, output.suffix)),
    )
