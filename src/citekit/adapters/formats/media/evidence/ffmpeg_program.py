"""Extracts clips with the ffmpeg program. It can be used instead of the PyAV extractor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from citekit.adapters.formats.media.evidence.containers import M4A, MOV, MP4, ClipContainer, container_for
from citekit.adapters.formats.media.evidence.lossless import encoder_for
from citekit.adapters.formats.media.evidence.mp4_edit_list import limit_shown_duration
from citekit.adapters.formats.media.evidence.requests import (
    conversion_notes,
    is_media,
    rounded_seconds,
    start_notes,
    validated_span,
)
from citekit.adapters.formats.media.evidence.stream_copy import ClipTimes
from citekit.adapters.formats.media.evidence.timeline import TOLERANCE, Span, find_seek_point, requested_span
from citekit.adapters.formats.media.streams import audio_stream, codec_name, packet_end, playable_streams, video_stream
from citekit.adapters.libraries.ffmpeg import file_url, program, run
from citekit.adapters.libraries.pyav import DEMUXERS, PIXEL_LIMIT, open_media
from citekit.domain.errors import ExtractionFailed, FormUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

if TYPE_CHECKING:
    from av.container import InputContainer

_INPUT_LIMITS = {
    "protocol_whitelist": "file",
    "format_whitelist": DEMUXERS,
    "max_streams": "100",
    "max_pixels": str(PIXEL_LIMIT),
}
"""The limits that also apply to PyAV. They are repeated because the program can detect a different format."""

_X264 = {"vcodec": "libx264", "crf": "17", "preset": "veryfast", "threads": "2", "mbtree": "0", "pix_fmt": "yuv420p"}


@frozen
class _Plan:
    """The parameters of a clip. `start` is where copying starts, in seconds from the start of the source."""

    span: Span
    start: float
    streams: tuple[int, ...]
    output: ClipContainer
    codecs: dict[str, str]
    notes: Sequence[str] = ()


class FfmpegExtractor:
    """Extracts clips by copying the encoded streams with the ffmpeg program.

    With edit lists, the clip starts with the frame that is shown at the requested start. The option `accurate` encodes
    the whole clip of a video again.
    """

    @property
    def identity(self) -> ExtractorIdentity:
        """See `Extractor.identity`."""
        return ExtractorIdentity("ffmpeg", "2")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`."""
        return (Form.NATIVE,) if is_media(format, location) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        ffmpeg = program()
        location_span = validated_span(source, location, options, self.forms(source.format, location))
        with open_media(source.path, ExtractionFailed) as container:
            playable_streams(container)
            plan = _plan(container, location_span, options)
        run(_command(ffmpeg, source.path, plan, target), progress)
        if plan.output in (MP4, MOV, M4A):
            limit_shown_duration(target, plan.span.end - max(plan.start, 0.0))
        times = _measure_clip(target, plan)
        return Extraction(
            suffix=plan.output.suffix,
            media_type=plan.output.media_type,
            extent=TimeSpan(rounded_seconds(times.start), rounded_seconds(times.end), location_span.modality),
            bytes_from=rounded_seconds(times.bytes_from) if times.bytes_from < times.start - 0.0005 else None,
            notes=(*plan.notes, *start_notes(times.start, times.bytes_from, plan.span.start, plan.output.suffix)),
        )


def _plan(container: InputContainer, location: TimeSpan, options: Options) -> _Plan:
    span = requested_span(container, location)
    video = video_stream(container) if location.modality is Modality.VIDEO else None
    audio = audio_stream(container)
    streams = tuple(stream.index for stream in (video, audio) if stream is not None)
    if not streams:
        raise FormUnsupported("This video has no audio. Use a video:// address to extract a span of video instead.")
    if video is None:
        output = container_for(None, codec_name(audio), container.format.name)
        codec = codec_name(audio)
        encoder = encoder_for(codec, output)
        if encoder is None:
            return _Plan(span, span.start, streams, output, {"acodec": "copy"})
        return _Plan(span, span.start, streams, output, {"acodec": encoder}, conversion_notes(codec, output.suffix))
    point = find_seek_point(container, video, span.low)
    first_shown = float(point.first_pts * video.time_base) - span.zero
    if options.accurate:
        return _Plan(span, first_shown, streams, MP4, {**_X264, "acodec": "aac"}, ("The whole clip was re-encoded.",))
    output = container_for(codec_name(video), None if audio is None else codec_name(audio), container.format.name)
    start = first_shown if output.exact else float(point.key_pts * video.time_base) - span.zero
    return _Plan(span, start, streams, output, {"codec": "copy"})


def _command(ffmpeg: str, path: Path, plan: _Plan, target: Path) -> list[str]:
    import ffmpeg as builder

    source = builder.input(file_url(path), ss=f"{max(plan.start, 0.0):.6f}", **_INPUT_LIMITS)
    streams = [source[str(index)] for index in plan.streams]
    output_options: dict[str, object] = {
        **plan.codecs,
        "format": plan.output.muxer,
        "t": f"{_length(plan):.6f}",
        "map_chapters": "-1",
        "map_metadata": "-1",
        "fflags": "+bitexact",
        "flags:v": "+bitexact",
        "flags:a": "+bitexact",
    }
    if plan.output.suffix in (".mp4", ".m4a", ".mov"):
        output_options["movflags"] = "+faststart"
    output = builder.output(*streams, file_url(target), **output_options)
    command = output.global_args("-nostdin", "-hide_banner", "-v", "error", "-n")
    return [str(part) for part in command.compile(cmd=ffmpeg)]


def _length(plan: _Plan) -> float:
    """Return the number of seconds to write.

    A copied video is a little shorter, so that it does not include a frame that starts at its end.
    """
    margin = TOLERANCE if plan.codecs.get("codec") == "copy" else 0.0
    return max(plan.span.end - plan.start - margin, TOLERANCE)


def _measure_clip(target: Path, plan: _Plan) -> ClipTimes:
    """Return the times that the clip shows and stores, measured from its packets."""
    with open_media(target, ExtractionFailed) as clip:
        first, last = 0.0, 0.0
        for packet in clip.demux(playable_streams(clip)):
            if packet.size and packet.pts is not None:
                first = min(first, float(packet.pts * packet.time_base))
                last = last if packet.is_discard else max(last, packet_end(packet))
        if not last:
            raise ExtractionFailed("ffmpeg wrote an empty clip. The source may be damaged in this span.")
    start = max(plan.start, 0.0)
    end = min(start + last, max(plan.span.end, start + TOLERANCE))
    stored_from = max(start + first, 0.0)
    return ClipTimes(start if plan.output.exact else stored_from, end, stored_from)
