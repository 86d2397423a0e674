"""Where one scene ends and the next begins: hard cuts, dissolves, and fades through black or white.

A hard cut is a change that stands out from those around it, after the adaptive detector of PySceneDetect (BSD), unless the
picture from before comes back at once (a flash). In a dissolve the picture in the middle is those around it, mixed; nothing
that moves does that. In a fade the picture becomes all one grey, and comes out of it.
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
"""Grey levels of the least change that is a cut."""

MIN_PROMINENCE = 3.0
"""How many times the changes around it a cut is at least."""

FLASH_DURATION = 0.4
"""Seconds within which a picture that comes back shows that there was no cut."""

DISSOLVE_LAGS = (0.6, 1.2)
"""Seconds over which pictures are compared for dissolves."""

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
    """The second at which a new scene begins; `amount` (grey levels) says how much changes, `kind` how."""

    time: float
    amount: float
    kind: str = "cut"


@define
class TimedThumbnail:
    """One picture: when it is shown, its small copy, and by how much it differs from the one before."""

    time: float
    thumbnail: Image
    change: float = 0.0
    flat: bool | None = None

    @property
    def is_flat(self) -> bool:
        """Whether it is all black, or all white."""
        if self.flat is None:
            mean, deviation = brightness_statistics(self.thumbnail)
            self.flat = deviation < _MAX_FLAT_DEVIATION and (mean < _DARK or mean > _BRIGHT)
        return self.flat


def find_transitions(pictures: Iterable[tuple[float, Image]]) -> list[Transition]:
    """The transitions of one unbroken run of pictures, in order of time; a few seconds of them are held at once."""
    found: list[Transition] = []
    held = PictureBuffer()
    for time, copy in pictures:
        held.add(time, copy)
        if held.is_full:
            found += held.decide(final=False)
    return merge_transitions([*found, *held.decide(final=True)])


def merge_transitions(found: Sequence[Transition]) -> list[Transition]:
    """Transitions in order of time, those that are seen twice once: a fade covers the changes in it, a cut a dissolve."""
    kept: list[Transition] = []
    rank = {"fade": 0, "cut": 1, "dissolve": 2}
    for each in sorted(found, key=lambda one: (rank[one.kind], -one.amount, one.time)):
        within = {"fade": 1.0, "cut": 0.0, "dissolve": 0.8}[each.kind]
        if all(abs(each.time - other.time) > max(within, 1.0 if other.kind == "fade" else 0.0) for other in kept):
            kept.append(each)
    return sorted(kept, key=lambda one: one.time)


@define
class PictureBuffer:
    """The pictures of the last few seconds; those before `judged_to` have been judged."""

    pictures: list[TimedThumbnail] = field(factory=list)
    times: list[float] = field(factory=list)
    decided_until: float = -1.0

    def add(self, time: float, copy: Image) -> None:
        """One picture more; one whose time does not go on is passed over."""
        if self.times and time <= self.times[-1]:
            return
        change = difference(self.pictures[-1].thumbnail, copy) if self.pictures else 0.0
        self.pictures.append(TimedThumbnail(time, copy, change))
        self.times.append(time)

    @property
    def is_full(self) -> bool:
        """Whether it is time to judge."""
        return self.times[-1] - self.times[0] > _BUFFER_DURATION if self.times else False

    def decide(self, *, final: bool) -> list[Transition]:
        """The transitions among the pictures that have not been judged and have enough of them behind."""
        if len(self.times) < 2:
            return []
        low, high = self.decided_until, self.times[-1] + 1.0 if final else self.times[-1] - _LOOKAHEAD
        found = [*self._cuts(low, high), *self._dissolves(low, high), *self._fades(low, high)]
        self.decided_until = high
        keep = bisect_left(self.times, high - _LOOKAHEAD)
        del self.pictures[:keep], self.times[:keep]
        return found

    def _cuts(self, low: float, high: float) -> Iterator[Transition]:
        for place in range(1, len(self.pictures)):
            here = self.pictures[place]
            if low <= here.time < high and here.change >= MIN_CHANGE and self._is_prominent(place):
                yield Transition(here.time, here.change)

    def _is_prominent(self, place: int) -> bool:
        here = self.pictures[place]
        first = min(bisect_left(self.times, here.time - _NEIGHBORHOOD), max(place - 3, 1))
        last = max(bisect_right(self.times, here.time + _NEIGHBORHOOD), place + 4)
        around = [each.change for each in (*self.pictures[max(first, 1) : place], *self.pictures[place + 1 : last])]
        usual = sum(around) / len(around) if around else 0.0
        if here.change < MIN_PROMINENCE * max(usual, 1.0):
            return False
        before, after = self.pictures[place - 1], here
        if (
            color_difference(color_histogram(before.thumbnail), color_histogram(after.thumbnail)) < _SAME_COLORS
            and here.change < 2 * MIN_CHANGE
        ):
            return False
        return not self._comes_back(place)

    def _comes_back(self, place: int) -> bool:
        """Whether soon after the change it looks as before it, or shortly before it as after it."""
        here, before = self.pictures[place], self.pictures[place - 1]
        after = self.pictures[place + 1 : bisect_right(self.times, here.time + FLASH_DURATION)]
        earlier = self.pictures[bisect_left(self.times, before.time - FLASH_DURATION) : place - 1]
        limit = _MAX_RETURN_DIFFERENCE * here.change
        return any(difference(before.thumbnail, each.thumbnail) < limit for each in after) or any(
            difference(here.thumbnail, each.thumbnail) < limit for each in earlier
        )

    def _nearest(self, time: float) -> TimedThumbnail | None:
        """The picture shown nearest to `time`; None outside of what is held."""
        place = bisect_left(self.times, time)
        if time < self.times[0] - _STEP or place >= len(self.times):
            return None
        if place and time - self.times[place - 1] < self.times[place] - time:
            place -= 1
        return self.pictures[place]

    def _dissolves(self, low: float, high: float) -> Iterator[Transition]:
        for lag in DISSOLVE_LAGS:
            best: list[Transition] = []
            for time in self._sample_times(low, high):
                mark = self._dissolve_at(time, lag)
                if mark is None:
                    continue
                if best and time - best[-1].time <= lag:
                    best[-1] = max(best[-1], mark, key=lambda each: each.amount)
                else:
                    best.append(mark)
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
        misfit = blend_error(before.thumbnail, middle.thumbnail, after.thumbnail) / across
        if misfit > _MAX_BLEND_ERROR or not self._is_still_around(time, lag, across):
            return None
        if color_difference(color_histogram(before.thumbnail), color_histogram(after.thumbnail)) < _SAME_COLORS:
            return None
        if brightness_correlation(before.thumbnail, after.thumbnail) > _LIGHTING_CORRELATION:
            return None
        return Transition(time, across * (1 - 2 * misfit), "dissolve")

    def _is_still_around(self, time: float, lag: float, across: float) -> bool:
        """Whether just before and just after the picture changes much less than in between."""
        sides = ((time - lag, time - lag / 2), (time + lag / 2, time + lag))
        return all(self._is_still(low, high, _MAX_SIDE_CHANGE * across) for low, high in sides)

    def _is_still(self, low: float, high: float, limit: float) -> bool:
        """Whether the picture changes by no more than `limit` from `low` to `high`, in proportion in what is held of it.

        Less than half of it tells nothing.
        """
        first, last = max(low, self.times[0]), min(high, self.times[-1])
        one, other = self._nearest(first), self._nearest(last)
        if one is None or other is None or last - first < max(_STEP, (high - low) / 2):
            return False
        return difference(one.thumbnail, other.thumbnail) <= limit * (last - first) / (high - low)

    def _fades(self, low: float, high: float) -> Iterator[Transition]:
        """The middle of each short stretch of black or white that pictures fade into and out of."""
        start: int | None = None
        for place, each in enumerate(self.pictures):
            if each.is_flat and start is None:
                start = place
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
        """Whether the pictures at two times are of different scenes; the first or last one held where there is none."""
        one, other = self._nearest(max(low, self.times[0])), self._nearest(min(high, self.times[-1]))
        return one is None or other is None or difference(one.thumbnail, other.thumbnail) >= MIN_CHANGE
