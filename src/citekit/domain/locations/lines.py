"""Defines the location of lines in a text."""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen

from citekit.domain.errors import LocationMalformed, LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.modality import HasModality, Modality
from citekit.domain.numbers import WHOLE_LIMIT


@frozen
class Lines:
    """The lines from `first` to `last` of a text, both included. Lines are numbered from 1.

    Numbers go up to `WHOLE_LIMIT`. The constructor raises `LocationMalformed` for invalid values.
    """

    modality: ClassVar[Modality] = Modality.TEXT

    first: int
    last: int

    def __attrs_post_init__(self) -> None:
        if type(self.first) is type(self.last) is int and 1 <= self.first <= self.last <= WHOLE_LIMIT:
            return  # the common case first: a map can have thousands of lines locations
        if any(not isinstance(line, int) or isinstance(line, bool) for line in (self.first, self.last)):
            raise LocationMalformed(f"line numbers must be whole numbers, not {self.first!r} and {self.last!r}")
        if max(abs(self.first), abs(self.last)) > WHOLE_LIMIT:
            raise LocationMalformed("line numbers must have at most 12 digits")
        if self.first < 1:
            raise LocationMalformed(f"lines are numbered from 1, so there is no line {self.first}")
        if self.last < self.first:
            raise LocationMalformed(f"the line range {self.first}-{self.last} is reversed")

    def contains(self, other: HasModality) -> bool:
        """Return whether `other` is a range of lines inside this one."""
        return isinstance(other, Lines) and self.first <= other.first and other.last <= self.last

    def overlaps(self, other: HasModality) -> bool:
        """Return whether this range and `other` have a line in common."""
        return isinstance(other, Lines) and max(self.first, other.first) <= min(self.last, other.last)

    def clamp(self, extent: Extent) -> Lines:
        """Return this range, limited to the lines that the text has, if known. Raise `LocationOutside` if none exists."""
        if extent.lines is None or self.last <= extent.lines:
            return self
        if self.first > extent.lines:
            raise LocationOutside.beyond("line", self.first, "text", extent.lines)
        return Lines(self.first, extent.lines)
