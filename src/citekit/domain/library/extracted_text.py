"""All of the text of a document, and where each character of it stands in the file."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import overload

from attrs import field, frozen

from citekit.domain.errors import LocationOutside
from citekit.domain.locations import Cells, Chapter, Lines, Location, Pages


class UnitKind(StrEnum):
    """What a text is counted in."""

    PAGE = "page"
    CHAPTER = "chapter"
    LINE = "line"
    ROW = "row"


@frozen
class Unit:
    """One page, spine item, line or row of a sheet: `number` from 1; its text is `text[start:end]` of the extracted text."""

    number: int
    start: int
    end: int


@frozen
class Units(Sequence[Unit]):
    """Units in order, 24 bytes each: a long text has millions of lines."""

    numbers: array[int] = field(factory=lambda: array("q"), repr=False)
    starts: array[int] = field(factory=lambda: array("q"), repr=False)
    ends: array[int] = field(factory=lambda: array("q"), repr=False)

    @classmethod
    def of(cls, units: Iterable[Unit]) -> Units:
        """Those units; what is `Units` already stays the same object."""
        if isinstance(units, Units):
            return units
        made = cls()
        for unit in units:
            made.add(unit.number, unit.start, unit.end)
        return made

    def add(self, number: int, start: int, end: int) -> None:
        """Append a unit; only for the code that creates the units."""
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
    """The rows of the sheet `name`: its row 1 is the unit `before` + 1; `rows` and `columns` are the last ones in use."""

    name: str
    before: int
    rows: int
    columns: int


def _units(units: Iterable[Unit]) -> Units:
    return Units.of(units)


@frozen
class ExtractedText:
    """The text once, in reading order and without markup, in units that do not overlap and whose numbers never fall.

    `unread` are the numbers of pages that are there, but whose text could not be read; their units are empty.
    What parts two units (line feeds) belongs to neither. Several units may have one number, where several runs of text
    come from one line of markup. Pages and spine items without text have an empty unit, lines without text have none.
    """

    kind: UnitKind
    text: str
    units: Units = field(converter=_units)
    sheets: Sequence[SheetRows] = field(default=(), converter=tuple[SheetRows, ...])
    unread: Sequence[int] = field(default=(), converter=tuple[int, ...])

    @classmethod
    def joined(
        cls, kind: UnitKind, texts: Iterable[str], separator: str, *, unread: Iterable[int] = ()
    ) -> ExtractedText:
        """One unit for each of `texts`, numbered from 1, separated by `separator`; an empty text where all are blank."""
        pieces = list(texts)
        if not any(piece and not piece.isspace() for piece in pieces):
            return cls(kind, "", [Unit(number, 0, 0) for number in range(1, len(pieces) + 1)], unread=unread)
        units, start = Units(), 0
        for number, piece in enumerate(pieces, 1):
            units.add(number, start, start + len(piece))
            start += len(piece) + len(separator)
        return cls(kind, separator.join(pieces), units, unread=unread)

    def unit_at(self, offset: int) -> Unit:
        """The unit that holds the character at `offset`, or the last one before it. Raises `LocationOutside`."""
        if not self.units:
            raise LocationOutside("The document has no text.")
        return self.units[max(0, bisect_right(self.units.starts, offset) - 1)]

    def locate(self, start: int, end: int) -> Location:
        """The place of `text[start:end]` without the white space around it; of white space alone, where it stands.

        A place that lies inside one spine item names its characters, one that spans several names the whole items. One on
        several sheets names what of it is on the first.
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
        """The characters (start, end) of that place, or None for a place of another kind or outside the text.

        Pages with gaps between them give the characters from the first to the last; a region gives its whole page,
        cells give their whole rows.
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
