"""Streams the cells of a worksheet (SpreadsheetML, ECMA-376 part 1, 18.3.1) with expat; see ADR 22.

Only cells with a value or a formula are returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any
from xml.parsers import expat

from attrs import define, field

from citekit.adapters.formats.xlsx.values import constant
from citekit.domain.errors import SourceUnsupported
from citekit.domain.locations.cells import COLUMNS_LIMIT, ROWS_LIMIT

TEXT_LIMIT = 32_767
"""Maximum number of characters in a cell (Excel specifications and limits). Longer text is truncated."""

STRINGS_LIMIT = 4_000_000
CHARACTERS_LIMIT = 128 * 1024 * 1024
"""Maximum number of shared strings in a workbook, and of the characters in all of them."""

NO_VALUE = "f"
"""The kind of a cell with a formula but no stored value. Its text is the formula."""

_OFTEN = frozenset(("c", "v", "row", "f"))
"""Elements that have no prefix in nearly every workbook."""

_LETTERS = {chr(64 + number): number for number in range(1, 27)} | {chr(96 + number): number for number in range(1, 27)}


LEAST_HEIGHT, LEAST_WIDTH = 4.0, 0.5
"""The height in points, and the width in characters, up to which rows and columns count as hidden."""

_ON = ("1", "true")

ELEMENTS = (300_000, 0.75)
CHARACTERS = (16 * 1024 * 1024, 100)
"""The maximum number of elements and of bytes of markup in one pass: a constant plus a factor times the file size.

