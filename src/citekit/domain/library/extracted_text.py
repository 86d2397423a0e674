"""The complete text of a document, with the location of each character in the file."""

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
    """The unit in which a text is located."""

    PAGE = "page"
    CHAPTER = "chapter"
    LINE = "line"
    ROW = "row"


@frozen
class Unit:
    """A page, spine item, line, or row of a sheet. `number` counts from 1; its text is `text[start:end]` of the
    extracted text.
    """

    number: int
    start: int
    end: int


@frozen
class Units(Sequence[Unit]):
    """Units in order, in 24 bytes each, because a long text has millions of lines."""

    numbers: array[int] = field(factory=lambda: array("q"), repr=False)
    starts: array[int] = field(factory=lambda: array("q"), repr=False)
    ends: array[int] = field(factory=lambda: array("q"), repr=False)

    @classmethod
    def of(cls, units: Iterable[Unit]) -> Units:
        """Create `Units` from units. Returns the same object if it already is `Units`."""
        if isinstance(units, Units):
            return units
        made = cls()
        for unit in units:
            made.add(unit.number, unit.start, unit.end)
        return made

    def add(self, number: int, start: int, end: int) -> None:
        """Append a unit. Only for code that creates the units."""
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
    """The rows of the sheet `name`. Its row 1 is the unit `before` + 1; `rows` and `columns` are the last ones in use."""

    name: str
    before: int
    rows: int
    columns: int


def _units(units: Iterable[Unit]) -> Units:
    return Units.of(units)


@frozen
class ExtractedText:
    """A text in reading order, without markup, in units that do not overlap and whose numbers never decrease.

    `unread` has the numbers of pages whose text could not be read; their units are empty. Separators between units
    (line feeds) belong to no unit. Several units may have the same number if several ranges of text come from one line
    of markup. Pages and spine items without text have an empty unit; lines without text have none.
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
        """Create a text with one unit for each of `texts`, numbered from 1 and separated by `separator`; empty if all
        are blank.
        """
        pieces = list(texts)
        if not any(piece and not piece.isspace() for piece in pieces):
            return cls(kind, "", [Unit(number, 0, 0) for number in range(1, len(pieces) + 1)], unread=unread)
        units, start = Units(), 0
        for number, piece in enumerate(pieces, 1):
            units.add(number, start, start + len(piece))
            start += len(piece) + len(separator)
        return cls(kind, separator.join(pieces), units, unread=unread)

    def unit_at(self, offset: int) -> Unit:
        """Return the unit that contains the character at `offset`, or the last one before it. Raises `LocationOutside`."""
        if not self.units:
            raise LocationOutside("The document has no text.")
        return self.units[max(0, bisect_right(self.units.starts, offset) - 1)]

    def locate(self, start: int, end: int) -> Location:
        """Return the location of `text[start:end]` without surrounding white space. A range of only white space is not
        trimmed.

        A location inside one spine item includes the characters; one that spans several items has only the whole items.
        A range over several sheets is limited to the first sheet. Raises `LocationOutside` for an empty range or one
        beyond the text.
        """
        if not 0 <= start < end <= len(self.text):
            raise LocationOutside(
                f"the character range {start}-{end} is not inside the text, which has {len(self.text)} characters"
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
        """Return the characters (start, end) of a location, or None if it is of another kind or outside the text.

        Pages with gaps between them result in the range from the first to the last; a region results in its whole page,
        and cells in their whole rows.
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
