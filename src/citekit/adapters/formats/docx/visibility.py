"""Finds the runs of a Word document that its readers do not see (ECMA-376 part 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.formats.docx.fields import unseen_in_controls, unseen_in_fields
from citekit.adapters.formats.docx.looks import Look, Looks
from citekit.adapters.formats.docx.pages import LEAST_LINE, NO_FILL, Page, drawing_of, pages_of, table_box
from citekit.adapters.formats.docx.styles import said_of, signed, value_of, whole
from citekit.adapters.formats.shared.office_colors import WHITE, Color, hex_color
from citekit.adapters.libraries.office_package import attribute, below, local

if TYPE_CHECKING:
    from lxml.etree import _Element

_SHAPES = ("anchor", "inline", "shape", "rect", "roundrect", "oval")

_BITS = {
    "firstRow": 0x20,
    "lastRow": 0x40,
    "firstColumn": 0x80,
    "lastColumn": 0x100,
    "noHBand": 0x200,
    "noVBand": 0x400,
}
"""The bits that specify which parts of a table style a table uses (17.4.55)."""


@define
class _Place:
    """The surroundings of a paragraph: the look of its table cell, and the color behind it (None: unknown).

    `start` is the distance from the left edge of `page`, and `room` the height that is left for text (None: the height
    grows with the text), in twentieths of a point.
    """

    table: Look
    behind: Color | None
    page: Page
    start: int
    hidden: bool = False
    room: int | None = None


@define
class Visibility:
    """Decides which runs of a part are visible.

    `paper` is the color of the page, or None if it is unknown or something may cover it. `data` is what content
    controls can be bound to, as in `unseen_in_controls`.
    """

    looks: Looks
    paper: Color | None = WHITE
    page: Page = field(factory=Page)
    data: Mapping[str, str] = field(factory=dict)
    _pages: dict[_Element, Page] = field(factory=dict)
    _cells: dict[_Element, _Place] = field(factory=dict)
    _boxes: dict[_Element, _Place] = field(factory=dict)
    _texts: dict[tuple[str, str, Look, Look, Look], Look] = field(factory=dict)

    @classmethod
    def of(cls, looks: Looks, root: _Element, data: Mapping[str, str], *, shows_background: bool) -> Visibility:
        """Return the visibility of the text in a document with the body `root`."""
        pages, last = pages_of(root)
        paper = _paper(root, looks, shows_background=shows_background)
        return cls(looks, paper, last, data, pages)

    def unseen(self, root: _Element) -> set[_Element]:
        """Return the runs below `root` that readers do not see."""
        runs: dict[_Element, list[_Element]] = {}
        for run in root.iter("{*}r"):
            paragraph = _above(run, "p")
            if paragraph is not None:
                runs.setdefault(paragraph, []).append(run)
        found = {run for paragraph, own in runs.items() for run in self._unseen_in(paragraph, own)}
        found.update(unseen_in_fields(root), unseen_in_controls(root, self.data))
        for each in root.iter("{*}AlternateContent"):
            found |= _only_in_fallback(each, found)
        return found

    def _unseen_in(self, paragraph: _Element, runs: Sequence[_Element]) -> Iterator[_Element]:
        place = self._place(paragraph)
        properties = paragraph.find("{*}pPr")
        style = "" if properties is None else value_of(properties, "pStyle") or ""
        direct = self.looks.look(None, properties)
        height = 0
        for run in runs:
            own = run.find("{*}rPr")
            name = "" if own is None else value_of(own, "rStyle") or ""
            key = style, name, place.table, direct, self.looks.look(own)
            look = self._texts.get(key)
            if look is None:
                look = self._texts[key] = self.looks.text(*key)
            height = max(height, look.height)
            clipped = place.room is not None and place.room <= LEAST_LINE
            if place.hidden or clipped or not look.is_legible(place.behind, place.page, place.start):
                yield run
        if place.room is not None:
            place.room -= height

    def _place(self, paragraph: _Element) -> _Place:
        """Return the surroundings of a paragraph: its innermost cell, text box, or page."""
        for each in paragraph.iterancestors():
            match local(each):
                case "tc":
                    return self._cell(each)
                case "txbxContent":
                    return self._box(each)
        page = self._pages.get(paragraph, self.page)
        return _Place(Look(), self.paper, page, page.left)

    def _box(self, box: _Element) -> _Place:
        if box not in self._boxes:
            shape = next((each for each in box.iterancestors() if _is_shape(each)), None)
            paragraph = _above(box, "p")
            page = self.page if paragraph is None else self._pages.get(paragraph, self.page)
            place = _Place(Look(), None, page, 0)
            if shape is not None:
                drawn = drawing_of(shape, self.looks.scheme)
                place.behind = (
                    self.paper if drawn.fill == NO_FILL else drawn.fill if isinstance(drawn.fill, tuple) else None
                )
                place.hidden = drawn.is_hidden or not page.shows(drawn.box)
                place.page = Page(drawn.box.width or page.width, page.height, 0, 0)
            self._boxes[box] = place
        return self._boxes[box]

    def _cell(self, cell: _Element) -> _Place:
        if cell not in self._cells:
            table = _above(cell, "tbl")
            if table is not None:
                self._measure(table)
        return self._cells.setdefault(cell, _Place(Look(), None, self.page, self.page.left))

    def _measure(self, table: _Element) -> None:
        outside, settings = self._place(table), table.find("{*}tblPr")
        style = "" if settings is None else value_of(settings, "tblStyle") or ""
        used = _used_parts(settings)
        around = self.looks.shade(settings)
        looks: dict[tuple[str, ...], Look] = {}
        page, start, fixed = self._frame(table, outside), outside.start, _is_fixed(settings)
        hidden = outside.hidden or page is None
        start += self.looks.indent_of(style) if _indent(settings) is None else _indent(settings) or 0
        widths = [signed(attribute(each, "w"), digits=7) or 0 for each in table.iterfind("{*}tblGrid/{*}gridCol")]
        rows = list(_inside(table, "tr"))
        for at, row in enumerate(rows):
            height = _exact_height(row)
            flat = hidden or (height is not None and height <= LEAST_LINE) or _is_row_hidden(row)
            cells, column, left = list(_inside(row, "tc")), _before(row), start
            left += sum(widths[:column])
            for number, cell in enumerate(cells):
                said = cell.find("{*}tcPr")
                parts = tuple(_parts(used, at, len(rows), number, len(cells)))
                look = looks.get(parts)
                if look is None:
                    look = looks[parts] = self.looks.table(style, parts)
                colors = (self.looks.shade(said), look.around, around)
                behind = next(
                    (each for each in colors if each is not None and not isinstance(each, str)), outside.behind
                )
                inset, above = (_margin(said, settings, side) for side in ("left", "top"))
                width = _width(said, widths, column)
                squeezed = (
                    _is_swallowed(said, at, number) or inset >= outside.page.width or above >= outside.page.height
                )
                squeezed = squeezed or (fixed and 0 < width <= LEAST_LINE)
                self._cells[cell] = _Place(
                    look,
                    behind,
                    outside.page,
                    (left if fixed else start) + inset,
                    flat or squeezed,
                    None if height is None else height - above,
                )
                left += width
                column += _span(said)

    def _frame(self, table: _Element, outside: _Place) -> Page | None:
        """Return the page around a table, or None if the table floats outside it."""
        box = table_box(table.find("{*}tblPr"))
        return outside.page if box is None or outside.page.shows(box) else None


def _is_shape(element: _Element) -> bool:
    return local(element) in _SHAPES


def _is_fixed(settings: _Element | None) -> bool:
    layout = None if settings is None else next(below(settings, "tblLayout"), None)
    return layout is not None and attribute(layout, "type") == "fixed"


def _indent(settings: _Element | None) -> int | None:
    """Return the indentation in the properties of a table (17.4.50), or None if they specify no length for it."""
    said = None if settings is None else next(below(settings, "tblInd"), None)
    return None if said is None or attribute(said, "type") == "pct" else signed(attribute(said, "w"), digits=7)


def _before(row: _Element) -> int:
    said = row.find("{*}trPr")
    return (whole(value_of(said, "gridBefore")) or 0) if said is not None else 0


def _span(said: _Element | None) -> int:
    return min((whole(value_of(said, "gridSpan")) or 1) if said is not None else 1, 1000)


def _width(said: _Element | None, widths: list[int], column: int) -> int:
    own = None if said is None else next(below(said, "tcW"), None)
    if own is not None and attribute(own, "type") in (None, "dxa"):
        return signed(attribute(own, "w"), digits=7) or 0
    return sum(widths[column : column + _span(said)])


def _margin(cell: _Element | None, table: _Element | None, side: str) -> int:
    """Return the margin on one side inside a cell, which the cell or the table sets."""
    names = (side, "start") if side == "left" else (side,)
    for properties, name in ((cell, "tcMar"), (table, "tblCellMar")):
        margins = None if properties is None else next(below(properties, name), None)
        for each in names:
            found = None if margins is None else next(below(margins, each), None)
            if found is not None:
                return signed(attribute(found, "w"), digits=7) or 0
    return 0


def _is_swallowed(said: _Element | None, row: int, column: int) -> bool:
    """Return whether a cell is merged into the cell before or above it (17.4.22 and 17.4.84), which hides its text."""
    if said is None:
        return False
    merged = ((name, next(below(said, name), None)) for name in ("hMerge", "vMerge"))
    return any(
        each is not None and attribute(each, "val") in (None, "continue") and (column if name == "hMerge" else row)
        for name, each in merged
    )


def _paper(root: _Element, looks: Looks, *, shows_background: bool) -> Color | None:
    """Return the color behind the text of a document body, or None if it is unknown or covered."""
    shapes = root.iter(*(f"{{*}}{name}" for name in _SHAPES))
    if any(drawing_of(each, looks.scheme).can_be_behind_text for each in shapes):
        return None
    background = root.find("{*}background") if shows_background else None
    return WHITE if background is None else hex_color(attribute(background, "color"))


def _above(element: _Element, name: str) -> _Element | None:
    return next((each for each in element.iterancestors() if local(each) == name), None)


def _inside(element: _Element, name: str) -> Iterator[_Element]:
    """Yield the rows of a table or the cells of a row, including those in content controls."""
    for each in element:
        if local(each) == name:
            yield each
        elif local(each) not in ("tbl", "tr", "tc", "p"):
            yield from _inside(each, name)


def _exact_height(row: _Element) -> int | None:
    """Return the height of a row that does not grow with its text, or None if it grows."""
    properties = row.find("{*}trPr")
    height = None if properties is None else next(below(properties, "trHeight"), None)
    return None if height is None or attribute(height, "hRule") != "exact" else whole(attribute(height, "val"))


def _is_row_hidden(row: _Element) -> bool:
    properties = row.find("{*}trPr")
    return properties is not None and said_of(properties, "hidden") is True


def _used_parts(settings: _Element | None) -> frozenset[str]:
    """Return the names in `_BITS` that are on in the properties of a table (17.4.55)."""
    used = None if settings is None else next(below(settings, "tblLook"), None)
    if used is None:
        return frozenset()
    try:
        mask = int(attribute(used, "val") or "0", 16)
    except ValueError:
        mask = 0
    said = {name: attribute(used, name) for name in _BITS}
    return frozenset(
        name for name, bit in _BITS.items() if (said[name] in ("1", "true", "on") if said[name] else mask & bit)
    )


def _parts(used: frozenset[str], row: int, rows: int, column: int, columns: int) -> Iterator[str]:
    """Yield the parts of a table style that apply to a cell, from the weakest to the strongest (17.7.6)."""
    first, last = "firstRow" in used and row == 0, "lastRow" in used and row == rows - 1
    left, right = "firstColumn" in used and column == 0, "lastColumn" in used and column == columns - 1
    if "noVBand" not in used and not left and not right:
        yield f"band{(column - ('firstColumn' in used)) % 2 + 1}Vert"
    if "noHBand" not in used and not first and not last:
        yield f"band{(row - ('firstRow' in used)) % 2 + 1}Horz"
    applied = {
        "firstCol": left,
        "lastCol": right,
        "firstRow": first,
        "lastRow": last,
        "nwCell": first and left,
        "neCell": first and right,
        "swCell": last and left,
        "seCell": last and right,
    }
    yield from (name for name, applies in applied.items() if applies)


def _only_in_fallback(alternatives: _Element, unseen: set[_Element]) -> set[_Element]:
    """Return the runs of those paragraphs of the fallback whose visible text the choices of `alternatives` lack.
    Programs show a choice, but mammoth reads only the fallback.
    """
    choices, fallback = alternatives.findall("{*}Choice"), alternatives.find("{*}Fallback")
    if not choices or fallback is None:
        return set()
    shown = _squeezed("".join(_seen_text(each, unseen) for each in choices))
    paragraphs = list(fallback.iter("{*}p")) or [fallback]
    hidden = [each for each in paragraphs if _squeezed(_seen_text(each, unseen)) not in shown]
    return {run for each in hidden for run in each.iter("{*}r")}


def _seen_text(element: _Element, unseen: set[_Element]) -> str:
    runs = (run for run in element.iter("{*}r") if run not in unseen)
    return "".join(str(text.text or "") for run in runs for text in below(run, "t"))


def _squeezed(text: str) -> str:
    return "".join(text.split())
