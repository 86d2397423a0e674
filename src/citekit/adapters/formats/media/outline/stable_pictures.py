"""Finds the pictures that a video shows unchanged for a while, such as slides and the windows of a screencast.

Two pictures per second are reduced to a grid and compared with the first picture of the current run. Cells in which
something moves all the time, such as a speaker in a corner, are left out of the comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, frozen

from citekit.adapters.formats.media.streams import (
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

MIN_SHOWN = 2.0
"""Seconds for which a picture must be shown: enough to read it."""

STEP = 0.5
"""Seconds between compared pictures."""

DECODED_PIXELS = 1920 * 1080 * 25 * 300
"""The maximum number of pixels, over all frames, of a video of which all parts are decoded: five minutes of 1080p."""

_LONG_INTERVAL = 12.0
"""Seconds between keyframes above which another picture may be shown between two equal ones."""

_CALM = 0.25
"""The maximum share of cells that change between two keyframes of a scene that hardly changes."""

_WIDTH, _HEIGHT = 192, 108
_COLUMNS, _ROWS = 48, 27
_CELLS = _COLUMNS * _ROWS
_CHANGE = 5
"""The minimum mean difference, in gray levels, of a changed cell. Compression artifacts are smaller."""

_NEW_PICTURE = 0.008
"""The minimum share of changed cells in another picture: half a line of text. A pointer changes less."""

_MEMORY = 0.15
"""The weight (0 to 1) of the latest comparison in the average by which moving cells are recognized."""

_MOVING = 80
"""The minimum average (0 to 255) of a cell that counts as moving: it changes in about a third of the comparisons."""

_MOST_MOVING = 0.5
"""If on average more than this share of the cells moves while a picture is shown, it is left out, as in a film."""


@frozen
class StablePicture:
    """A picture that is shown from `start` to `end` seconds. `image` is its appearance near the end, upright."""

    start: float
    end: float
    image: Image


def find_stable_pictures(
    path: Path, duration: float, frame_rate: float | None, size: tuple[int, int], progress: Progress
) -> Iterator[StablePicture]:
    """Yield the stable pictures of the video at `path`, in order.

    `size` is the width and height in pixels, and `duration` is in seconds. Raise the errors of `open_media`, and
    `Cancelled` if the caller cancels.
    """
    is_short = size[0] * size[1] * (frame_rate or 25.0) * duration <= DECODED_PIXELS
    decoded = None if is_short else _decoded_intervals(path, duration, progress)
    begun = 0.0 if is_short else 1 / 3
    follower = _Follower()
    time = 0.0
    for time, frame in _frames(path, decoded):
        done = follower.add(time, frame)
        if done is not None:
            yield done
        progress(min(max(begun * duration + (1 - begun) * time, 0.0), duration), duration, "looking for slides")
    done = follower.finish(max(time, duration))
    if done is not None:
        yield done


def _decoded_intervals(path: Path, duration: float, progress: Progress) -> list[bool]:
    """Return for each keyframe of a video whether a stable picture may begin or end between it and the next one."""
    times, changes = [], []
    before: Image | None = None
    for time, frame in _frames(path, [], every_keyframe=True):
        small = _reduced(frame)
        if before is not None:
            changes.append(_share(_changed(before, small)))
        times.append(time)
        before = small
        progress(min(max(time, 0.0), duration), 3 * duration, "looking for slides")
    changes.append(1.0)
    times.append(duration)
    calm = [False, *(change <= _CALM for change in changes), False]
    return [
        after - time > _LONG_INTERVAL or (change >= _NEW_PICTURE and any(calm[number : number + 3]))
        for number, (change, time, after) in enumerate(zip(changes, times, times[1:], strict=False))
    ]


def _frames(path: Path, decoded: Sequence[bool] | None, *, every_keyframe: bool = False) -> Iterator[tuple[float, Any]]:
    """Yield about one frame every `STEP` seconds, with its time in seconds; with `every_keyframe`, each decoded frame.

    `decoded` says for each keyframe whether the frames after it are decoded, too; if it is None, all are.
    """
    with open_media(path) as container:
        stream: Any = video_stream(container)
        stream.thread_type = "AUTO"
        stream.codec_context.skip_frame = "NONREF"
        zero = start_time(container)
        upcoming = 0.0
        for frame in _decoded_frames(container, stream, decoded):
            if frame.pts is None:
                continue
            time = float(frame.pts * stream.time_base) - zero
            if every_keyframe or time >= upcoming:
                yield time, frame
                upcoming = max(upcoming + STEP, time + STEP / 2)


def _decoded_frames(container: Any, stream: Any, decoded: Sequence[bool] | None) -> Iterator[Any]:
    number, is_whole = -1, decoded is None
    for packet in read_packets(container, [stream]):
        if decoded is None:
            yield from decode_packet(stream, packet)
            continue
        if packet.is_keyframe:
            number += 1
            if is_whole:
                yield from flush_decoder(stream)
            is_whole = number < len(decoded) and decoded[number]
            if not is_whole:
                yield from [*decode_packet(stream, packet), *flush_decoder(stream)][:1]
        if is_whole:
            yield from decode_packet(stream, packet)
    yield from flush_decoder(stream)


@define
class _Run:
    """Successive frames that show the same picture.

    `small` is the first, reduced. `last` are the last two: the very last one may already show a change.
    """

    start: float
    small: Image
    last: tuple[Any, Any]
    moving: float = 0.0
    count: int = 0


@define
class _Follower:
    """Divides frames into runs of the same picture."""

    run: _Run | None = None
    before: Image | None = None
    moving: Image | None = None
    pending: tuple[float, Image, Any] | None = None

    def add(self, time: float, frame: Any) -> StablePicture | None:
        """Add the frame that is shown at `time`. Return the stable picture that ended before this frame, or None."""
        small = _reduced(frame)
        changes = None if self.before is None else _changed(self.before, small)
        self.before = small
        if self.run is None:
            self.run = _Run(time, small, (frame, frame))
            return None
        self._remember(changes)
        if self._is_same(self.run.small, small):
            self.pending = None
            self.run.last = (self.run.last[1], frame)
            return None
        if self.pending is None:  # a change counts only if it stays, or if the next picture is new again
            self.pending = (time, small, frame)
            return None
        began, first, first_frame = self.pending
        done = self.finish(began)
        if self._is_same(first, small):
            self.run, self.pending = _Run(began, first, (first_frame, frame)), None
        else:
            self.run, self.pending = _Run(began, first, (first_frame, first_frame)), (time, small, frame)
        return done

    def finish(self, time: float) -> StablePicture | None:
        """Return the picture that is shown until `time`; None if it was shown too briefly, or mostly moved, as in a
        film.
        """
        run = self.run
        self.run = None
        if run is None or time - run.start < MIN_SHOWN:
            return None
        if run.count and run.moving / run.count > _MOST_MOVING:
            return None
        return StablePicture(run.start, time, _upright(run.last[0]))

    def _remember(self, changes: Image | None) -> None:
        from PIL import Image

        if changes is None:
            return
        self.moving = changes if self.moving is None else Image.blend(self.moving, changes, _MEMORY)
        if self.run is not None:
            self.run.count += 1
            self.run.moving += _share(self.moving.point(_is_moving))

    def _is_same(self, one: Image, other: Image) -> bool:
        from PIL import ImageChops

        changes = _changed(one, other)
        if self.moving is not None:
            changes = ImageChops.subtract(changes, self.moving.point(_is_moving))
        return _share(changes) < _NEW_PICTURE


def _is_moving(value: float) -> int:
    return 255 if value >= _MOVING else 0


def _is_changed(value: float) -> int:
    return 255 if value >= _CHANGE else 0


def _changed(one: Image, other: Image) -> Image:
    """Return the cells that differ between two reduced pictures, as white pixels."""
    from PIL import Image, ImageChops

    cells = ImageChops.difference(one, other).resize((_COLUMNS, _ROWS), Image.Resampling.BOX)
    return cells.point(_is_changed)


def _share(cells: Image) -> float:
    return cells.histogram()[255] / _CELLS


def _reduced(frame: Any) -> Image:
    image: Image = frame.reformat(width=_WIDTH, height=_HEIGHT, format="gray", interpolation="AREA").to_image()
    return image


def _upright(frame: Any) -> Image:
    image: Image = frame.to_image()
    quarter_turns = round(frame.rotation / 90) % 4
    return image.rotate(90 * quarter_turns, expand=True) if quarter_turns else image
