"""Provides the text of a document with the location of each character in the file."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import overload

from attrs import evolve, field, frozen

from citekit.domain.errors import LocationOutside
from citekit.domain.locations import Cells, Chapter, Lines, Location, Pages
from citekit.domain.phrases import counted


class UnitKind(StrEnum):
    """The unit in which positions in a file are given."""

    PAGE = "page"
    CHAPTER = "chapter"
    LINE = "line"
    ROW = "row"


@frozen
class Unit:
    """A page, a chapter, a line, or a row of a sheet.

    `number` counts from 1. `start` and `end` are character offsets in the text of the document.
    """

    number: int
    start: int
    end: int


@frozen
class Units(Sequence[Unit]):
    """A sequence of units, stored in 24 bytes per unit because a long text can have millions of lines."""

    numbers: array[int] = field(factory=lambda: array("q"), repr=False)
    starts: array[int] = field(factory=lambda: array("q"), repr=False)
    ends: array[int] = field(factory=lambda: array("q"), repr=False)

    @classmethod
    def of(cls, units: Iterable[Unit]) -> Units:
        """Return a sequence of `units`. A `Units` object is returned unchanged."""
        if isinstance(units, Units):
            return units
        made = cls()
        for unit in units:
            made.add(unit.number, unit.start, unit.end)
        return made

    def add(self, number: int, start: int, end: int) -> None:
        """Append a unit. Call this only while building the sequence."""
        self.numbers.append(number)
        self.starts.append(start)
        self.ends.append(end)

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> Unit: ...
    @overload
    def __getitem__(self, index: slice) -> Units: ...
    def __getitem__(self, index: int | slice) -> Unit | Units:
        if isinstance(index, slice):
            return Units(self.numbers[index], self.starts[index], self.ends[index])
        return Unit(self.numbers[index], self.starts[index], self.ends[index])

    def __iter__(self) -> Iterator[Unit]:
        return map(Unit, self.numbers, self.starts, self.ends)


@frozen
class SheetRows:
    """The rows of the sheet `name` among the numbered rows of all sheets of a workbook.

    Row 1 of the sheet is the unit with the number `before` + 1. `rows` and `columns` are the numbers of the last row
    and of the last column in use.
    """

    name: str
    before: int
    rows: int
    columns: int


def _units(units: Iterable[Unit]) -> Units:
    return Units.of(units)


def _gathered(numbered: Iterable[tuple[int, str]], separator: str) -> tuple[str, Units]:
    """Return the texts joined with `separator`, and their units."""
    pieces, units, start = list[str](), Units(), 0
    for number, piece in numbered:
        pieces.append(piece)
        units.add(number, start, start + len(piece))
        start += len(piece) + len(separator)
    return separator.join(pieces), units


@frozen
class ExtractedText:
    """The text of a document in reading order, without markup, divided into units such as pages or lines.

    Units do not overlap, and their numbers never decrease; several ranges of text from one line of markup have the same
    number. A page or chapter without text has an empty unit; a line without text has no unit. Separators belong to no
    unit. `unread` lists the numbers of pages whose text could not be read, and `recognized` those whose text was
    recognized by OCR.
    """

    kind: UnitKind
    text: str
    units: Units = field(converter=_units)
    sheets: Sequence[SheetRows] = field(default=(), converter=tuple[SheetRows, ...])
    unread: Sequence[int] = field(default=(), converter=tuple[int, ...])
    recognized: Sequence[int] = field(default=(), converter=tuple[int, ...])

    @classmethod
    def joined(
        cls,
        kind: UnitKind,
        texts: Iterable[str],
        separator: str,
        *,
        unread: Iterable[int] = (),
        recognized: Iterable[int] = (),
    ) -> ExtractedText:
        """Create a text with one unit for each of `texts`, numbered from 1.

        If all texts are blank, the result has an empty text, empty units, and no recognized units.
        """
        pieces = list(texts)
        if not any(piece and not piece.isspace() for piece in pieces):
            return cls(kind, "", [Unit(number, 0, 0) for number in range(1, len(pieces) + 1)], unread=unread)
        text, units = _gathered(enumerate(pieces, 1), separator)
        return cls(kind, text, units, unread=unread, recognized=recognized)

    def with_units(self, numbered: Iterable[tuple[int, str]]) -> ExtractedText:
        """Return a copy with new text and units: one unit for each (number, text), separated by a line feed."""
        text, units = _gathered(numbered, "\n")
        return evolve(self, text=text, units=units)

    def unit_at(self, offset: int) -> Unit:
        """Return the last unit that begins at `offset` or before it, or else the first unit.

        Raise `LocationOutside` if there are no units.
        """
        if not self.units:
            raise LocationOutside("The document has no text.")
        return self.units[max(0, bisect_right(self.units.starts, offset) - 1)]

    def locate(self, start: int, end: int) -> Location:
        """Return the location of `text[start:end]` in the file, without white space at its ends.

        A location inside one chapter includes the character range, and one in several chapters does not. A range across
        several sheets is limited to the first sheet. Raise `LocationOutside` if the range is empty or extends beyond
        the text.
        """
        if not 0 <= start < end <= len(self.text):
            raise LocationOutside(
                f"the character range {start}-{end} is empty or not inside the text, which has "
                f"{counted(len(self.text), 'character')}"
            )
        start, end = self._trimmed(start, end)
        first, last = self.unit_at(start), self.unit_at(end - 1)
        match self.kind:
            case UnitKind.PAGE:
                return Pages.span(first.number, last.number)
            case UnitKind.LINE:
                return Lines(first.number, last.number)
            case UnitKind.ROW:
                return self._cells(first.number, last.number)
        if first.number != last.number:
            return Chapter(first.number, last=last.number)
        inside = (max(0, start - first.start), min(end, first.end) - first.start)
        return Chapter(first.number, inside if inside[0] < inside[1] else None)

    def _cells(self, first: int, last: int) -> Location:
        sheet = next(each for each in reversed(self.sheets) if each.before < first)
        end = min(last - sheet.before, sheet.rows)
        return Cells(sheet.name, (first - sheet.before, 1), (end, sheet.columns))

    def _rows(self, place: Cells) -> tuple[int, int] | None:
        sheet = next((each for each in self.sheets if each.name == place.sheet), None)
        if sheet is None:
            return None
        low, high = (1, sheet.rows) if place.first is None or place.last is None else (place.first[0], place.last[0])
        return self._between(sheet.before + low, sheet.before + min(high, sheet.rows))

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        piece = self.text[start:end]
        kept = piece.strip()
        if not kept:
            return start, end
        first = start + len(piece) - len(piece.lstrip())
        return first, first + len(kept)

    def span_of(self, location: Location) -> tuple[int, int] | None:
        """Return the character offsets (start, end) of a location in this text.

        Return None if the location is outside the text or of a kind that does not fit it, such as lines in a text with
        pages. Separate pages result in the range from the first to the last page, a region in its whole page, and cells
        in their whole rows.
        """
        match location:
            case Pages(numbers=numbers) if self.kind is UnitKind.PAGE:
                return self._between(numbers[0], numbers[-1])
            case Lines(first=first, last=last) if self.kind is UnitKind.LINE:
                return self._between(first, last)
            case Chapter(number=number, last=last, chars=chars) if self.kind is UnitKind.CHAPTER:
                whole = self._between(number, last)
                if whole is None or chars is None:
                    return whole
                start, end = whole[0] + chars[0], min(whole[0] + chars[1], whole[1])
                return (start, end) if start < end else None
            case Cells() if self.kind is UnitKind.ROW:
                return self._rows(location)
        return None

    def _between(self, first: int, last: int) -> tuple[int, int] | None:
        numbers = self.units.numbers
        low, high = bisect_right(numbers, first - 1), bisect_right(numbers, last)
        return (self.units.starts[low], self.units.ends[high - 1]) if low < high else None
