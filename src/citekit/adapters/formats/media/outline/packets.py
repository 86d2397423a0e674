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

from citekit.adapters.formats.media.outline.thumbnails import Thumbnails, difference
from citekit.adapters.formats.media.streams import decoded, drained, origin, picture, readable
from citekit.adapters.libraries.pyav import opened
from citekit.domain.progress import Progress

STRETCH = 0.9
"""Seconds between the key pictures that are compared, where the film has more of them."""

ALIKE = 6.0
"""Grey levels by which key pictures of one scene differ that nobody moves in."""

PACKET_LIMIT = 4_000_000
"""Packets that are looked at: 18 hours of 60 pictures a second."""

_OUTLIER = 2.5
_OF_KEY = 0.15


@frozen
class Stretch:
    """From one compared key picture to the next, as numbers of packets: `first` included, `end` excluded.

    `change` is the difference of those two pictures in grey levels, `hints` the packets that stand out by their size, and
    `starts`, `ends` are seconds.
    """

    first: int
    end: int
    starts: float
    ends: float
    change: float
    hints: Sequence[int] = field(converter=tuple[int, ...])
    hint_times: Sequence[float] = field(default=(), converter=tuple[float, ...])


def stretches(path: Path, duration: float, progress: Progress) -> list[Stretch]:
    """The stretches of the film at `path`, in order. Raises `SourceUnsupported`, `Cancelled`."""
    sizes, times, keys = array("I"), array("d"), bytearray()
    marks: list[tuple[int, float, Any]] = []
    with opened(path) as container:
        stream: Any = picture(container)
        stream.thread_type = "SLICE"
        stream.codec_context.options = {**stream.codec_context.options, "skip_loop_filter": "all"}
        zero = origin(container)
        copies = Thumbnails()
        for number, packet in enumerate(readable(container, [stream])):
            time = float((packet.pts if packet.pts is not None else packet.dts) * packet.time_base) - zero
            sizes.append(packet.size)
            times.append(time)
            keys.append(packet.is_keyframe)
            if packet.is_keyframe and (not marks or time - marks[-1][1] >= STRETCH):
                shown = [*decoded(stream, packet), *drained(stream)]
                if shown:
                    marks.append((number, time, copies.of(shown[0])))
                    progress(min(time, duration), 3 * duration, "comparing key pictures")
            if number >= PACKET_LIMIT:
                break
    return list(_between(marks, sizes, times, keys, duration))


def _between(
    marks: Sequence[tuple[int, float, Any]], sizes: array[int], times: array[float], keys: bytearray, duration: float
) -> Iterator[Stretch]:
    for position, (first, time, copy) in enumerate(marks):
        last = position + 1 == len(marks)
        end = len(sizes) if last else marks[position + 1][0]
        change = 255.0 if last else difference(copy, marks[position + 1][2])
        hints = _outliers(sizes, keys, first, end)
        yield Stretch(first, end, time, duration if last else marks[position + 1][1], change, hints,
                      [times[each] for each in hints])  # fmt: skip


def _outliers(sizes: array[int], keys: bytearray, first: int, end: int) -> list[int]:
    """The packets, key packets aside, that are much larger than the larger ones around them."""
    inner = [number for number in range(first, end) if not keys[number]]
    found = []
    for place, number in enumerate(inner):
        if sizes[number] < _OF_KEY * sizes[first]:
            continue
        around = sorted(sizes[each] for each in inner[max(place - 12, 0) : place + 13] if each != number)
        usual = around[len(around) * 4 // 5] if around else 0
        if sizes[number] > _OUTLIER * usual:
            found.append(number)
    return found
