"""Where the pictures and sounds of a clip lie in the source: key picture, first and last picture shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.formats.media.streams import codec_name, lasts_until, measure_duration, read_packets, start_time
from citekit.adapters.libraries.pyav import library
from citekit.domain.errors import ExtractionFailed, LocationOutside
from citekit.domain.locations import TimeSpan

if TYPE_CHECKING:
    from av.container import InputContainer

TOLERANCE = 0.001
"""Seconds by which times that mean the same picture may differ: the coarsest tick of the usual containers."""

_STEPS_BACK = (0.0, 0.2, 1.0, 3.0, 10.0, 30.0, 1e6)
"""Seconds before the asked time from which a key picture is looked for: not every container has a good index."""

_RESYNC_MARGIN = 1.0
"""Seconds further back that a program stream is gone to: after a seek its first times may belong to other pictures."""

_UNSEEKABLE_CODECS = {"flac", "speex"}
"""Sound whose times in Ogg hold only from the beginning on: after a seek FFmpeg counts some of them twice."""

_REORDER_LIMIT = 32
"""Packets without a decoding time that are held back at most: more than any codec reorders."""


@frozen
class Span:
    """The asked part in seconds from the container's start; `zero` is that start in the container's own time."""

    start: float
    end: float
    zero: float

    @property
    def low(self) -> float:
        """The start in the container's own time."""
        return self.start + self.zero

    @property
    def high(self) -> float:
        """The end in the container's own time."""
        return self.end + self.zero


def requested_span(container: InputContainer, location: TimeSpan) -> Span:
    """The part of `location` that the container really has. Raises `LocationOutside` where that is nothing."""
    if location.end is not None and lasts_until(container, location.end):
        return Span(location.start, location.end, start_time(container))
    duration = measure_duration(container).playable
    if location.start >= duration:
        raise LocationOutside(
            f"{location.start:g} s is beyond the end: the recording lasts {duration:.3f} s. Ask for an earlier part."
        )
    end = duration if location.end is None else min(location.end, duration)
    return Span(location.start, end, start_time(container))


@frozen
class SeekPoint:
    """The key picture that decoding starts from, and the picture shown at the start of a span, in stream ticks."""

    key_pts: int
    key_dts: int
    first_pts: int


def find_seek_point(container: InputContainer, stream: Any, time: float) -> SeekPoint:
    """Find the pictures around `time` (container's own time). Raises `LocationOutside` where no picture is shown.

    A seek goes by decoding times; where the picture found is shown after `time`, the one before is looked for.
    """
    found: SeekPoint | None = None
    for step in _STEPS_BACK:
        found = _seek_point_near(container, stream, time, time - step)
        if found is not None and found.key_pts * stream.time_base <= time + TOLERANCE:
            return found
    if found is None:
        raise LocationOutside("No picture is shown in that part of the video.")
    return found


def _seek_point_near(container: InputContainer, stream: Any, time: float, back: float) -> SeekPoint | None:
    seek(container, stream, back)
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
    """Seek `stream` to the key picture at or before `time` (container's own time), or to the beginning.

    Where the times of what comes first after a seek cannot be trusted, it is one further back.
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


def seek_time(container: InputContainer, stream: Any, key: SeekPoint) -> float:
    """The time by which a seek finds `key`: Matroska is indexed by when pictures are shown, others by decoding."""
    ticks = key.key_pts if "matroska" in container.format.name else key.key_dts
    return float(ticks * stream.time_base)


def seek_to(container: InputContainer, stream: Any, key: SeekPoint) -> None:
    """Seek `stream` to the key picture `key`."""
    seek(container, stream, seek_time(container, stream, key))


def timestamped_packets(container: InputContainer, streams: list[Any]) -> Iterator[Any]:
    """Packets with both timestamps, up to the end or the first damage.

    The first decoding times after a seek may be unknown; they are counted back from the first that is known.
    """
    unknown: dict[int, list[Any]] = {stream.index: [] for stream in streams}
    for packet in read_packets(container, streams):
        pts, dts, index = packet.pts, packet.dts, packet.stream_index
        if pts is None:
            packet.pts = dts
        if index in unknown:
            if dts is None and len(unknown[index]) < _REORDER_LIMIT:
                unknown[index].append(packet)
                continue
            yield from _with_decoding_times(unknown.pop(index), packet.pts if dts is None else dts)
        if dts is None:
            packet.dts = packet.pts
        yield packet
    for waiting in unknown.values():
        yield from _with_decoding_times(waiting, None)


def _with_decoding_times(packets: list[Any], following: int | None) -> Iterator[Any]:
    for place, packet in enumerate(packets):
        before = (len(packets) - place) * max(packet.duration or 1, 1)
        packet.dts = packet.pts if following is None else min(following - before, packet.pts)
        yield packet


def nothing_readable(name: str) -> ExtractionFailed:
    """The error for a part in which not one packet was found."""
    return ExtractionFailed(f"Nothing of {name} could be read in that part: the file is damaged there.")
