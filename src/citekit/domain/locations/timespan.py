"""Defines the location of a time range in a video or audio file."""

from __future__ import annotations

import math

from attrs import evolve, field, frozen

from citekit.domain.errors import LocationMalformed, LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.modality import HasModality, Modality
from citekit.domain.numbers import real


def _maybe_real(value: float | None) -> float | None:
    return None if value is None else real(value)


@frozen
class TimeSpan:
    """A time range of a video or audio file, in seconds from `start` (included) to `end` (excluded).

    If `end` is None, the range extends to the end of the file. `modality` is VIDEO or AUDIO. The constructor raises
    `LocationMalformed` for invalid values.
    """

    start: float = field(converter=real)
    end: float | None = field(default=None, converter=_maybe_real)
    modality: Modality = Modality.VIDEO

    def __attrs_post_init__(self) -> None:
        if self.modality not in (Modality.VIDEO, Modality.AUDIO):
            raise LocationMalformed(f"a time span must be in video or audio, not in {self.modality.value}")
        if not math.isfinite(self.start) or self.start < 0:
            raise LocationMalformed(f"the start must be a finite number of at least 0 seconds, not {self.start}")
        if self.end is not None and not math.isfinite(self.end):
            raise LocationMalformed(f"the end must be a finite number of seconds, not {self.end}")
        if self.end is not None and self.end <= self.start:
            raise LocationMalformed(f"the end {self.end} must be after the start {self.start}")

    @property
    def duration(self) -> float:
        """The number of seconds between start and end, or infinity if `end` is None."""
        return self._end - self.start

    @property
    def _end(self) -> float:
        return math.inf if self.end is None else self.end

    def contains(self, other: HasModality) -> bool:
        """Return whether `other` is a time range of the same modality inside this one."""
        return (
            isinstance(other, TimeSpan)
            and self.modality is other.modality
            and self.start <= other.start
            and other._end <= self._end
        )

    def overlaps(self, other: HasModality) -> bool:
        """Return whether `other` is a time range of the same modality that has some time in common with this one."""
        return (
            isinstance(other, TimeSpan)
            and self.modality is other.modality
            and max(self.start, other.start) < min(self._end, other._end)
        )

    def clamp(self, extent: Extent) -> TimeSpan:
        """Return this range, limited to the duration of the recording, or unchanged if the duration is not known.

        Raise `LocationOutside` if the range starts at or after the end of the recording.
        """
        if extent.seconds is None or (self.end is not None and self.end <= extent.seconds):
            return self
        if self.start >= extent.seconds:
            raise LocationOutside(f"{self.start} s is at or beyond the end: the recording lasts {extent.seconds} s")
        return evolve(self, end=extent.seconds)
