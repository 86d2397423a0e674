"""Selects the parts of a video that must be decoded to find its scene cuts.

First, keyframes are compared with each other, and the sizes of the packets between them are examined. A cut makes one
packet much larger than its neighbors, because little of the previous frame can be reused. If two successive keyframes
are similar, and no packet between them is unusually large, there is no cut between them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from citekit.adapters.formats.media.outline.thumbnails import ThumbnailMaker, difference
from citekit.adapters.formats.media.streams import decode_packet, flush_decoder, read_packets, start_time, video_stream
from citekit.adapters.libraries.pyav import open_media
from citekit.domain.progress import Progress

MIN_INTERVAL = 0.9
"""Seconds between compared keyframes if the film has more of them."""

SAME_SCENE_DIFFERENCE = 6.0
"""The largest difference, in gray levels, between keyframes of a scene without motion."""

PACKET_LIMIT = 4_000_000
"""The highest number of packets that are examined: 18 hours at 60 frames per second."""

_OUTLIER_FACTOR = 2.5
_MIN_KEYFRAME_SHARE = 0.15


@frozen
class KeyframeInterval:
    """The packets between two compared keyframes. Packets are numbered, and times are in seconds.

    `first_packet` is included, and `end_packet` is not. `change` is the difference between the two keyframes in gray
    levels. `outliers` are the packets that are unusually large, and `outlier_times` their times.
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

    Raise `SourceUnsupported` if the file can't be decoded, and `Cancelled` if the caller cancels.
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
    """Return the numbers of the packets from `first` to `end` (exclusive) that are much larger than their neighbors.

    A packet is compared with the 80th percentile of its neighbors' sizes. Keyframes are ignored.
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
