"""Encodes video and audio when copying is not possible. The same input gives the same bytes.

Clips that are encoded completely have H.264 video, and audio that is copied if MP4 supports its codec, otherwise AAC.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citekit.adapters.formats.media.evidence.containers import MP4
from citekit.adapters.formats.media.evidence.stream_copy import MP4_OPTIONS, ClipTimes, copy_audio_packet, track_for
from citekit.adapters.formats.media.evidence.timeline import (
    TOLERANCE,
    SeekPoint,
    Span,
    nothing_readable,
    seek,
    seek_time,
    timestamped_packets,
)
from citekit.adapters.formats.media.streams import codec_name, decode_frames
from citekit.adapters.libraries.pyav import create_media, library
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from av.container import InputContainer, OutputContainer


X264_OPTIONS = {"crf": "17", "preset": "veryfast", "threads": "2", "mbtree": "0"}
"""Options for visually lossless video.

The bytes depend on the number of threads, and with macroblock trees also on earlier contents of the memory.
"""

_COLOR_FIELDS = ("color_range", "color_primaries", "color_trc", "colorspace")

VIDEO_TICK = Fraction(1, 90_000)
"""Seconds per tick of encoded video. The frame durations of common frame rates are whole numbers of ticks."""

MP4_AUDIO_CODECS = {"aac", "mp3", "ac3", "eac3", "alac"}
"""Audio codecs that MP4 can store unchanged."""


def h264_encoder(video: Any, pixels: str, size: tuple[int, int], options: dict[str, str]) -> Any:
    """Return an H.264 encoder, not open yet, for frames like those of the stream `video`.

    `pixels` is the pixel format, and `size` the width and height in pixels. `options` are added to `X264_OPTIONS`.
    """
    encoder = library().CodecContext.create("libx264", "w")
    copy_video_parameters(encoder, video, pixels, size)
    encoder.options = {**X264_OPTIONS, **options}
    encoder.flags |= 1 << 22  # global header: parameter sets are separate from the pictures
    return encoder


def copy_video_parameters(encoder: Any, video: Any, pixels: str, size: tuple[int, int]) -> None:
    """Set the time base, frame rate, pixel aspect ratio, and colors of an encoder to those of the stream `video`.

    The pixel format becomes `pixels`, and the width and height `size`.
    """
    encoder.width, encoder.height = size
    encoder.pix_fmt = pixels
    encoder.time_base = video.time_base
    encoder.framerate = video.average_rate or video.guessed_rate or 25
    if video.codec_context.sample_aspect_ratio:
        encoder.sample_aspect_ratio = video.codec_context.sample_aspect_ratio
    for name in _COLOR_FIELDS:
        setattr(encoder, name, getattr(video.codec_context, name))


def decode_from(container: InputContainer, stream: Any, time: float, from_tick: int | None = None) -> Iterator[Any]:
    """Yield decoded frames that have timestamps, from the keyframe at or before `time` to the end of the stream.

    `time` is in seconds of the container's own time. Some frames before `from_tick`, a timestamp in units of the
    stream's time base, can be missing.
    """
    stream.thread_type = "AUTO"
    seek(container, stream, time)
    yield from (frame for frame in decode_frames(container, stream, from_tick) if frame.pts is not None)


def add_aac(output: OutputContainer, audio: Any) -> Any:
    """Add an AAC stream to `output`, for encoding the stream `audio` as mono or stereo, and return it."""
    encoder: Any = output.add_stream("aac", rate=_aac_sample_rate(audio.codec_context.sample_rate))
    encoder.layout = "mono" if audio.codec_context.channels == 1 else "stereo"
    encoder.bit_rate = 96_000 * (1 if audio.codec_context.channels == 1 else 2)
    encoder.codec_context.flags |= 1 << 23
    return encoder


def _aac_sample_rate(rate: int) -> int:
    return rate if rate in (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000) else 48000


def encode_audio(container: InputContainer, audio: Any, encoder: Any, low: float, high: float) -> None:
    """Encode the audio from `low` to `high`, in seconds of the container's own time, so that the output starts at 0."""
    av = library()
    rate = encoder.codec_context.sample_rate
    resampler = av.AudioResampler("fltp", encoder.codec_context.layout, rate)
    graph = _trim_graph(av, encoder, round(low * rate), round(high * rate))
    output = encoder.container
    for frame in decode_from(container, audio, low - 0.5):
        if frame.time >= high:
            break
        frame.time_base, frame.pts = Fraction(1, rate), round(frame.time * rate)
        for part in resampler.resample(frame):
            graph.push(part)
            _encode_trimmed(av, graph, encoder, output, round(low * rate))
    graph.push(None)
    _encode_trimmed(av, graph, encoder, output, round(low * rate))
    output.mux(encoder.encode(None))


