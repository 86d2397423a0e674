"""Which stretches of a film have to be decoded at all to find its scene cuts.

Key pictures are compared first, and the sizes of the packets between them: where two key pictures are alike and no packet
stands out, nothing happens between. A cut inside makes one packet much larger than its neighbours, because little of the
picture before it can be used.
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
"""Seconds between the key pictures that are compared, where the film has more of them."""

SAME_SCENE_DIFFERENCE = 6.0
"""Grey levels by which key pictures of one scene differ that nobody moves in."""

PACKET_LIMIT = 4_000_000
"""Packets that are looked at: 18 hours of 60 pictures a second."""

_OUTLIER_FACTOR = 2.5
_MIN_KEYFRAME_SHARE = 0.15


@frozen
class KeyframeInterval:
    """From one compared key picture to the next, as numbers of packets: `first` included, `end` excluded.

    `change` is the difference of those two pictures in grey levels, `hints` the packets that stand out by their size, and
    `starts`, `ends` are seconds.
    """

    first_packet: int
    end_packet: int
    start_time: float
    end_time: float
    change: float
    outliers: Sequence[int] = field(converter=tuple[int, ...])
    outlier_times: Sequence[float] = field(default=(), converter=tuple[float, ...])


def keyframe_intervals(path: Path, duration: float, progress: Progress) -> list[KeyframeInterval]:
    """The stretches of the film at `path`, in order. Raises `SourceUnsupported`, `Cancelled`."""
    sizes, times, keys = array("I"), array("d"), bytearray()
    marks: list[tuple[int, float, Any]] = []
    with open_media(path) as container:
        stream: Any = video_stream(container)
        stream.thread_type = "SLICE"
        stream.codec_context.options = {**stream.codec_context.options, "skip_loop_filter": "all"}
        zero = start_time(container)
        copies = ThumbnailMaker()
        for number, packet in enumerate(read_packets(container, [stream])):
            time = float((packet.pts if packet.pts is not None else packet.dts) * packet.time_base) - zero
            sizes.append(packet.size)
            times.append(time)
            keys.append(packet.is_keyframe)
            if packet.is_keyframe and (not marks or time - marks[-1][1] >= MIN_INTERVAL):
                shown = [*decode_packet(stream, packet), *flush_decoder(stream)]
                if shown:
                    marks.append((number, time, copies.thumbnail(shown[0])))
                    progress(min(time, duration), 3 * duration, "comparing key pictures")
            if number >= PACKET_LIMIT:
                break
    return list(_intervals(marks, sizes, times, keys, duration))


def _intervals(
    marks: Sequence[tuple[int, float, Any]], sizes: array[int], times: array[float], keys: bytearray, duration: float
) -> Iterator[KeyframeInterval]:
    for position, (first, time, copy) in enumerate(marks):
        last = position + 1 == len(marks)
        end = len(sizes) if last else marks[position + 1][0]
        change = 255.0 if last else difference(copy, marks[position + 1][2])
        hints = _outliers(sizes, keys, first, end)
        yield KeyframeInterval(first, end, time, duration if last else marks[position + 1][1], change, hints,
                      [times[each] for each in hints])  # fmt: skip


def _outliers(sizes: array[int], keys: bytearray, first: int, end: int) -> list[int]:
    """The packets, key packets aside, that are much larger than the larger ones around them."""
    inner = [number for number in range(first, end) if not keys[number]]
    found = []
    for place, number in enumerate(inner):
        if sizes[number] < _MIN_KEYFRAME_SHARE * sizes[first]:
            continue
        around = sorted(sizes[each] for each in inner[max(place - 12, 0) : place + 13] if each != number)
        usual = around[len(around) * 4 // 5] if around else 0
        if sizes[number] > _OUTLIER_FACTOR * usual:
            found.append(number)
    return found
