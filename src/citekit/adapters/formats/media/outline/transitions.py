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
    blend_misfit,
    colour_difference,
    colours,
    difference,
    likeness,
    spread,
)

if TYPE_CHECKING:
    from PIL.Image import Image

NOTICEABLE = 8.0
"""Grey levels of the least change that is a cut."""

STRONG = 3.0
"""How many times the changes around it a cut is at least."""

FLASH = 0.4
"""Seconds within which a picture that comes back shows that there was no cut."""

LAGS = (0.6, 1.2)
"""Seconds over which pictures are compared for dissolves."""

_AROUND = 0.3
_SAME_COLOURS = 0.08
_RECALLED = 0.45
_GRADUAL = 12.0
_MISFIT = 0.3
_STEADY = 0.4
_FLAT = 7.0
_DARK, _BRIGHT = 42.0, 214.0
_ONLY_LIGHT = 0.85
_BESIDE = 0.6
_REACH = 2.5
_KEPT = 6.0
_STEP = 0.08


@frozen
class Transition:
    """The second at which a new scene begins; `amount` (grey levels) says how much changes, `kind` how."""

    time: float
    amount: float
    kind: str = "cut"


@define
class Shown:
    """One picture: when it is shown, its small copy, and by how much it differs from the one before."""

    time: float
    copy: Image
    change: float = 0.0
    flat: bool | None = None

    @property
    def is_flat(self) -> bool:
        """Whether it is all black, or all white."""
        if self.flat is None:
            mean, deviation = spread(self.copy)
            self.flat = deviation < _FLAT and (mean < _DARK or mean > _BRIGHT)
        return self.flat


def transitions(pictures: Iterable[tuple[float, Image]]) -> list[Transition]:
    """The transitions of one unbroken run of pictures, in order of time; a few seconds of them are held at once."""
    found: list[Transition] = []
    held = Held()
    for time, copy in pictures:
        held.add(time, copy)
        if held.is_full:
            found += held.judged(final=False)
    return merged([*found, *held.judged(final=True)])


def merged(found: Sequence[Transition]) -> list[Transition]:
    """Transitions in order of time, those that are seen twice once: a fade covers the changes in it, a cut a dissolve."""
    kept: list[Transition] = []
    rank = {"fade": 0, "cut": 1, "dissolve": 2}
    for each in sorted(found, key=lambda one: (rank[one.kind], -one.amount, one.time)):
        within = {"fade": 1.0, "cut": 0.0, "dissolve": 0.8}[each.kind]
        if all(abs(each.time - other.time) > max(within, 1.0 if other.kind == "fade" else 0.0) for other in kept):
            kept.append(each)
    return sorted(kept, key=lambda one: one.time)