def _trim_graph(av: Any, encoder: Any, first: int, last: int) -> Any:
    graph = av.filter.Graph()
    context = encoder.codec_context
    source = graph.add_abuffer(
        format="fltp",
        sample_rate=context.sample_rate,
        layout=context.layout.name,
        time_base=Fraction(1, context.sample_rate),
    )
    trim = graph.add("atrim", f"start_pts={first}:end_pts={last}")
    frames = graph.add("asetnsamples", "n=1024:p=0")
    source.link_to(trim)
    trim.link_to(frames)
    frames.link_to(graph.add("abuffersink"))
    graph.configure()
    return graph


def _encode_trimmed(av: Any, graph: Any, encoder: Any, output: Any, first: int) -> None:
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        frame.pts -= first
        output.mux(encoder.encode(frame))


def re_encode(
    container: InputContainer, video: Any, audio: Any, span: Span, point: SeekPoint, path: Path, progress: Progress
) -> ClipTimes:
    """Write `span` to a new MP4 file at `path`, with all of its video encoded again.

    Raise `ExtractionFailed` if no frame could be decoded.
    """
    size = _round_up_to_even(video.codec_context.width), _round_up_to_even(video.codec_context.height)
    with create_media(path, MP4.muxer, MP4_OPTIONS) as output:
        encoder: Any = output.add_stream("libx264", rate=video.average_rate or video.guessed_rate or 25)
        copy_video_parameters(encoder.codec_context, video, "yuv420p", size)
        encoder.codec_context.time_base = VIDEO_TICK
        encoder.codec_context.options = {**X264_OPTIONS}
        audio_track = _add_audio_track(output, audio, span)
        end = _encode_video(container, video, encoder, span, point, progress)
        if end is None:
            raise nothing_readable(Path(container.name).name)
        if audio is not None:
            _write_audio(container, audio, audio_track, span)
    return ClipTimes(span.start, min(end - span.zero, span.end), span.start)


def _round_up_to_even(number: int) -> int:
    return number + number % 2


def _add_audio_track(output: Any, audio: Any, span: Span) -> Any:
    if audio is None:
        return None
    if codec_name(audio) in MP4_AUDIO_CODECS:
        track = track_for(output, audio, span.low, span, None, MP4)
        track.strict = True
        return track
    return add_aac(output, audio)


def _encode_video(
    container: InputContainer, video: Any, encoder: Any, span: Span, point: SeekPoint, progress: Progress
) -> float | None:
    """Encode the video frames that are shown in `span`.

    Return the end of the last frame in the container's own time, or None if there are no frames.
    """
    limit = round((span.high - TOLERANCE) / video.time_base)
    end: float | None = None
    durations: dict[int, int] = {}
    for frame in decode_from(container, video, seek_time(container, video, point), point.first_pts):
        if frame.pts >= limit:
            break
        if frame.pts < point.first_pts:
            continue
        if end is None and frame.rotation:
            encoder.set_display_rotation(frame.rotation)
        progress(max(frame.time - span.low, 0.0), span.end - span.start, "encoding")
        time = max(frame.time, span.low)
        duration = float((frame.duration or 0) * video.time_base) or float(1 / encoder.codec_context.framerate)
        stated_end = frame.time + duration
        shown_until = stated_end if stated_end > time else span.high
        end = min(shown_until, max(span.high, time + float(VIDEO_TICK)))
        ticks = round((time - span.low) / VIDEO_TICK) if frame.pts > point.first_pts else 0
        converted = frame.reformat(encoder.width, encoder.height, "yuv420p")
        converted.pts, converted.time_base, converted.pict_type = ticks, VIDEO_TICK, 0
        durations[ticks] = max(round((end - time) / VIDEO_TICK), 1)
        _mux(encoder, converted, durations)
    _mux(encoder, None, durations)
    return end


def _mux(encoder: Any, frame: Any, durations: dict[int, int]) -> None:
    for packet in encoder.encode(frame):
        packet.duration = durations.pop(packet.pts, packet.duration)
        encoder.container.mux_one(packet)


def _write_audio(container: InputContainer, audio: Any, track: Any, span: Span) -> None:
    if codec_name(audio) not in MP4_AUDIO_CODECS:
        encode_audio(container, audio, track, span.low, span.high)
        return
    seek(container, audio, span.low - 0.5)
    for packet in timestamped_packets(container, [audio]):
        copy_audio_packet(track, packet, preroll=False)
        if track.done:
            return
