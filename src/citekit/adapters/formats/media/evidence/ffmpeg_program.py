"""Cuts clips with the ffmpeg program, by the same contract as the driver in process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
"""As in the other driver: the program may take a file for something else than the library did, which looked before."""

_X264 = {"vcodec": "libx264", "crf": "17", "preset": "veryfast", "threads": "2", "pix_fmt": "yuv420p"}


@frozen
class _Plan:
    """From where and how long to copy, in seconds from the source's start, which streams, and how."""

    span: Span
    start: float
    streams: tuple[int, ...]
    into: ClipContainer
    codecs: dict[str, str]
    notes: Sequence[str] = ()


class FfmpegExtractor:
    """Stream copy by the ffmpeg program; where its container has edit lists, from the picture shown at the start on.

    `accurate` encodes the whole clip.
    """

    @property
    def identity(self) -> ExtractorIdentity:
        """See `Extractor.identity`."""
        return ExtractorIdentity("ffmpeg", "1")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`."""
        return (Form.NATIVE,) if is_media(format, location) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        ffmpeg = program()
        place = validated_span(source, location, options, self.forms(source.format, location))
        with open_media(source.path, ExtractionFailed) as container:
            playable_streams(container)
            plan = _plan(container, place, options)
        run(_command(ffmpeg, source.path, plan, target), progress)
        if plan.into in (MP4, MOV, M4A):
            limit_shown_duration(target, plan.span.end - max(plan.start, 0.0))
        made = _measure_clip(target, plan)
        return Extraction(
            suffix=plan.into.suffix,
            media_type=plan.into.media_type,
            extent=TimeSpan(rounded_seconds(made.start), rounded_seconds(made.end), place.modality),
            bytes_from=rounded_seconds(made.bytes_from) if made.bytes_from < made.start - 0.0005 else None,
            notes=(*plan.notes, *start_notes(made.start, made.bytes_from, plan.span.start, plan.into.suffix)),
        )


def _plan(container: InputContainer, place: TimeSpan, options: Options) -> _Plan:
    span = requested_span(container, place)
    video = video_stream(container) if place.modality is Modality.VIDEO else None
    audio = audio_stream(container)
    streams = tuple(stream.index for stream in (video, audio) if stream is not None)
    if not streams:
        raise FormUnsupported("There is no sound in this video: ask for a span of video (video://...) instead.")
    if video is None:
        into = container_for(None, codec_name(audio), container.format.name)
        codec = codec_name(audio)
        coder = encoder_for(codec, into)
        if coder is None:
            return _Plan(span, span.start, streams, into, {"acodec": "copy"})
        return _Plan(span, span.start, streams, into, {"acodec": coder}, conversion_notes(codec, into.suffix))
    key = find_seek_point(container, video, span.low)
    shown = float(key.first_pts * video.time_base) - span.zero
    if options.accurate:
        return _Plan(span, shown, streams, MP4, {**_X264, "acodec": "aac"}, ("The whole clip was re-encoded.",))
    into = container_for(codec_name(video), None if audio is None else codec_name(audio), container.format.name)
    start = shown if into.exact else float(key.key_pts * video.time_base) - span.zero
    return _Plan(span, start, streams, into, {"codec": "copy"})


def _command(ffmpeg: str, path: Path, plan: _Plan, target: Path) -> list[str]:
    import ffmpeg as builder

    source = builder.input(file_url(path), ss=f"{max(plan.start, 0.0):.6f}", **_INPUT_LIMITS)
    chosen = [source[str(index)] for index in plan.streams]
    written: dict[str, Any] = {
        **plan.codecs,
        "format": plan.into.muxer,
        "t": f"{_length(plan):.6f}",
        "map_chapters": "-1",
        "map_metadata": "-1",
        "fflags": "+bitexact",
        "flags:v": "+bitexact",
        "flags:a": "+bitexact",
    }
    if plan.into.suffix in (".mp4", ".m4a", ".mov"):
        written["movflags"] = "+faststart"
    out = builder.output(*chosen, file_url(target), **written)
    quiet = out.global_args("-nostdin", "-hide_banner", "-v", "error", "-n")
    return [str(part) for part in quiet.compile(cmd=ffmpeg)]


def _length(plan: _Plan) -> float:
    """Seconds to write; of copied pictures a little less, so that one that begins at the end is not among them."""
    less = TOLERANCE if plan.codecs.get("codec") == "copy" else 0.0
    return max(plan.span.end - plan.start - less, TOLERANCE)


def _measure_clip(target: Path, plan: _Plan) -> ClipTimes:
    """What the clip shows and holds, by its own packets."""
    with open_media(target, ExtractionFailed) as clip:
        first, last = 0.0, 0.0
        for packet in clip.demux(playable_streams(clip)):
            if packet.size and packet.pts is not None:
                first = min(first, float(packet.pts * packet.time_base))
                last = last if packet.is_discard else max(last, packet_end(packet))
        if not last:
            raise ExtractionFailed("ffmpeg wrote a clip without a packet: the source is damaged there.")
    start = max(plan.start, 0.0)
    end = min(start + last, max(plan.span.end, start + TOLERANCE))
    held = max(start + first, 0.0)
    return ClipTimes(start if plan.into.exact else held, end, held)