@define
class Held:
    """The pictures of the last few seconds; those before `judged_to` have been judged."""

    shown: list[Shown] = field(factory=list)
    times: list[float] = field(factory=list)
    judged_to: float = -1.0

    def add(self, time: float, copy: Image) -> None:
        """One picture more; one whose time does not go on is passed over."""
        if self.times and time <= self.times[-1]:
            return
        change = difference(self.shown[-1].copy, copy) if self.shown else 0.0
        self.shown.append(Shown(time, copy, change))
        self.times.append(time)

    @property
    def is_full(self) -> bool:
        """Whether it is time to judge."""
        return self.times[-1] - self.times[0] > _KEPT if self.times else False

    def judged(self, *, final: bool) -> list[Transition]:
        """The transitions among the pictures that have not been judged and have enough of them behind."""
        if len(self.times) < 2:
            return []
        low, high = self.judged_to, self.times[-1] + 1.0 if final else self.times[-1] - _REACH
        found = [*self._cuts(low, high), *self._dissolves(low, high), *self._fades(low, high)]
        self.judged_to = high
        keep = bisect_left(self.times, high - _REACH)
        del self.shown[:keep], self.times[:keep]
        return found

    def _cuts(self, low: float, high: float) -> Iterator[Transition]:
        for place in range(1, len(self.shown)):
            here = self.shown[place]
            if low <= here.time < high and here.change >= NOTICEABLE and self._stands_out(place):
                yield Transition(here.time, here.change)

    def _stands_out(self, place: int) -> bool:
        here = self.shown[place]
        first = min(bisect_left(self.times, here.time - _AROUND), max(place - 3, 1))
        last = max(bisect_right(self.times, here.time + _AROUND), place + 4)
        around = [each.change for each in (*self.shown[max(first, 1) : place], *self.shown[place + 1 : last])]
        usual = sum(around) / len(around) if around else 0.0
        if here.change < STRONG * max(usual, 1.0):
            return False
        before, after = self.shown[place - 1], here
        if (
            colour_difference(colours(before.copy), colours(after.copy)) < _SAME_COLOURS
            and here.change < 2 * NOTICEABLE
        ):
            return False
        return not self._comes_back(place)

    def _comes_back(self, place: int) -> bool:
        """Whether soon after the change it looks as before it, or shortly before it as after it."""
        here, before = self.shown[place], self.shown[place - 1]
        after = self.shown[place + 1 : bisect_right(self.times, here.time + FLASH)]
        earlier = self.shown[bisect_left(self.times, before.time - FLASH) : place - 1]
        limit = _RECALLED * here.change
        return any(difference(before.copy, each.copy) < limit for each in after) or any(
            difference(here.copy, each.copy) < limit for each in earlier
        )

    def _at(self, time: float) -> Shown | None:
        """The picture shown nearest to `time`; None outside of what is held."""
        place = bisect_left(self.times, time)
        if time < self.times[0] - _STEP or place >= len(self.times):
            return None
        if place and time - self.times[place - 1] < self.times[place] - time:
            place -= 1
        return self.shown[place]

    def _dissolves(self, low: float, high: float) -> Iterator[Transition]:
        for lag in LAGS:
            best: list[Transition] = []
            for time in self._steps(low, high):
                mark = self._mixed(time, lag)
                if mark is None:
                    continue
                if best and time - best[-1].time <= lag:
                    best[-1] = max(best[-1], mark, key=lambda each: each.amount)
                else:
                    best.append(mark)
            yield from best

    def _steps(self, low: float, high: float) -> Iterator[float]:
        last = -1.0
        for time in self.times:
            if low <= time < high and time - last >= _STEP:
                last = time
                yield time

    def _mixed(self, time: float, lag: float) -> Transition | None:
        before, middle, after = self._at(time - lag / 2), self._at(time), self._at(time + lag / 2)
        if before is None or middle is None or after is None:
            return None
        across = difference(before.copy, after.copy)
        if across < _GRADUAL or before.is_flat or after.is_flat or middle.is_flat:
            return None
        misfit = blend_misfit(before.copy, middle.copy, after.copy) / across
        if misfit > _MISFIT or not self._steady(time, lag, across):
            return None
        if colour_difference(colours(before.copy), colours(after.copy)) < _SAME_COLOURS:
            return None
        if likeness(before.copy, after.copy) > _ONLY_LIGHT:
            return None
        return Transition(time, across * (1 - 2 * misfit), "dissolve")

    def _steady(self, time: float, lag: float, across: float) -> bool:
        """Whether just before and just after the picture changes much less than in between."""
        sides = ((time - lag, time - lag / 2), (time + lag / 2, time + lag))
        return all(self._calm(low, high, _STEADY * across) for low, high in sides)

    def _calm(self, low: float, high: float, limit: float) -> bool:
        """Whether the picture changes by no more than `limit` from `low` to `high`, in proportion in what is held of it.

        Less than half of it tells nothing.
        """
        first, last = max(low, self.times[0]), min(high, self.times[-1])
        one, other = self._at(first), self._at(last)
        if one is None or other is None or last - first < max(_STEP, (high - low) / 2):
            return False
        return difference(one.copy, other.copy) <= limit * (last - first) / (high - low)

    def _fades(self, low: float, high: float) -> Iterator[Transition]:
        """The middle of each short stretch of black or white that pictures fade into and out of."""
        start: int | None = None
        for place, each in enumerate(self.shown):
            if each.is_flat and start is None:
                start = place
            if start is None or each.is_flat:
                continue
            begin, end = self.times[start], each.time
            if (
                low <= end < high
                and start > 0
                and end - begin <= _REACH
                and self._apart(begin - _BESIDE, end + _BESIDE)
            ):
                yield Transition((begin + end) / 2, NOTICEABLE + each.change, "fade")
            start = None

    def _apart(self, low: float, high: float) -> bool:
        """Whether the pictures at two times are of different scenes; the first or last one held where there is none."""
        one, other = self._at(max(low, self.times[0])), self._at(min(high, self.times[-1]))
        return one is None or other is None or difference(one.copy, other.copy) >= NOTICEABLE
