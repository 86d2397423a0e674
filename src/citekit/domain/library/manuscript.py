"""All of the text of a document, and where each character of it stands in the file."""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum
from functools import cached_property

from attrs import field, frozen

from citekit.domain.errors import LocationOutside
from citekit.domain.locations import Chapter, Lines, Location, Pages


class UnitKind(StrEnum):
    """What a text is counted in."""

    PAGE = "page"
    CHAPTER = "chapter"
    LINE = "line"


@frozen
class Unit:
    """One page, spine item or line: `number` from 1; its text is `text[start:end]` of the manuscript."""

    number: int
    start: int
    end: int


@frozen
class Manuscript:
    """The text once, in reading order and without markup, in units that do not overlap and whose numbers never fall.

    What parts two units (line feeds) belongs to neither. Several units may have one number, where several runs of text
    come from one line of markup.
    """

    kind: UnitKind
    text: str
    units: tuple[Unit, ...] = field(converter=tuple[Unit, ...])

    @cached_property
    def _starts(self) -> list[int]:
        return [unit.start for unit in self.units]

    def unit_at(self, offset: int) -> Unit:
        """The unit that holds the character at `offset`, or the last one before it. Raises `LocationOutside`."""
        if not self.units:
            raise LocationOutside("The document has no text.")
        return self.units[max(0, bisect_right(self._starts, offset) - 1)]

    def locate(self, start: int, end: int) -> Location:
        """The place of `text[start:end]` without the white space around it; of white space alone, where it stands.

        A place that lies inside one spine item names its characters, one that spans several names the whole items.
        Raises `LocationOutside` for an empty range, or one beyond the text.
        """
        if not 0 <= start < end <= len(self.text):
            raise LocationOutside(f"the characters {start}-{end} are not in a text of {len(self.text)}")
        start, end = self._trimmed(start, end)
        first, last = self.unit_at(start), self.unit_at(end - 1)
        match self.kind:
            case UnitKind.PAGE:
                return Pages.span(first.number, last.number)
            case UnitKind.LINE:
                return Lines(first.number, last.number)
        if first.number != last.number:
            return Chapter(first.number, last=last.number)
        inside = (max(0, start - first.start), min(end, first.end) - first.start)
        return Chapter(first.number, inside if inside[0] < inside[1] else None)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        piece = self.text[start:end]
        kept = piece.strip()
        if not kept:
            return start, end
        first = start + len(piece) - len(piece.lstrip())
        return first, first + len(kept)

    def span_of(self, location: Location) -> tuple[int, int] | None:
        """The characters (start, end) of that place, or None for a place of another kind or outside the text."""
        match location:
            case Pages(numbers=numbers) if self.kind is UnitKind.PAGE:
                return self._between(numbers[0], numbers[-1])
            case Lines(first=first, last=last) if self.kind is UnitKind.LINE:
                return self._between(first, last)
            case Chapter(number=number, last=last, chars=chars) if self.kind is UnitKind.CHAPTER:
                whole = self._between(number, last)
                if whole is None or chars is None:
                    return whole
                return whole[0] + chars[0], min(whole[0] + chars[1], whole[1])
        return None

    def _between(self, first: int, last: int) -> tuple[int, int] | None:
        numbers = self._numbers
        low, high = bisect_right(numbers, first - 1), bisect_right(numbers, last)
        return (self.units[low].start, self.units[high - 1].end) if low < high else None

    @cached_property
    def _numbers(self) -> list[int]:
        return [unit.number for unit in self.units]
