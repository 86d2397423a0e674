"""Scene cuts: where a picture differs from the one before much more than its neighbours do.

After the adaptive detector of PySceneDetect (BSD): the change from picture to picture, over its mean around.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.drivers.pyav import opened
from citekit.adapters.drivers.pyav_streams import frames_of, origin, picture
from citekit.domain.progress import Progress

PIXEL_BUDGET = 1280 * 720 * 24 * 1200
"""Pixels, over all pictures, up to which more than key pictures are looked at: 20 minutes of 720p.

Of a film of more than a quarter of it, pictures that no other refers to are left out, which halves the work; a cut may
then be found up to two pictures late.
"""

SHORTEST = 1.0
"""Seconds that a scene lasts at least."""

SCENE_LIMIT = 2000
"""Scenes at most: where there are more, the weakest cuts are left out."""

_WIDTH, _HEIGHT = 64, 36
_STRONG = 3.0
_NOTICEABLE = 9.0
_AROUND = 3


@frozen
class Change:
    """By how much (mean grey levels, 0 to 255) the picture shown from `time` differs from the one before."""

    time: float
    amount: float


@frozen
class Cuts:
    """The seconds at which scenes begin after the first; `coarse` where only key pictures were looked at."""

    times: Sequence[float]
    coarse: bool


def find_cuts(path: Path, duration: float, frame_rate: float | None, size: tuple[int, int], progress: Progress) -> Cuts:
    """The scene cuts of the video at `path`. Raises `SourceUnsupported`, `Cancelled`."""
    work = size[0] * size[1] * (frame_rate or 25.0) * duration
    coarse = work > PIXEL_BUDGET
    skipped = "NONKEY" if coarse else "NONREF" if work > PIXEL_BUDGET / 4 else "DEFAULT"
    changes = list(_changes(path, duration, skipped, progress))
    return Cuts(_spaced(_coarse_cuts(changes) if coarse else _adaptive_cuts(changes), duration), coarse)


def _changes(path: Path, duration: float, skipped: str, progress: Progress) -> Iterator[Change]:
    from PIL import Image, ImageChops, ImageStat

    before: Image.Image | None = None
    for number, (time, grey) in enumerate(_pictures(path, skipped)):
        now = Image.frombytes("L", (_WIDTH, _HEIGHT), grey)
        if before is not None:
            yield Change(time, ImageStat.Stat(ImageChops.difference(before, now)).mean[0])
        before = now
        if number % 64 == 0:
            progress(min(time, duration), duration, "looking for scene cuts")


def _pictures(path: Path, skipped: str) -> Iterator[tuple[float, bytes]]:
    """Times and small grey pictures, without those that are `skipped` (FFmpeg's word)."""
    with opened(path) as container:
        stream: Any = picture(container)
        stream.thread_type = "AUTO"
        stream.codec_context.skip_frame = skipped
        stream.codec_context.options = {**stream.codec_context.options, "skip_loop_filter": "all"}
        zero = origin(container)
        for frame in frames_of(container, stream):
            if frame.pts is not None:
                yield frame.time - zero, _grey(frame)


def _grey(frame: Any) -> bytes:
    plane = frame.reformat(_WIDTH, _HEIGHT, "gray", interpolation="AREA").planes[0]
    data = bytes(plane)
    if plane.line_size == _WIDTH:
        return data
    return b"".join(data[row * plane.line_size : row * plane.line_size + _WIDTH] for row in range(_HEIGHT))


def _adaptive_cuts(changes: Sequence[Change]) -> list[Change]:
    """Changes that are noticeable and stand out from those just before and after."""
    found = []
    for place, change in enumerate(changes):
        if change.amount < _NOTICEABLE:
            continue
        near = [*changes[max(place - _AROUND, 0) : place], *changes[place + 1 : place + 1 + _AROUND]]
        mean = sum(each.amount for each in near) / len(near) if near else 0.0
        if change.amount >= _STRONG * max(mean, 1.0):
            found.append(change)
    return found


def _coarse_cuts(changes: Sequence[Change]) -> list[Change]:
    """Among key pictures, seconds apart, every change well above the usual one."""
    usual = sorted(each.amount for each in changes)[len(changes) // 2] if changes else 0.0
    return [change for change in changes if change.amount >= max(2 * _NOTICEABLE, usual)]


def _spaced(cuts: Sequence[Change], duration: float) -> list[float]:
    """The strongest cuts that are far enough from one another and from both ends."""
    kept: list[Change] = []
    for cut in sorted(cuts, key=lambda each: each.time):
        if cut.time < SHORTEST or cut.time > duration - SHORTEST:
            continue
        if kept and cut.time - kept[-1].time < SHORTEST:
            if cut.amount > kept[-1].amount:
                kept[-1] = cut
        else:
            kept.append(cut)
    strongest = sorted(kept, key=lambda each: -each.amount)[: SCENE_LIMIT - 1]
    times = sorted(each.time for each in strongest)
    return [times[0], *(b for a, b in pairwise(times) if b - a >= SHORTEST)] if times else []
