"""Finds the runs of a Word document that its readers do not see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.formats.docx.looks import LEAST_LINE, Look, Looks
from citekit.adapters.formats.docx.styles import said_of, value_of, whole
from citekit.adapters.formats.shared.office_colors import WHITE, Color, hex_color
from citekit.adapters.libraries.office_package import attribute, below, local

if TYPE_CHECKING:
    from lxml.etree import _Element

PAGE = 12_240
"""The width of a page without page settings, in twentieths of a point."""

_BITS = {
    "firstRow": 0x20,
    "lastRow": 0x40,
    "firstColumn": 0x80,
    "lastColumn": 0x100,
    "noHBand": 0x200,
    "noVBand": 0x400,
}
"""The bits of the parts of a table style that a table uses (17.4.55)."""


@define
class _Place:
    """The surroundings of a paragraph: the look of its table cell, and the color behind it, or None if that is unknown."""

    table: Look
    behind: Color | None
    hidden: bool = False


@define
class Visibility:
    """Decides which runs of a part are visible.

    `paper` is the color of the page, or None if something may be behind the text.
    """

    looks: Looks
    paper: Color | None = WHITE
    width: int = PAGE
    _cells: dict[_Element, _Place] = field(factory=dict)
    _texts: dict[tuple[str, str, Look, Look, Look], Look] = field(factory=dict)

    def unseen(self, root: _Element) -> set[_Element]:
        """Return the runs below `root` that readers do not see."""
        found = {run for paragraph in root.iter("{*}p") for run in self._unseen_in(paragraph)}
        for each in root.iter("{*}AlternateContent"):
            found |= _only_in_fallback(each, found)
        return found

    def _unseen_in(self, paragraph: _Element) -> Iterator[_Element]:
        place = self._place(paragraph)
        properties = paragraph.find("{*}pPr")
        style = "" if properties is None else value_of(properties, "pStyle") or ""
        direct = self.looks.look(None, properties)
        for run in paragraph.iter("{*}r"):
            own = run.find("{*}rPr")
            name = "" if own is None else value_of(own, "rStyle") or ""
            key = style, name, place.table, direct, self.looks.look(own)
            look = self._texts.get(key)
            if look is None:
                look = self._texts[key] = self.looks.text(*key)
            if place.hidden or not look.is_legible(place.behind, self.width):
                yield run

    def _place(self, paragraph: _Element) -> _Place:
        """Return the surroundings of a paragraph: its innermost cell, text box, or page."""
        for each in paragraph.iterancestors():
            match local(each):
                case "tc":
                    return self._cell(each)
                case "txbxContent":
                    return _Place(Look(), None)  # a shape can have any fill
        return _Place(Look(), self.paper)

    def _cell(self, cell: _Element) -> _Place:
        """Return the surroundings of text in a table cell. The cells of one table are computed together."""
        if cell not in self._cells:
            table = _above(cell, "tbl")
            if table is not None:
                self._measure(table)
        return self._cells.setdefault(cell, _Place(Look(), None))

    def _measure(self, table: _Element) -> None:
        outside, settings = self._place(table), table.find("{*}tblPr")
        style = "" if settings is None else value_of(settings, "tblStyle") or ""
        used = _used_parts(settings)
        around = self.looks.shade(settings)
        looks: dict[tuple[str, ...], Look] = {}
        rows = list(_inside(table, "tr"))
        for at, row in enumerate(rows):
            hidden = outside.hidden or _is_row_hidden(row)
            cells = list(_inside(row, "tc"))
            for column, cell in enumerate(cells):
                parts = tuple(_parts(used, at, len(rows), column, len(cells)))
                look = looks.get(parts)
                if look is None:
                    look = looks[parts] = self.looks.table(style, parts)
                colors = (self.looks.shade(cell.find("{*}tcPr")), look.around, around)
                behind = next(
                    (each for each in colors if each is not None and not isinstance(each, str)), outside.behind
                )
                self._cells[cell] = _Place(look, behind, hidden)


def page_of(root: _Element, *, shows_background: bool) -> tuple[Color | None, int]:
    """Return the color behind the text of a document body and the width of its pages in twentieths of a point.

    The color is None if a picture or shape may be behind the text.
    """
    widths = [width for each in root.iter("{*}pgSz") if (width := whole(attribute(each, "w")))]
    behind = any(attribute(each, "behindDoc") in ("1", "true") for each in root.iter("{*}anchor"))
    if behind or next(root.iter("{*}pict"), None) is not None:
        return None, max(widths, default=PAGE)
    background = root.find("{*}background") if shows_background else None
    if background is None:
        return WHITE, max(widths, default=PAGE)
    return hex_color(attribute(background, "color")), max(widths, default=PAGE)


def _above(element: _Element, name: str) -> _Element | None:
    return next((each for each in element.iterancestors() if local(each) == name), None)


def _inside(element: _Element, name: str) -> Iterator[_Element]:
    """Yield the rows of a table or the cells of a row, also those in content controls and other wrappers."""
    for each in element:
        if local(each) == name:
            yield each
        elif local(each) not in ("tbl", "tr", "tc", "p"):
            yield from _inside(each, name)


def _is_row_hidden(row: _Element) -> bool:
    properties = row.find("{*}trPr")
    if properties is None:
        return False
    height = properties.find("{*}trHeight")
    number = None if height is None or attribute(height, "hRule") != "exact" else whole(attribute(height, "val"))
    return (number is not None and number <= LEAST_LINE) or said_of(properties, "hidden") is True


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
    """Yield the parts of a table style that apply to a cell, from the weakest to the strongest (17.7.6).

    `row` and `column` are counted from 0.
    """
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
    """Return the runs of the paragraphs that are in the fallback of an alternative but not in its choice.

    Current programs show the choice, but mammoth reads only the fallback.
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
