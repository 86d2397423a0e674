"""The scene cuts of a film, found by decoding no more of it than is needed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.formats.media.outline.packets import ALIKE, Stretch, stretches
from citekit.adapters.formats.media.outline.thumbnails import Thumbnails
from citekit.adapters.formats.media.outline.transitions import NOTICEABLE, Transition, merged, transitions
from citekit.adapters.formats.media.streams import decoded, drained, frames_of, origin, picture, readable
from citekit.adapters.libraries.pyav import opened
from citekit.domain.progress import Progress

if TYPE_CHECKING:
    from PIL.Image import Image

WHOLE_BUDGET = 1280 * 720 * 24 * 90
"""Pixels, over all pictures, up to which every picture is decoded: a minute and a half of 720p."""

PIXEL_BUDGET = 1280 * 720 * 24 * 2400
"""Pixels up to which pictures between key pictures are decoded where something happens: 40 minutes of 720p."""

SHORTEST = 0.6
"""Seconds that a scene lasts at least."""

SCENE_LIMIT = 2000
"""Scenes at most: where there are more, the weakest cuts are left out."""

_CLOSE = 0.25
_COARSE = 2.5 * NOTICEABLE

Copies = Iterator[tuple[float, "Image"]]


@frozen
class Cuts:
    """The seconds at which scenes begin after the first; `coarse` where only key pictures were looked at."""

    times: Sequence[float]
    coarse: bool


def find_cuts(path: Path, duration: float, frame_rate: float | None, size: tuple[int, int], progress: Progress) -> Cuts:
    """The scene cuts of the video at `path`. Raises `SourceUnsupported`, `Cancelled`."""
    work = size[0] * size[1] * (frame_rate or 25.0) * duration
    if work <= WHOLE_BUDGET:
        return Cuts(_spaced(transitions(_all(path, duration, progress)), duration), False)
    parts = stretches(path, duration, progress)
    if work > PIXEL_BUDGET:
        return Cuts(_spaced(_coarse(parts), duration), True)
    chosen = [part for part in parts if part.change >= ALIKE or part.hints]
    pictures = _decoded(path, duration, chosen, progress)
    runs = groupby(pictures, key=itemgetter(0))
    found = [each for _, run in runs for each in transitions((time, copy) for _, time, copy in run)]
    return Cuts(_spaced(merged(found), duration), False)


def _all(path: Path, duration: float, progress: Progress) -> Copies:
    """Every picture of a short film."""
    copies = Thumbnails()
    with opened(path) as container:
        stream = _prepared(container)
        zero = origin(container)
        for number, frame in enumerate(frames_of(container, stream)):
            if number % 64 == 0:
                progress(
                    min(max(frame.time - zero, 0.0), duration) if frame.pts is not None else 0.0,
                    duration,
                    "looking for scene cuts",
                )
            if frame.pts is not None:
                yield frame.time - zero, copies.of(frame)


def _prepared(container: Any) -> Any:
    stream: Any = picture(container)
    stream.thread_type = "AUTO"
    stream.codec_context.options = {**stream.codec_context.options, "skip_loop_filter": "all"}
    return stream


def _decoded(
    path: Path, duration: float, parts: Sequence[Stretch], progress: Progress
) -> Iterator[tuple[int, float, Image]]:
    """The pictures of those stretches, each with the number of the unbroken run that it is in.

    Pictures that no other refers to are left out, unless a packet nearby stands out: a cut is found there to the picture.
    """
    copies = Thumbnails()
    with opened(path) as container:
        stream = _prepared(container)
        zero = origin(container)
        for run, packets in enumerate(_wanted(readable(container, [stream]), parts)):
            for packet, part in packets:
                seconds = float((packet.pts if packet.pts is not None else packet.dts) * packet.time_base) - zero
                stream.codec_context.skip_frame = "DEFAULT" if _is_close(seconds, part) else "NONREF"
                for frame in decoded(stream, packet):
                    if frame.pts is not None:
                        yield run, float(frame.pts * stream.time_base) - zero, copies.of(frame)
                progress(min(max(duration / 3 + 2 * seconds / 3, 0.0), duration), duration, "looking for scene cuts")
            for frame in drained(stream):
                if frame.pts is not None:
                    yield run, float(frame.pts * stream.time_base) - zero, copies.of(frame)


def _wanted(packets: Iterator[Any], parts: Sequence[Stretch]) -> Iterator[Iterator[tuple[Any, Stretch]]]:
    """The packets of the stretches, those of stretches that touch in one run, each run to the key packet behind it."""
    numbered = enumerate(packets)
    for joined in _joined(parts):
        yield _run(numbered, joined)


def _run(numbered: Iterator[tuple[int, Any]], parts: Sequence[Stretch]) -> Iterator[tuple[Any, Stretch]]:
    remaining = list(reversed(parts))
    for number, packet in numbered:
        if number < parts[0].first:
            continue
        while len(remaining) > 1 and number >= remaining[-1].end:
            remaining.pop()
        yield packet, remaining[-1]
        if number >= parts[-1].end:
            return


def _joined(parts: Sequence[Stretch]) -> list[list[Stretch]]:
    """Stretches that follow one another at once, together; the packet behind a run belongs to no other run."""
    runs: list[list[Stretch]] = []
    for part in parts:
        if runs and runs[-1][-1].end >= part.first:
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def _is_close(seconds: float, part: Stretch) -> bool:
    return any(abs(seconds - hint) < _CLOSE for hint in part.hint_times)


def _coarse(parts: Sequence[Stretch]) -> list[Transition]:
    """The changes between key pictures that are far above the usual ones, each at the packet that stands out."""
    usual = sorted(part.change for part in parts)[len(parts) // 2] if parts else 0.0
    limit = max(_COARSE, 1.2 * usual)
    return [
        Transition(part.hint_times[0] if part.hint_times else part.ends, part.change)
        for part in parts[:-1]
        if part.change >= limit
    ]


def _spaced(found: Sequence[Transition], duration: float) -> list[float]:
    """The times of the strongest transitions that are far enough from one another and from both ends."""
    kept: list[float] = []
    for each in sorted(found, key=lambda one: (-one.amount, one.time)):
        if len(kept) >= SCENE_LIMIT - 1:
            break
        near = bisect_left(kept, each.time)
        around = [0.0, *kept[max(near - 1, 0) : near + 1], duration]
        if all(abs(each.time - other) >= SHORTEST for other in around):
            kept.insert(near, each.time)
    return kept
