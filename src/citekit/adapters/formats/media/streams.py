"""Determines which streams of an open container are played, when the container starts, and when it really ends.

Unless stated otherwise, times are in seconds from the container's own start time, as players show them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.domain.errors import SourceUnsupported

if TYPE_CHECKING:
    from av.container import InputContainer

SMALL_FILE = 64 * 2**20
"""The largest file, in bytes, that is read completely if it has no full index and its declared duration looks wrong."""

TAIL_STEPS = (10.0, 60.0, 600.0)
"""How many seconds before the declared end to look for the last packets, step by step."""

DURATION_TOLERANCE = 0.1
"""The allowed difference in seconds between declared and measured duration: codec delay and padding."""

WARM_UP_FRAMES = 16
"""The number of frames before the first wanted frame that are decoded, too, because a decoder learns the frame order
from them.
"""

_ESTIMATED_DURATION = {"mp3", "aac", "ac3", "eac3", "h264", "hevc", "m4v", "mpegvideo", "amr", "gif"}
"""Formats without an index, for which FFmpeg only estimates the duration."""


@frozen
class MediaDuration:
    """The duration of a recording in seconds: when the last frame ends (`playable`), and what the container states, if
    anything.
    """

    playable: float
    declared: float | None


def video_stream(container: InputContainer) -> Any | None:
    """Return the video stream that players show, or None if there is none."""
    return _preferred(video_streams(container))


def video_streams(container: InputContainer) -> list[Any]:
    """Return the video streams that can be shown, without cover art."""
    return [
        stream
        for stream in container.streams.video
        if not stream.disposition & type(stream.disposition).attached_pic
        and stream.codec_context is not None
        and stream.width
        and stream.height
    ]


def audio_streams(container: InputContainer) -> list[Any]:
    """Return the audio streams that can be played."""
    return [s for s in container.streams.audio if s.codec_context is not None and s.codec_context.sample_rate]


def _preferred(streams: list[Any]) -> Any | None:
    """Return the first stream that is marked as default, or else the first stream; None if there is none."""
    default = [stream for stream in streams if stream.disposition & type(stream.disposition).default]
    return next(iter(default or streams), None)


def audio_stream(container: InputContainer) -> Any | None:
    """Return the audio stream that players play, or None if there is none."""
    return _preferred(audio_streams(container))


def playable_streams(container: InputContainer) -> list[Any]:
    """Return the video and the audio stream that players use. Raise `SourceUnsupported` if both are missing."""
    streams = [stream for stream in (video_stream(container), audio_stream(container)) if stream is not None]
    if not streams:
        raise SourceUnsupported(
            f"{Path(container.name).name} contains nothing that can be played: it has no readable video or audio stream."
        )
    return streams


def start_time(container: InputContainer) -> float:
    """Return the time, in seconds of the container's own time, that players show as 0."""
    return (container.start_time or 0) / 1_000_000


def codec_name(stream: Any) -> str:
    """Return FFmpeg's canonical name of the stream's codec, such as `mp3`."""
    return str(stream.codec_context.codec.canonical_name)


def measure_duration(container: InputContainer) -> MediaDuration:
    """Return when the recording really ends, and its declared duration.

    Raise `SourceUnsupported` if there is no stream that can be played, or if no packet can be read.
    """
    streams = playable_streams(container)
    declared = None if container.duration is None else container.duration / 1_000_000
    indexed = _end_by_index(container, streams)
    if indexed is not None:
        return MediaDuration(indexed, declared)
    measured = _end_by_packets(container, streams, declared)
    if measured is None or measured <= 0:
        raise SourceUnsupported(
            f"{Path(container.name).name} contains nothing that can be played: none of its packets can be read."
        )
    if declared is not None and abs(declared - measured) > DURATION_TOLERANCE >= abs(
        declared - start_time(container) - measured
    ):
        declared -= start_time(container)  # the container counts from 0, but the stream starts later
    agree = declared is not None and abs(declared - measured) <= DURATION_TOLERANCE
    return MediaDuration(declared if agree and declared else measured, declared)


def _end_by_index(container: InputContainer, streams: list[Any]) -> float | None:
    """Return when an MP4 ends, in seconds, according to its sample tables; None for other formats and incomplete files."""
    if "mp4" not in container.format.name or any(not s.duration or not len(s.index_entries) for s in streams):
        return None
    for stream in streams:
        last = stream.index_entries[-1]
        if last.pos + last.size > container.size:
            return None
    zero = start_time(container)
    return max(float(((s.start_time or 0) + s.duration) * s.time_base) - zero for s in streams)