Typical workbooks have one element for every two or three bytes and unpack to 5 to 30 times their size.
"""


@define
class Allowance:
    """The numbers of XML elements and bytes of markup that may still be read in one pass."""

    name: str
    elements: int
    characters: int

    @classmethod
    def of(cls, name: str, size: int) -> Allowance:
        """Return the initial allowance for the file `name`, which has `size` bytes."""
        return cls(name, int(ELEMENTS[0] + ELEMENTS[1] * size), int(CHARACTERS[0] + CHARACTERS[1] * size))

    def take(self, elements: int, characters: int) -> None:
        """Deduct elements and bytes from the allowance. Raise `SourceUnsupported` if it is exceeded."""
        self.elements -= elements
        self.characters -= characters
        if self.elements < 0 or self.characters < 0:
            raise SourceUnsupported(
                f"{self.name} expands to far more data than is plausible for its size, so it was not read. "
                "Split it, or resave it with a spreadsheet program."
            )


WORDS = frozenset(("s", "str", "inlineStr"))
"""Cell types that contain text."""


@define
class Value:
    """A cell with its value; `text` is the value as stored in the file.

    `kind` is the cell type in SpreadsheetML (such as `n` or `s`), or `NO_VALUE` for a formula without a stored value.
    `row` and `column` are 1-based. `withheld` is true if the sheet is hidden, or if the value is not the result of the
    formula. `hidden` is true if the value is withheld, or if the row or the column is hidden. `Merged.apply` changes it
    for merged cells.
    """

    row: int
    column: int
    kind: str
    text: str
    style: int
    formula: bool
    hidden: bool = False
    withheld: bool = False


@define
class Grid:
    """The rows and columns of a worksheet that are hidden, or so small that they count as hidden.

    `narrow` and `wide` contain the hidden and the visible columns, each with a later column from which the search for
    new columns can continue, so that repeated elements are cheap.
    """

    usually_flat: bool = False
    usually_narrow: bool = False
    narrow: dict[int, int] = field(factory=dict)
    wide: dict[int, int] = field(factory=dict)

    def measure(self, tag: str, said: dict[str, str]) -> None:
        """Record the columns of a `col` element, or the default sizes in a `sheetFormatPr` element."""
        if tag == "sheetFormatPr":
            self.usually_flat = _size(said.get("defaultRowHeight")) <= LEAST_HEIGHT
            self.usually_narrow = _size(said.get("defaultColWidth")) <= LEAST_WIDTH
            return
        hidden = said.get("hidden") in _ON or _size(said.get("width")) <= LEAST_WIDTH
        known, passed, column = self.narrow if hidden else self.wide, list[int](), _whole(said.get("min"))
        while column <= min(_whole(said.get("max")), COLUMNS_LIMIT):
            passed.append(column)
            column = known.get(column, column + 1)
        known.update(dict.fromkeys(passed, column))

    def is_narrow(self, column: int) -> bool:
        """Return whether a column is hidden."""
        return column in self.narrow or (self.usually_narrow and column not in self.wide)

    def is_flat(self, said: dict[str, str]) -> bool:
        """Return whether the row with the attributes `said` is hidden, as in collapsed groups and filtered tables."""
        height = said.get("ht")
        return said.get("hidden") in _ON or (_size(height) <= LEAST_HEIGHT if height else self.usually_flat)


@define
class _Sheet:
    """Collects complete cells in `ready`, and passes other elements, such as `col` and `mergeCell`, to `seen`."""

    ready: list[Value] = field(factory=list)
    seen: Callable[[str, dict[str, str]], None] | None = None
    row: int = 0
    column: int = 0
    kind: str = "n"
    style: int = 0
    formula: bool = False
    pieces: list[str] = field(factory=list)
    entered: list[str] = field(factory=list)
    length: int = 0
    taking: bool = False
    entering: bool = False
    phonetic: int = 0
    inside: bool = False
    elements: int = 0
    hidden: bool = False
    flat: bool = False
    grid: Grid = field(factory=Grid)

    def start(self, name: str, said: dict[str, str]) -> None:
        self.elements += 1
        tag = name if name in _OFTEN else name.rpartition(":")[2]
        if tag == "c":
            self._begin(said)
        elif tag == "v" or tag == "t":
            self.taking = self.inside and not self.phonetic
        elif tag == "f":
            self.formula = self.entering = True
        elif tag == "row":
            self.row = _whole(said.get("r")) or self.row + 1
            self.column = 0
            self.flat = self.grid.is_flat(said)
        elif tag == "rPh":
            self.phonetic += 1
        else:
            if tag == "col" or tag == "sheetFormatPr":
                self.grid.measure(tag, said)
            if self.seen is not None:
                self.seen(tag, said)

    def end(self, name: str) -> None:
        tag = name if name in _OFTEN else name.rpartition(":")[2]
        if tag == "c":
            self._finish()
        elif tag == "v" or tag == "t":
            self.taking = False
        elif tag == "f":
            self.entering = False
        elif tag == "rPh":
            self.phonetic -= 1

    def words(self, text: str) -> None:
        if (self.taking or self.entering) and self.length < TEXT_LIMIT:
            (self.pieces if self.taking else self.entered).append(text[: TEXT_LIMIT - self.length])
            self.length += len(text)

    def _begin(self, said: dict[str, str]) -> None:
        row, column = _row_and_column(said["r"]) if "r" in said else (0, 0)
        self.row, self.column = row or self.row, column or self.column + 1
        self.kind = said.get("t", "n")
        self.style = _whole(said["s"]) if "s" in said else 0
        self.formula, self.inside = False, True
        self.length = 0
        if self.pieces:
            self.pieces.clear()
        if self.entered:
            self.entered.clear()

    def _finish(self) -> None:
        self.inside = False
        if self.entered and not self.pieces:
            self.kind, self.pieces = NO_VALUE, ["=", *self.entered]
        if not self.pieces or not (1 <= self.row <= ROWS_LIMIT and 1 <= self.column <= COLUMNS_LIMIT):
            return
        text = "".join(self.pieces)
        forged = self.entered and self.kind in ("n", "str", "b") and not _is_result("".join(self.entered), text)
        withheld = self.hidden or bool(forged)
        if text:
            self.ready.append(
                Value(
                    self.row,
                    self.column,
                    self.kind,
                    text,
                    self.style,
                    self.formula,
                    withheld or self.flat or self.grid.is_narrow(self.column),
                    withheld,
                )
            )


def values(
    pieces: Iterable[bytes],
    name: str,
    seen: Callable[[str, dict[str, str]], None] | None = None,
    allowance: Allowance | None = None,
    *,
    hidden: bool = False,
) -> Iterator[Value]:
    """Yield the cells with a value or a formula of the worksheet whose bytes arrive in `pieces`, in file order.

    `seen` is called with the name and the attributes of other elements, such as `col` and `mergeCell`. If `hidden` is
    set, all cells are hidden. Raise `SourceUnsupported` if the part `name` is not a valid worksheet or exceeds the
    `allowance`.
    """
    sheet = _Sheet(seen=seen, hidden=hidden)
    for _ in _parsed(pieces, name, sheet, allowance):
        yield from sheet.ready
        sheet.ready.clear()
    yield from sheet.ready


@define
class _Strings:
    name: str
    found: list[str] = field(factory=list)
    pieces: list[str] = field(factory=list)
    taking: bool = False
    phonetic: int = 0
    length: int = 0
    total: int = 0
    elements: int = 0

    def start(self, name: str, _said: dict[str, str]) -> None:
        self.elements += 1
        tag = name.rpartition(":")[2]
        if tag == "si":
            self.pieces.clear()
            self.length = 0
        elif tag == "t":
            self.taking = not self.phonetic
        elif tag == "rPh":
            self.phonetic += 1

    def end(self, name: str) -> None:
        tag = name.rpartition(":")[2]
        if tag == "si":
            self.found.append("".join(self.pieces))
            self.total += min(self.length, TEXT_LIMIT)
            if len(self.found) > STRINGS_LIMIT or self.total > CHARACTERS_LIMIT:
                raise SourceUnsupported(
                    f"{self.name} has more than {STRINGS_LIMIT:,} strings or {CHARACTERS_LIMIT >> 20} million characters "
                    "of text; split it."
                )
        elif tag == "t":
            self.taking = False
        elif tag == "rPh":
            self.phonetic -= 1

    def words(self, text: str) -> None:
        if self.taking and self.length < TEXT_LIMIT:
            self.pieces.append(text[: TEXT_LIMIT - self.length])
            self.length += len(text)


@define
class MergedCells:
    """The merged cells of a worksheet: their references, and the rows and columns that are hidden."""

    found: list[str] = field(factory=list)
    grid: Grid = field(factory=Grid)
    flat: set[int] = field(factory=set)
    row: int = 0
    elements: int = 0

    def start(self, name: str, said: dict[str, str]) -> None:
        """Handle the start of an element with the attributes `said`."""
        self.elements += 1
        tag = name.rpartition(":")[2]
        if tag == "mergeCell":
            self.found.append(said.get("ref", ""))
        elif tag == "row":
            self.row = _whole(said.get("r")) or self.row + 1
            if self.grid.is_flat(said):
                self.flat.add(self.row)
        elif tag == "col" or tag == "sheetFormatPr":
            self.grid.measure(tag, said)

    def is_flat(self, row: int) -> bool:
        """Return whether a row is hidden."""
        return row in self.flat

    def end(self, name: str) -> None:
        """Ignore the end of an element."""

    def words(self, text: str) -> None:
        """Ignore text."""


def merged_cells(pieces: Iterable[bytes], name: str, allowance: Allowance | None = None) -> MergedCells:
    """Return the merged cells of a worksheet. See `values` for errors."""
    merged = MergedCells()
    for _ in _parsed(pieces, name, merged, allowance):
        pass
    return merged


def shared_strings(pieces: Iterable[bytes], name: str, allowance: Allowance | None = None) -> list[str]:
    """Return the shared strings of a workbook (ECMA-376 part 1, 18.4), without formatting and phonetic readings.

    Raise `SourceUnsupported` if the part `name` is not valid or too large.
    """
    strings = _Strings(name)
    for _ in _parsed(pieces, name, strings, allowance):
        pass
    return strings.found


def _parsed(pieces: Iterable[bytes], name: str, handlers: Any, allowance: Allowance | None) -> Iterator[None]:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = handlers.start
    parser.EndElementHandler = handlers.end
    parser.CharacterDataHandler = handlers.words
    parser.StartDoctypeDeclHandler = _refuse_doctype(name)
    try:
        for piece in pieces:
            parser.Parse(piece, False)
            if allowance is not None:
                allowance.take(handlers.elements, len(piece))
                handlers.elements = 0
            yield
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise SourceUnsupported(f"The workbook is damaged: {name} is not well-formed XML ({error}).") from error


def _is_result(formula: str, stored: str) -> bool:
    """Return whether a stored value may be the result of a formula. Only formulas of constants are computed."""
    computed = constant(formula)
    if computed is None or isinstance(computed, str):
        return computed is None or computed == stored
    try:
        return math.isclose(float(stored), computed, rel_tol=1e-9, abs_tol=1e-12)
    except ValueError:
        return False


def _refuse_doctype(name: str) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise SourceUnsupported(
            f"{name} contains a DOCTYPE, which Office files must not have (ECMA-376 part 2, 6.2.5)."
        )

    return refuse


def _size(text: str | None) -> float:
    try:
        return math.inf if text is None else float(text)
    except ValueError:
        return math.inf


def _whole(text: str | None) -> int:
    return int(text) if text and len(text) <= 9 and text.isascii() and text.isdigit() else 0


def _row_and_column(reference: str) -> tuple[int, int]:
    """Return the row and column of a cell name such as `B3`; (0, 0) if `reference` is not a cell name."""
    letters = reference.rstrip("0123456789")
    column = _known_column(letters)
    row = reference[len(letters) :]
    return (int(row), column) if column and 0 < len(row) < 10 else (0, 0)


def _column(letters: str) -> int:
    """Return the 1-based number of the column named `letters`; 0 if no sheet can have such a column."""
    column = 0
    for letter in letters[:4]:
        column = column * 26 + _LETTERS.get(letter, COLUMNS_LIMIT)
    return column if column <= COLUMNS_LIMIT else 0


_known_column = lru_cache(COLUMNS_LIMIT)(_column)
