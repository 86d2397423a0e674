"""Defines the location of a rectangle in a picture or on a page."""

from __future__ import annotations

import math
from typing import ClassVar

from attrs import field, frozen

from citekit.domain.errors import LocationMalformed
from citekit.domain.extent import Extent
from citekit.domain.modality import HasModality, Modality
from citekit.domain.numbers import real


@frozen
class Box:
    """A rectangle with the upper left corner (x1, y1) and the lower right corner (x2, y2).

    Coordinates are fractions from 0 to 1 of the width and height of the upright picture. The constructor raises
    `LocationMalformed` unless 0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1.
    """

    modality: ClassVar[Modality] = Modality.IMAGE

    x1: float = field(converter=real)
    y1: float = field(converter=real)
    x2: float = field(converter=real)
    y2: float = field(converter=real)

    def __attrs_post_init__(self) -> None:
        if not all(math.isfinite(value) and 0 <= value <= 1 for value in self.corners):
            raise LocationMalformed(f"a box must be four fractions from 0 to 1, not {self.corners}")
        if self.x1 >= self.x2 or self.y1 >= self.y2:
            raise LocationMalformed(f"a box must be [x1, y1, x2, y2] with x1 < x2 and y1 < y2, not {self.corners}")

    @property
    def corners(self) -> tuple[float, float, float, float]:
        """The coordinates (x1, y1, x2, y2)."""
        return self.x1, self.y1, self.x2, self.y2

    def pixels(self, width: int, height: int) -> tuple[int, int, int, int]:
        """Return the smallest rectangle of whole pixels that contains the box, as (left, top, right, bottom).

        `width` and `height` are in pixels. Right and bottom are exclusive.
        """
        left = min(math.floor(_near(self.x1 * width)), width - 1)
        top = min(math.floor(_near(self.y1 * height)), height - 1)
        right, bottom = math.ceil(_near(self.x2 * width)), math.ceil(_near(self.y2 * height))
        return left, top, min(max(right, left + 1), width), min(max(bottom, top + 1), height)

    def contains(self, other: HasModality) -> bool:
        """Return whether `other` is a box inside this one, edges included."""
        return (
            isinstance(other, Box)
            and self.x1 <= other.x1
            and self.y1 <= other.y1
            and other.x2 <= self.x2
            and other.y2 <= self.y2
        )

    def overlaps(self, other: HasModality) -> bool:
        """Return whether `other` is a box that shares some area with this one."""
        return (
            isinstance(other, Box)
            and max(self.x1, other.x1) < min(self.x2, other.x2)
            and max(self.y1, other.y1) < min(self.y2, other.y2)
        )

    def clamp(self, extent: Extent) -> Box:
        """Return this box, because fractions are valid in any picture."""
        return self


def _near(value: float) -> float:
    """Return `value`, or the nearest whole number if they differ only by rounding, as in 0.1 * 30."""
    whole = round(value)
    return float(whole) if abs(value - whole) < 1e-6 else value