def lasts_until(container: InputContainer, time: float) -> bool:
    """Return whether the container certainly lasts at least `time` seconds.

    If the result is False, it may still last that long, which `measure_duration` finds out. Raise `SourceUnsupported`
    if there is no stream that can be played.
    """
    streams = playable_streams(container)
    indexed = _end_by_index(container, streams)
    if indexed is not None:
        return time <= indexed
    if container.duration is not None and container.duration / 1_000_000 < time:
        return False
    time += start_time(container)
    ticks = {stream.index: time / float(stream.time_base) for stream in streams}
    packet_ends = _packet_ends(_packets_from(container, streams, time))
    return any(end >= ticks[index] for index, end in packet_ends)


def _end_by_packets(container: InputContainer, streams: list[Any], declared: float | None) -> float | None:
    zero = start_time(container)
    if declared is not None:
        read_whole = container.size <= SMALL_FILE or container.format.name in _ESTIMATED_DURATION
        for step in TAIL_STEPS[: 1 if read_whole else None]:
            end = _latest_end(_packets_from(container, streams, max(declared - step, 0.0) + zero), streams)
            if end is not None and (not read_whole or abs(declared - (end - zero)) <= DURATION_TOLERANCE):
                return end - zero
    end = _latest_end(_packets_from(container, streams, zero), streams)
    return None if end is None else end - zero


def _packets_from(container: InputContainer, streams: list[Any], time: float) -> Iterator[Any]:
    """Yield the packets from the keyframe at or before `time` (in the container's own time) on; nothing if the seek
    fails.
    """
    try:
        container.seek(int(time * 1_000_000), backward=True)
    except _ffmpeg_error():
        return
    yield from read_packets(container, streams)


def read_packets(container: InputContainer, streams: list[Any]) -> Iterator[Any]:
    """Yield the packets of `streams` that have data and a timestamp, up to the end or the first damage."""
    av_error = _ffmpeg_error()
    try:
        for packet in container.demux(streams):
            if packet.size and (packet.pts is not None or packet.dts is not None):
                yield packet
    except av_error:
        return


def _latest_end(packets: Iterable[Any], streams: list[Any]) -> float | None:
    latest: dict[int, float] = {}
    for index, end in _packet_ends(packets):
        if end > latest.get(index, -math.inf):
            latest[index] = end
    return max((float(latest[s.index] * s.time_base) for s in streams if s.index in latest), default=None)


def _packet_ends(packets: Iterable[Any]) -> Iterator[tuple[int, float]]:
    """Yield the stream index of each packet, and when it ends, in units of that stream's time base."""
    lengths: dict[int, float] = {}
    for packet in packets:
        index, length = packet.stream_index, packet.duration
        if not length:
            if index not in lengths:
                lengths[index] = default_duration(packet.stream)
            length = lengths[index]
        ticks = packet.pts
        yield index, (packet.dts if ticks is None else ticks) + length


def packet_end(packet: Any) -> float:
    """Return when `packet` stops being shown or heard, in seconds of the container's own time."""
    ticks = packet.pts if packet.pts is not None else packet.dts
    return float((ticks + (packet.duration or default_duration(packet.stream))) * packet.time_base)


def default_duration(stream: Any) -> float:
    """Return how long a video packet without a duration is shown, in units of the stream's time base; 0 for audio and
    for an unknown frame rate.
    """
    rate = getattr(stream, "average_rate", None)
    return float(1 / rate / stream.time_base) if rate else 0.0


def decode_frames(container: InputContainer, stream: Any, from_tick: int | None = None) -> Iterator[Any]:
    """Yield the frames of `stream` from the current position of the container on. Damaged packets are skipped.

    With `from_tick` (in units of the stream's time base), frames much earlier are not decoded if no other frame refers
    to them.
    """
    av_error = _ffmpeg_error()
    skipping = False
    for packet in container.demux(stream):
        if from_tick is not None:
            early = packet.pts is not None and packet.pts < from_tick - WARM_UP_FRAMES * (packet.duration or 0)
            if early != skipping:
                skipping = early
                stream.codec_context.skip_frame = "NONREF" if early else "DEFAULT"
        try:
            frames = packet.decode()
        except av_error:
            continue
        yield from frames


def decode_packet(stream: Any, packet: Any) -> list[Any]:
    """Return the frames that the decoder completes with `packet`, or an empty list if the packet is damaged."""
    try:
        return list(stream.codec_context.decode(packet))
    except _ffmpeg_error():
        return []


def flush_decoder(stream: Any) -> list[Any]:
    """Return the frames that the decoder has not returned yet, and reset it."""
    context = stream.codec_context
    frames = decode_packet(stream, None)
    context.flush_buffers()
    return frames


def _ffmpeg_error() -> type[Exception]:
    from citekit.adapters.libraries.pyav import library

    return library().error.FFmpegError  # type: ignore[no-any-return]
