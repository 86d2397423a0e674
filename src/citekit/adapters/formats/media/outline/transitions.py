"""Detects transitions between scenes: hard cuts, dissolves, and fades through black or white.

A hard cut is a change that is much larger than the changes around it, as in the adaptive detector of PySceneDetect
(BSD), unless the previous image returns at once (a flash). In the middle of a dissolve, a frame is a blend of the
frames around it, which motion rarely produces. In a fade, the image becomes uniformly black or white.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from citekit.adapters.formats.media.outline.thumbnails import (
    blend_error,
    brightness_correlation,
    brightness_statistics,
    color_difference,
    color_histogram,
    difference,
)

if TYPE_CHECKING:
    from PIL.Image import Image

MIN_CHANGE = 8.0
"""The smallest change that is a cut, and the smallest difference between two scenes, in gray levels."""

MIN_PROMINENCE = 3.0
"""The smallest ratio of the change at a cut to the mean of the changes around it."""

FLASH_DURATION = 0.4
"""Seconds within which the previous picture comes back after a flash, which is not a cut."""

DISSOLVE_LAGS = (0.6, 1.2)
"""Seconds over which frames are compared to find dissolves."""

_NEIGHBORHOOD = 0.3
_SAME_COLORS = 0.08
_MAX_RETURN_DIFFERENCE = 0.45
_MIN_DISSOLVE_CHANGE = 12.0
_MAX_BLEND_ERROR = 0.3
_MAX_SIDE_CHANGE = 0.4
_MAX_FLAT_DEVIATION = 7.0
_DARK, _BRIGHT = 42.0, 214.0
_LIGHTING_CORRELATION = 0.85
_FADE_MARGIN = 0.6
_LOOKAHEAD = 2.5
_BUFFER_DURATION = 6.0
_STEP = 0.08


@frozen
class Transition:
    """A transition between scenes. `time`, in seconds, is when the new scene starts, or the middle of a dissolve or
    fade.

    `amount` is the size of the change in gray levels. `kind` is `cut`, `dissolve`, or `fade`.
    """

    time: float
    amount: float
    kind: str = "cut"


@define
class TimedThumbnail:
    """A frame of a video: its time in seconds, its thumbnail, and its difference from the previous frame in gray
    levels.
    """

    time: float
    thumbnail: Image
    change: float = 0.0
    flat: bool | None = None

    @property
    def is_flat(self) -> bool:
        """Whether the frame is uniformly black or white."""
        if self.flat is None:
            mean, deviation = brightness_statistics(self.thumbnail)
            self.flat = deviation < _MAX_FLAT_DEVIATION and (mean < _DARK or mean > _BRIGHT)
        return self.flat


def find_transitions(pictures: Iterable[tuple[float, Image]]) -> list[Transition]:
    """Return the transitions in a continuous sequence of frames, sorted by time.

    `pictures` yields the time in seconds and the thumbnail of each frame.
    """
    found: list[Transition] = []
    buffer = PictureBuffer()
    for time, thumbnail in pictures:
        buffer.add(time, thumbnail)
        if buffer.is_full:
            found += buffer.decide(final=False)
    return merge_transitions([*found, *buffer.decide(final=True)])


def merge_transitions(found: Sequence[Transition]) -> list[Transition]:
    """Return the transitions sorted by time, without duplicates.

    A fade replaces other transitions close to it, and a cut replaces a dissolve close to it.
    """
    merged: list[Transition] = []
    rank = {"fade": 0, "cut": 1, "dissolve": 2}
    for each in sorted(found, key=lambda one: (rank[one.kind], -one.amount, one.time)):
        within = {"fade": 1.0, "cut": 0.0, "dissolve": 0.8}[each.kind]
        if all(abs(each.time - other.time) > max(within, 1.0 if other.kind == "fade" else 0.0) for other in merged):
            merged.append(each)
    return sorted(merged, key=lambda one: one.time)


@define
class PictureBuffer:
    """The frames of the last few seconds. Transitions before the time `decided_until` (seconds) have been reported."""

    pictures: list[TimedThumbnail] = field(factory=list)
    times: list[float] = field(factory=list)
    decided_until: float = -1.0

    def add(self, time: float, thumbnail: Image) -> None:
        """Add a frame. A frame whose time is not after that of the previous frame is ignored."""
        if self.times and time <= self.times[-1]:
            return
        change = difference(self.pictures[-1].thumbnail, thumbnail) if self.pictures else 0.0
        self.pictures.append(TimedThumbnail(time, thumbnail, change))
        self.times.append(time)

    @property
    def is_full(self) -> bool:
        """Whether the buffer contains enough frames for `decide`."""
        return self.times[-1] - self.times[0] > _BUFFER_DURATION if self.times else False

    def decide(self, *, final: bool) -> list[Transition]:
        """Return the transitions that have not been reported yet and have enough frames after them; with `final`, all
        that remain.
        """
        if len(self.times) < 2:
            return []
        low, high = self.decided_until, self.times[-1] + 1.0 if final else self.times[-1] - _LOOKAHEAD
        found = [*self._cuts(low, high), *self._dissolves(low, high), *self._fades(low, high)]
        self.decided_until = high
        keep = bisect_left(self.times, high - _LOOKAHEAD)
        del self.pictures[:keep], self.times[:keep]
        return found

    def _cuts(self, low: float, high: float) -> Iterator[Transition]:
        for index in range(1, len(self.pictures)):
            here = self.pictures[index]
            if low <= here.time < high and here.change >= MIN_CHANGE and self._is_prominent(index):
                yield Transition(here.time, here.change)

    def _is_prominent(self, index: int) -> bool:
        here = self.pictures[index]
        first = min(bisect_left(self.times, here.time - _NEIGHBORHOOD), max(index - 3, 1))
        last = max(bisect_right(self.times, here.time + _NEIGHBORHOOD), index + 4)
        neighbors = [each.change for each in (*self.pictures[max(first, 1) : index], *self.pictures[index + 1 : last])]
        average = sum(neighbors) / len(neighbors) if neighbors else 0.0
        if here.change < MIN_PROMINENCE * max(average, 1.0):
            return False
        before, after = self.pictures[index - 1], here
        if (
            color_difference(color_histogram(before.thumbnail), color_histogram(after.thumbnail)) < _SAME_COLORS
            and here.change < 2 * MIN_CHANGE
        ):
            return False
        return not self._comes_back(index)

    def _comes_back(self, index: int) -> bool:
        """Return whether the change at the frame `index` is only a flash: the image before it returns soon after, or
        the image after it also appeared shortly before.
        """
        here, before = self.pictures[index], self.pictures[index - 1]
        after = self.pictures[index + 1 : bisect_right(self.times, here.time + FLASH_DURATION)]
        earlier = self.pictures[bisect_left(self.times, before.time - FLASH_DURATION) : index - 1]
        limit = _MAX_RETURN_DIFFERENCE * here.change
        return any(difference(before.thumbnail, each.thumbnail) < limit for each in after) or any(
            difference(here.thumbnail, each.thumbnail) < limit for each in earlier
        )

    def _nearest(self, time: float) -> TimedThumbnail | None:
        """Return the frame nearest to `time` (seconds), or None if `time` is outside the buffer."""
        index = bisect_left(self.times, time)
        if time < self.times[0] - _STEP or index >= len(self.times):
            return None
        if index and time - self.times[index - 1] < self.times[index] - time:
            index -= 1
        return self.pictures[index]

    def _dissolves(self, low: float, high: float) -> Iterator[Transition]:
        for lag in DISSOLVE_LAGS:
            best: list[Transition] = []
            for time in self._sample_times(low, high):
                dissolve = self._dissolve_at(time, lag)
                if dissolve is None:
                    continue
                if best and time - best[-1].time <= lag:
                    best[-1] = max(best[-1], dissolve, key=lambda each: each.amount)
                else:
                    best.append(dissolve)
            yield from best

    def _sample_times(self, low: float, high: float) -> Iterator[float]:
        last = -1.0
        for time in self.times:
            if low <= time < high and time - last >= _STEP:
                last = time
                yield time

    def _dissolve_at(self, time: float, lag: float) -> Transition | None:
        before, middle, after = self._nearest(time - lag / 2), self._nearest(time), self._nearest(time + lag / 2)
        if before is None or middle is None or after is None:
            return None
        across = difference(before.thumbnail, after.thumbnail)
        if across < _MIN_DISSOLVE_CHANGE or before.is_flat or after.is_flat or middle.is_flat:
            return None
        error = blend_error(before.thumbnail, middle.thumbnail, after.thumbnail) / across
        if error > _MAX_BLEND_ERROR or not self._is_still_around(time, lag, across):
            return None
        if color_difference(color_histogram(before.thumbnail), color_histogram(after.thumbnail)) < _SAME_COLORS:
            return None
        if brightness_correlation(before.thumbnail, after.thumbnail) > _LIGHTING_CORRELATION:
            return None
        return Transition(time, across * (1 - 2 * error), "dissolve")

    def _is_still_around(self, time: float, lag: float, across: float) -> bool:
        """Return whether the image changes much less just before and just after a possible dissolve than during it
        (`across`, in gray levels).
        """
        sides = ((time - lag, time - lag / 2), (time + lag / 2, time + lag))
        return all(self._is_still(low, high, _MAX_SIDE_CHANGE * across) for low, high in sides)

    def _is_still(self, low: float, high: float, limit: float) -> bool:
        """Return whether the image changes by at most `limit` gray levels from time `low` to time `high`.

        If a part of that period is not in the buffer, the limit is reduced in proportion, or the result is False.
        """
        first, last = max(low, self.times[0]), min(high, self.times[-1])
        one, other = self._nearest(first), self._nearest(last)
        if one is None or other is None or last - first < max(_STEP, (high - low) / 2):
            return False
        return difference(one.thumbnail, other.thumbnail) <= limit * (last - first) / (high - low)

    def _fades(self, low: float, high: float) -> Iterator[Transition]:
        """Yield a transition in the middle of each short black or white period between two different scenes."""
        start: int | None = None
        for index, each in enumerate(self.pictures):
            if each.is_flat and start is None:
                start = index
            if start is None or each.is_flat:
                continue
            begin, end = self.times[start], each.time
            if (
                low <= end < high
                and start > 0
                and end - begin <= _LOOKAHEAD
                and self._differ(begin - _FADE_MARGIN, end + _FADE_MARGIN)
            ):
                yield Transition((begin + end) / 2, MIN_CHANGE + each.change, "fade")
            start = None

    def _differ(self, low: float, high: float) -> bool:
        """Return whether the frames at the times `low` and `high`, or the nearest in the buffer, show different scenes."""
        one, other = self._nearest(max(low, self.times[0])), self._nearest(min(high, self.times[-1]))
        return one is None or other is None or difference(one.thumbnail, other.thumbnail) >= MIN_CHANGE
