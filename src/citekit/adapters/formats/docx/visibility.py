"""Finds the runs of a Word document that its readers do not see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.formats.docx.looks import Look, Looks
from citekit.adapters.formats.docx.styles import said_of, value_of, whole
from citekit.adapters.formats.shared.office_colors import WHITE, Color, hex_color
from citekit.adapters.libraries.office_package import attribute, below, local

if TYPE_CHECKING:
    from lxml.etree import _Element

PAGE = 12_240
"""The width of a page without page settings, in twentieths of a point."""

LEAST_ROW = 40
"""The exact height of a table row, in twentieths of a point, up to which it shows nothing."""

_BANDS = {
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
    """What is around a paragraph: the look of its table cell and the color behind it, None if that is not known."""

    table: Look
    behind: Color | None
    hidden: bool = False


@define
class Visibility:
    """Decides which runs of a part are seen. `paper` is the color of the page, or None if something may lie behind."""

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
        """Return what is around a paragraph: its innermost cell, text box, or page."""
        for each in paragraph.iterancestors():
            match local(each):
                case "tc":
                    return self._cell(each)
                case "txbxContent":
                    return _Place(Look(), None)  # a shape can have any fill
        return _Place(Look(), self.paper)

    def _cell(self, cell: _Element) -> _Place:
        known = self._cells.get(cell)
        if known is None:
            known = self._cells[cell] = self._new_cell(cell)
        return known

    def _new_cell(self, cell: _Element) -> _Place:
        row, table = _above(cell, "tr"), _above(cell, "tbl")
        if row is None or table is None:
            return _Place(Look(), None)
        outside = self._place(table)
        settings = table.find("{*}tblPr")
        style = "" if settings is None else value_of(settings, "tblStyle") or ""
        look = self.looks.table(style, tuple(_parts(cell, row, table, settings)))
        colors = (self.looks.shade(cell.find("{*}tcPr")), look.around, self.looks.shade(settings))
        behind = next((each for each in colors if each is not None and not isinstance(each, str)), outside.behind)
        height = row.find("{*}trPr/{*}trHeight")
        flat = height is not None and attribute(height, "hRule") == "exact" and _is_flat(attribute(height, "val"))
        properties = row.find("{*}trPr")
        hidden = flat or (properties is not None and said_of(properties, "hidden") is True)
        return _Place(look, behind, hidden or outside.hidden)


def page_of(root: _Element, *, shows_background: bool) -> tuple[Color | None, int]:
    """Return the color behind the text of a document body and the width of its pages in twentieths of a point.

    The color is None if a picture or shape may lie behind the text.
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


def _is_flat(height: str | None) -> bool:
    number = whole(height)
    return number is not None and number <= LEAST_ROW


def _parts(cell: _Element, row: _Element, table: _Element, settings: _Element | None) -> Iterator[str]:
    """Yield the parts of the table style that apply to a cell, from the weakest to the strongest (17.7.6)."""
    rows, cells = list(below(table, "tr")), list(below(row, "tc"))
    used = None if settings is None else next(below(settings, "tblLook"), None)
    if row not in rows or cell not in cells:
        return
    at, column = rows.index(row), cells.index(cell)
    is_used = {name: _is_used(used, name, bit) for name, bit in _BANDS.items()}
    is_first, is_last = is_used["firstRow"] and at == 0, is_used["lastRow"] and at == len(rows) - 1
    is_left, is_right = is_used["firstColumn"] and column == 0, is_used["lastColumn"] and column == len(cells) - 1
    if not is_used["noVBand"] and not is_left and not is_right:
        yield f"band{(column - is_used['firstColumn']) % 2 + 1}Vert"
    if not is_used["noHBand"] and not is_first and not is_last:
        yield f"band{(at - is_used['firstRow']) % 2 + 1}Horz"
    yield from (name for name, applies in (("firstCol", is_left), ("lastCol", is_right)) if applies)
    yield from (name for name, applies in (("firstRow", is_first), ("lastRow", is_last)) if applies)
    for name, applies in (
        ("nwCell", is_first and is_left),
        ("neCell", is_first and is_right),
        ("swCell", is_last and is_left),
        ("seCell", is_last and is_right),
    ):
        if applies:
            yield name


def _is_used(used: _Element | None, name: str, bit: int) -> bool:
    if used is None:
        return False
    said = attribute(used, name)
    if said is not None:
        return said in ("1", "true", "on")
    try:
        return bool(int(attribute(used, "val") or "0", 16) & bit)
    except ValueError:
        return False


def _only_in_fallback(alternatives: _Element, unseen: set[_Element]) -> set[_Element]:
    """Return the runs of the paragraphs in a fallback whose words are not seen in the choice, which programs of today show.

    mammoth reads only the fallback.
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
