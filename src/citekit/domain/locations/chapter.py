"""Defines the location of chapters in a reflowable book, or of a range of characters in one chapter."""

from __future__ import annotations

from typing import ClassVar

from attrs import evolve, field, frozen

from citekit.domain.errors import LocationMalformed, LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.modality import HasModality, Modality
from citekit.domain.numbers import WHOLE_LIMIT


def _pair(value: tuple[int, int] | list[int] | None) -> tuple[int, int] | None:
    if value is None:
        return None
    first, last = value
    return first, last


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(first: object, last: object) -> str:
    return repr(first) if first == last else f"{first!r} and {last!r}"


@frozen
class Chapter:
    """The chapters of a book from `number` to `last`, counted from 1, both included.

    `last` defaults to `number`. `chars` is a range of characters (start, end) in the text of a single chapter, counted
    from 0, with the end excluded. Numbers go up to `WHOLE_LIMIT`. The constructor raises `LocationMalformed` for
    invalid values.
    """

    modality: ClassVar[Modality] = Modality.DOCUMENT

    number: int
    chars: tuple[int, int] | None = field(default=None, converter=_pair)
    last: int = field(kw_only=True)

    @last.default
    def _single(self) -> int:
        return self.number

    def __attrs_post_init__(self) -> None:
        numbers = (self.number, self.last, *(self.chars or ()))
        if any(_is_whole(each) and abs(each) > WHOLE_LIMIT for each in numbers):
            raise LocationMalformed("chapter numbers and character offsets must have at most 12 digits")
        if not _is_whole(self.number) or not _is_whole(self.last) or self.number < 1:
            raise LocationMalformed(
                f"chapter numbers must be whole numbers of at least 1, not {_shown(self.number, self.last)}"
            )
        if self.last < self.number:
            raise LocationMalformed(f"the chapter range {self.number}-{self.last} is reversed")
        if self.chars is not None:
            start, end = self.chars
            if not _is_whole(start) or not _is_whole(end) or start < 0:
                raise LocationMalformed(
                    f"character offsets must be whole numbers of at least 0, not {_shown(start, end)}"
                )
            if end <= start:
                raise LocationMalformed(f"the character range {start}-{end} must end after its start")
            if self.last != self.number:
                raise LocationMalformed(
                    f"a character range must be in one chapter, not in chapters {self.number}-{self.last}"
                )

    def contains(self, other: HasModality) -> bool:
        """Return whether `other` is in these chapters and, if `chars` is set, within these characters."""
        if not isinstance(other, Chapter) or not (self.number <= other.number and other.last <= self.last):
            return False
        if self.chars is None:
            return True
        return other.chars is not None and self.chars[0] <= other.chars[0] and other.chars[1] <= self.chars[1]

    def overlaps(self, other: HasModality) -> bool:
        """Return whether this location and `other` have a character in common."""
        if not isinstance(other, Chapter) or max(self.number, other.number) > min(self.last, other.last):
            return False
        if self.chars is None or other.chars is None:
            return True
        return max(self.chars[0], other.chars[0]) < min(self.chars[1], other.chars[1])

    def clamp(self, extent: Extent) -> Chapter:
        """Return this location, limited to the chapters and characters that the book has, if known.

        Raise `LocationOutside` if the first chapter or the first character is beyond the end.
        """
        if extent.chapters is None:
            return self
        count = len(extent.chapters)
        if self.number > count:
            raise LocationOutside.beyond("chapter", self.number, "book", count)
        if self.chars is None:
            return self if self.last <= count else evolve(self, last=count)
        length = extent.chapters[self.number - 1]
        if self.chars[0] >= length:
            raise LocationOutside.beyond("character", self.chars[0], "chapter", length)
        return self if self.chars[1] <= length else evolve(self, chars=(self.chars[0], length))
