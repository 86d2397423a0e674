"""Finds the keyframe and the first shown frame of a clip in its source, and reads packets from there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.formats.media.streams import codec_name, lasts_until, measure_duration, read_packets, start_time
from citekit.adapters.libraries.pyav import library
from citekit.domain.errors import ExtractionFailed, LocationOutside
from citekit.domain.locations import TimeSpan
from citekit.domain.numbers import shortest

if TYPE_CHECKING:
    from av.container import InputContainer

TOLERANCE = 0.001
"""The largest difference, in seconds, between times of the same frame: one tick of Matroska.

A clip lasts at least this long.
"""

_STEPS_BACK = (0.0, 0.2, 1.0, 3.0, 10.0, 30.0, 1e6)
"""How many seconds before a time to look for its keyframe, step by step, because some containers have poor indexes."""

_RESYNC_MARGIN = 1.0
"""Additional seconds to seek back in a program stream. Its first times after a seek can belong to other frames."""

_UNSEEKABLE_CODECS = {"flac", "speex"}
"""Codecs whose times in Ogg files are correct only if the file is read from its start, not after a seek of FFmpeg."""

_REORDER_LIMIT = 32
"""The maximum number of packets without a decoding time that are held back: more than common codecs reorder."""


@frozen
class Span:
    """The requested span in seconds from the start of the recording, which is at `zero` in the container's own time."""

    start: float
    end: float
    zero: float

    @property
    def low(self) -> float:
        """The start of the span in seconds of the container's own time."""
        return self.start + self.zero

    @property
    def high(self) -> float:
        """The end of the span in seconds of the container's own time."""
        return self.end + self.zero


def requested_span(container: InputContainer, location: TimeSpan) -> Span:
    """Return `location` limited to the duration of the recording.

    Raise `LocationOutside` if `location` starts at or after the end of the recording, and the errors of
    `measure_duration`.
    """
    if location.end is not None and lasts_until(container, location.end):
        return Span(location.start, location.end, start_time(container))
    duration = measure_duration(container).playable
    if location.start >= duration:
        raise LocationOutside(
            f"{shortest(location.start)} s is beyond the end: the recording lasts {duration:.3f} s. Request an earlier part."
        )
    end = duration if location.end is None else min(location.end, duration)
    return Span(location.start, end, start_time(container))


@frozen
class SeekPoint:
    """The timestamps of the keyframe where decoding starts, and of the frame that is shown at the start of a span.

    They are in units of the stream's time base.
    """

    key_pts: int
    key_dts: int
    first_pts: int


def find_seek_point(container: InputContainer, stream: Any, time: float) -> SeekPoint:
    """Return the keyframe needed to decode the frame shown at `time`, and that frame.

    `time` is in seconds of the container's own time. Raise `LocationOutside` if no keyframe is found.
    """
    point: SeekPoint | None = None
    for step in _STEPS_BACK:
        point = _seek_point_near(container, stream, time, time - step)
        if point is not None and point.key_pts * stream.time_base <= time + TOLERANCE:
            return point
    if point is None:
        raise LocationOutside("The video has no keyframe, so none of its frames can be decoded. It may be damaged.")
    return point


def _seek_point_near(container: InputContainer, stream: Any, time: float, seek_target: float) -> SeekPoint | None:
    seek(container, stream, seek_target)
    key: Any = None
    first: int | None = None
    limit = (time + TOLERANCE) / float(stream.time_base)
    for packet in timestamped_packets(container, [stream]):
        if key is None and not packet.is_keyframe:
            continue
        if key is None or (packet.is_keyframe and packet.pts <= limit):
            key = packet
        if packet.pts <= limit:
            first = packet.pts if first is None else max(first, packet.pts)
        if packet.dts > limit:
            break
    if key is None:
        return None
    return SeekPoint(key.pts, key.dts, key.pts if first is None else max(first, key.pts))


def seek(container: InputContainer, stream: Any, time: float) -> None:
    """Seek `stream` to a keyframe at or before `time`, or to the start if seeking fails.

    `time` is in seconds of the container's own time.
    """
    first = min(stream.start_time or 0, 0)
    if container.format.name == "mpeg":
        time -= _RESYNC_MARGIN
    ticks = max(int(time / float(stream.time_base)), first)
    if container.format.name == "ogg" and codec_name(stream) in _UNSEEKABLE_CODECS:
        ticks = first
    try:
        container.seek(ticks, stream=stream, backward=True)
    except library().error.FFmpegError:
        container.seek(0, backward=True)


def seek_time(container: InputContainer, stream: Any, point: SeekPoint) -> float:
    """Return the time, in seconds, to which a seek must go to find the keyframe of `point`.

    Matroska indexes presentation times; other formats are assumed to index decoding times.
    """
    ticks = point.key_pts if "matroska" in container.format.name else point.key_dts
    return float(ticks * stream.time_base)


def seek_to(container: InputContainer, stream: Any, point: SeekPoint) -> None:
    """Seek `stream` to the keyframe where decoding starts for `point`."""
    seek(container, stream, seek_time(container, stream, point))


def timestamped_packets(container: InputContainer, streams: list[Any]) -> Iterator[Any]:
    """Yield packets up to the end or the first damage. Missing presentation and decoding times are derived from known
    ones.
    """
    undated: dict[int, list[Any]] = {stream.index: [] for stream in streams}
    for packet in read_packets(container, streams):
        pts, dts, index = packet.pts, packet.dts, packet.stream_index
        if pts is None:
            packet.pts = dts
        if index in undated:
            if dts is None and len(undated[index]) < _REORDER_LIMIT:
                undated[index].append(packet)
                continue
            yield from _with_decoding_times(undated.pop(index), packet.pts if dts is None else dts)
        if dts is None:
            packet.dts = packet.pts
        yield packet
    for packets in undated.values():
        yield from _with_decoding_times(packets, None)


def _with_decoding_times(packets: list[Any], next_dts: int | None) -> Iterator[Any]:
    for index, packet in enumerate(packets):
        before = (len(packets) - index) * max(packet.duration or 1, 1)
        packet.dts = packet.pts if next_dts is None else min(next_dts - before, packet.pts)
        yield packet


def nothing_readable(name: str) -> ExtractionFailed:
    """Return the error for a span of the file `name` in which no packet can be read."""
    return ExtractionFailed(f"This part of {name} cannot be read. The file may be damaged there.")
