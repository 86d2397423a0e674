"""Finds the scene cuts of a video.

In a long video, keyframes are compared, and the sizes of the packets between them are examined. A cut makes one packet
much larger than its neighbors, because little of the previous frame can be reused. The frames between two similar
keyframes without such a packet are not decoded.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from citekit.adapters.formats.media.outline.thumbnails import ThumbnailMaker, difference
from citekit.adapters.formats.media.outline.transitions import (
    MIN_CHANGE,
    Transition,
    find_transitions,
    merge_transitions,
)
from citekit.adapters.formats.media.streams import (
    decode_frames,
    decode_packet,
    flush_decoder,
    read_packets,
    start_time,
    video_stream,
)
from citekit.adapters.libraries.pyav import open_media
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from PIL.Image import Image

FULL_DECODE_BUDGET = 1280 * 720 * 24 * 90
"""The maximum number of pixels, over all frames, of a video of which every frame is decoded: 90 seconds of 720p."""

PARTIAL_DECODE_BUDGET = 1280 * 720 * 24 * 2400
"""The maximum number of pixels, over all frames, of a video in which frames between keyframes are decoded if something
changes there: 40 minutes of 720p.
"""

MIN_SCENE = 0.6
"""The shortest scene, in seconds."""

SCENE_LIMIT = 2000
"""The maximum number of scenes. If there are more, the weakest cuts are dropped."""

_NEAR_OUTLIER = 0.25
_KEYFRAME_CHANGE = 2.5 * MIN_CHANGE

TimedThumbnails = Iterator[tuple[float, "Image"]]

MIN_INTERVAL = 0.9
"""The minimum number of seconds between two compared keyframes."""

SAME_SCENE_DIFFERENCE = 6.0
"""The largest difference, in gray levels, between keyframes of a scene without motion."""

PACKET_LIMIT = 4_000_000
"""The maximum number of packets that are examined: 18 hours at 60 frames per second."""

_OUTLIER_FACTOR = 2.5
_MIN_KEYFRAME_SHARE = 0.15


@frozen
class SceneCuts:
    """The times, in seconds, at which scenes start, except the first; less exact if only keyframes were compared."""

    times: Sequence[float]
    keyframes_only: bool


def find_cuts(
    path: Path, duration: float, frame_rate: float | None, size: tuple[int, int], progress: Progress
) -> SceneCuts:
    """Find the scene cuts of the video at `path`.

    `size` is the width and height in pixels, and `duration` is in seconds. Raise the errors of `open_media`, and
    `Cancelled` if the caller cancels.
    """
    pixels = size[0] * size[1] * (frame_rate or 25.0) * duration
    if pixels <= FULL_DECODE_BUDGET:
        return SceneCuts(_spaced_times(find_transitions(_every_picture(path, duration, progress)), duration), False)
    intervals = keyframe_intervals(path, duration, progress)
    if pixels > PARTIAL_DECODE_BUDGET:
        return SceneCuts(_spaced_times(_keyframe_cuts(intervals), duration), True)
    chosen = [interval for interval in intervals if interval.change >= SAME_SCENE_DIFFERENCE or interval.outliers]
    pictures = _decode_intervals(path, duration, chosen, progress)
    runs = groupby(pictures, key=itemgetter(0))
    found = [each for _, run in runs for each in find_transitions((time, thumbnail) for _, time, thumbnail in run)]
    return SceneCuts(_spaced_times(merge_transitions(found), duration), False)


def _every_picture(path: Path, duration: float, progress: Progress) -> TimedThumbnails:
    """Yield every frame of a short video as a thumbnail, with its time."""
    thumbnails = ThumbnailMaker()
    with open_media(path) as container:
        stream = _fast_video_stream(container)
        zero = start_time(container)
        for number, frame in enumerate(decode_frames(container, stream)):
            if number % 64 == 0:
                progress(
                    min(max(frame.time - zero, 0.0), duration) if frame.pts is not None else 0.0,
                    duration,
                    "looking for scene cuts",
                )
            if frame.pts is not None:
                yield frame.time - zero, thumbnails.thumbnail(frame)


def _fast_video_stream(container: Any) -> Any:
    stream: Any = video_stream(container)
    stream.thread_type = "AUTO"
    stream.codec_context.options = {**stream.codec_context.options, "skip_loop_filter": "all"}
    return stream


def _decode_intervals(
    path: Path, duration: float, intervals: Sequence[KeyframeInterval], progress: Progress
) -> Iterator[tuple[int, float, Image]]:
    """Yield each decoded frame of `intervals`: the number of its group of adjacent intervals, its time in seconds, and
    its thumbnail.
    """
    thumbnails = ThumbnailMaker()
    with open_media(path) as container:
        stream = _fast_video_stream(container)
        zero = start_time(container)
        for run, packets in enumerate(_packet_runs(read_packets(container, [stream]), intervals)):
            for packet, interval in packets:
                seconds = float((packet.pts if packet.pts is not None else packet.dts) * packet.time_base) - zero
                stream.codec_context.skip_frame = "DEFAULT" if _is_near_outlier(seconds, interval) else "NONREF"
                for frame in decode_packet(stream, packet):
                    if frame.pts is not None:
                        yield run, float(frame.pts * stream.time_base) - zero, thumbnails.thumbnail(frame)
                progress(min(max(duration / 3 + 2 * seconds / 3, 0.0), duration), duration, "looking for scene cuts")
            for frame in flush_decoder(stream):
                if frame.pts is not None:
                    yield run, float(frame.pts * stream.time_base) - zero, thumbnails.thumbnail(frame)


def _packet_runs(
    packets: Iterator[Any], intervals: Sequence[KeyframeInterval]
) -> Iterator[Iterator[tuple[Any, KeyframeInterval]]]:
    """Yield the packets of each group of adjacent intervals and the keyframe after it, each paired with its interval."""
    numbered = enumerate(packets)
    for run in _adjacent(intervals):
        yield _packets_of_run(numbered, run)


def _packets_of_run(
    numbered: Iterator[tuple[int, Any]], run: Sequence[KeyframeInterval]
) -> Iterator[tuple[Any, KeyframeInterval]]:
    remaining = list(reversed(run))
    for number, packet in numbered:
        if number < run[0].first_packet:
            continue
        while len(remaining) > 1 and number >= remaining[-1].end_packet:
            remaining.pop()
        yield packet, remaining[-1]
        if number >= run[-1].end_packet:
            return


def _adjacent(intervals: Sequence[KeyframeInterval]) -> list[list[KeyframeInterval]]:
    """Group intervals that directly follow each other."""
    runs: list[list[KeyframeInterval]] = []
    for interval in intervals:
        if runs and runs[-1][-1].end_packet >= interval.first_packet:
            runs[-1].append(interval)
        else:
            runs.append([interval])
    return runs


def _is_near_outlier(seconds: float, interval: KeyframeInterval) -> bool:
    return any(abs(seconds - outlier) < _NEAR_OUTLIER for outlier in interval.outlier_times)


def _keyframe_cuts(intervals: Sequence[KeyframeInterval]) -> list[Transition]:
    """Return the transitions where two keyframes differ by at least `_KEYFRAME_CHANGE` and 1.2 times the median change."""
    median = sorted(interval.change for interval in intervals)[len(intervals) // 2] if intervals else 0.0
    limit = max(_KEYFRAME_CHANGE, 1.2 * median)
    return [
        Transition(interval.outlier_times[0] if interval.outlier_times else interval.end_time, interval.change)
        for interval in intervals[:-1]
        if interval.change >= limit
    ]


def _spaced_times(found: Sequence[Transition], duration: float) -> list[float]:
    """Return the times of the strongest transitions, at least `MIN_SCENE` seconds apart and from both ends of the
    video.
    """
    times: list[float] = []
    for each in sorted(found, key=lambda one: (-one.amount, one.time)):
        if len(times) >= SCENE_LIMIT - 1:
            break
        index = bisect_left(times, each.time)
        neighbors = [0.0, *times[max(index - 1, 0) : index + 1], duration]
        if all(abs(each.time - other) >= MIN_SCENE for other in neighbors):
            times.insert(index, each.time)
    return times


@frozen
class KeyframeInterval:
    """The packets between two compared keyframes, or after the last one. Packets are numbered, and times are in
    seconds.

    `end_packet` is not included. `change` is the difference between the two keyframes in gray levels, or 255 after the
    last one. `outliers` are unusually large packets.
    """

    first_packet: int
    end_packet: int
    start_time: float
    end_time: float
    change: float
    outliers: Sequence[int] = field(converter=tuple[int, ...])
    outlier_times: Sequence[float] = field(default=(), converter=tuple[float, ...])


def keyframe_intervals(path: Path, duration: float, progress: Progress) -> list[KeyframeInterval]:
    """Return the intervals between compared keyframes of the video at `path`, in order.

    Raise the errors of `open_media`, and `Cancelled` if the caller cancels.
    """
    sizes, times, keys = array("I"), array("d"), bytearray()
    compared: list[tuple[int, float, Any]] = []
    with open_media(path) as container:
        stream: Any = video_stream(container)
        stream.thread_type = "SLICE"
        stream.codec_context.options = {**stream.codec_context.options, "skip_loop_filter": "all"}
        zero = start_time(container)
        thumbnails = ThumbnailMaker()
        for number, packet in enumerate(read_packets(container, [stream])):
            time = float((packet.pts if packet.pts is not None else packet.dts) * packet.time_base) - zero
            sizes.append(packet.size)
            times.append(time)
            keys.append(packet.is_keyframe)
            if packet.is_keyframe and (not compared or time - compared[-1][1] >= MIN_INTERVAL):
                frames = [*decode_packet(stream, packet), *flush_decoder(stream)]
                if frames:
                    compared.append((number, time, thumbnails.thumbnail(frames[0])))
                    progress(min(time, duration), 3 * duration, "comparing keyframes")
            if number >= PACKET_LIMIT:
                break
    return list(_intervals(compared, sizes, times, keys, duration))


def _intervals(
    compared: Sequence[tuple[int, float, Any]], sizes: array[int], times: array[float], keys: bytearray, duration: float
) -> Iterator[KeyframeInterval]:
    for position, (first, time, thumbnail) in enumerate(compared):
        last = position + 1 == len(compared)
        end = len(sizes) if last else compared[position + 1][0]
        change = 255.0 if last else difference(thumbnail, compared[position + 1][2])
        outliers = _outliers(sizes, keys, first, end)
        yield KeyframeInterval(first, end, time, duration if last else compared[position + 1][1], change, outliers,
                      [times[each] for each in outliers])  # fmt: skip


def _outliers(sizes: array[int], keys: bytearray, first: int, end: int) -> list[int]:
    """Return the numbers of the packets from `first` to `end` (exclusive), without keyframes, that are much larger than
    their neighbors.
    """
    inner = [number for number in range(first, end) if not keys[number]]
    outliers = []
    for index, number in enumerate(inner):
        if sizes[number] < _MIN_KEYFRAME_SHARE * sizes[first]:
            continue
        neighbors = sorted(sizes[each] for each in inner[max(index - 12, 0) : index + 13] if each != number)
        typical = neighbors[len(neighbors) * 4 // 5] if neighbors else 0
        if sizes[number] > _OUTLIER_FACTOR * typical:
            outliers.append(number)
    return outliers
