"""Reads where a Word document places text: the pages of its sections, and its floating frames, tables, and shapes.

All lengths are in twentieths of a point. See ECMA-376 part 1, 17.6, 17.3.1.11, 17.4.57, and 20.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import frozen

from citekit.adapters.formats.docx.styles import signed
from citekit.adapters.formats.shared.office_colors import WHITE, Color, drawn_color, hex_color, is_near
from citekit.adapters.libraries.office_package import attribute, below, local

if TYPE_CHECKING:
    from lxml.etree import _Element

LEAST_LINE = 40
"""Lines, rows, and boxes of at most this size show no text."""

BESIDE = 400
"""Text that begins at least this far to the left of the page is not legible."""

BEHIND = 288
"""The minimum width and height of a shape behind text that can make the text legible."""

_EMU = 635
_POINTS = {"pt": 20.0, "in": 1440.0, "cm": 567.0, "mm": 56.7, "px": 15.0, "pc": 240.0, "": 15.0}
_LENGTH = re.compile(r"(-?\d{1,9}(?:\.\d{0,9})?)\s*(pt|in|cm|mm|px|pc|)")


@frozen
class Page:
    """The size of a page, and the distances of its text from the left and top edges."""

    width: int = 12_240
    height: int = 15_840
    left: int = 1_440
    top: int = 1_440

    @classmethod
    def of(cls, section: _Element) -> Page:
        """Return the page that the settings of a section describe."""
        size, margins = next(below(section, "pgSz"), None), next(below(section, "pgMar"), None)
        width, height = (None if size is None else signed(attribute(size, name), digits=7) for name in ("w", "h"))
        names = ("left", "start"), ("top",)
        left, top = (
            next((number for name in each if (number := signed(attribute(margins, name), digits=7)) is not None), None)
            if margins is not None
            else None
            for each in names
        )
        usual = cls()
        return cls(
            width or usual.width,
            height or usual.height,
            usual.left if left is None else left,
            usual.top if top is None else abs(top),
        )

    def shows_text_at(self, start: int) -> bool:
        """Return whether text that begins at the distance `start` from the left edge is visible."""
        return -BESIDE < start < self.width - LEAST_LINE and self.top < self.height - LEAST_LINE

    def shows(self, box: Box) -> bool:
        """Return whether a box is at least partly on the page, and large enough for text."""
        left, top = (box.left + (0 if box.is_absolute else self.left), box.top)
        if 0 < box.width <= LEAST_LINE or 0 < box.height <= LEAST_LINE:
            return False
        across = left < self.width - LEAST_LINE and (box.width <= 0 or left + box.width > LEAST_LINE)
        far = 0 if box.is_absolute_down else self.height
        return across and top < self.height - LEAST_LINE and (not box.height or top + box.height > LEAST_LINE - far)


@frozen
class Box:
    """The position and size of an object that floats on a page. A width or height of 0 is unknown.

    `is_absolute` and `is_absolute_down` mean that `left` and `top` are measured from the edges of the page.
    """

    left: int = 0
    top: int = 0
    width: int = 0
    height: int = 0
    is_absolute: bool = True
    is_absolute_down: bool = True


def pages_of(root: _Element) -> tuple[dict[_Element, Page], Page]:
    """Return the page of each paragraph below `root`, and the page of the last section."""
    found: dict[_Element, Page] = {}
    waiting: list[_Element] = []
    page = Page()
    for each in root.iter("{*}p", "{*}sectPr"):
        if local(each) == "p":
            waiting.append(each)
        elif (parent := each.getparent()) is not None and local(parent) in ("pPr", "body"):
            page = Page.of(each)
            found.update(dict.fromkeys(waiting, page))
            waiting.clear()
    page = Page() if waiting else page
    return found | dict.fromkeys(waiting, page), page


def frame_of(properties: _Element | None) -> Box | None:
    """Return the box of a text frame, or None if a paragraph has no frame."""
    frame = None if properties is None else next(below(properties, "framePr"), None)
    if frame is None:
        return None
    left, top, width, height = (signed(attribute(frame, name), digits=7) or 0 for name in ("x", "y", "w", "h"))
    exact = attribute(frame, "hRule") == "exact"
    return Box(
        left,
        top,
        width,
        height if exact else 0,
        attribute(frame, "hAnchor") == "page",
        attribute(frame, "vAnchor") in ("page", "margin"),
    )


def table_box(settings: _Element | None) -> Box | None:
    """Return the box of a floating table, or None for any other table."""
    floating = None if settings is None else next(below(settings, "tblpPr"), None)
    if floating is None:
        return None
    left, top = (signed(attribute(floating, name), digits=7) or 0 for name in ("tblpX", "tblpY"))
    return Box(
        left,
        top,
        is_absolute=attribute(floating, "horzAnchor") == "page",
        is_absolute_down=attribute(floating, "vertAnchor") in ("page", "margin"),
    )


@frozen
class Drawing:
    """A shape: its box, whether it is hidden or behind the text, and its color.

    `fill` is `NO_FILL` if it is transparent, None if it is unknown.
    """

    box: Box = Box()
    is_hidden: bool = False
    is_behind: bool = False
    fill: Color | str | None = None

    @property
    def can_be_behind_text(self) -> bool:
        """Whether the shape may make white text legible."""
        pale = self.fill == NO_FILL or (isinstance(self.fill, tuple) and is_near(self.fill, WHITE))
        return (
            self.is_behind
            and not pale
            and all(size == 0 or size >= BEHIND for size in (self.box.width, self.box.height))
        )


NO_FILL = "none"


def drawing_of(element: _Element, scheme: Callable[[str], Color | None]) -> Drawing:
    """Return the shape of an `anchor` or `inline` element of DrawingML, or of VML.

    `scheme` returns the theme color with a given name.
    """
    return _drawing(element, scheme) if local(element) in ("anchor", "inline") else _vml(element)


def _drawing(element: _Element, scheme: Callable[[str], Color | None]) -> Drawing:
    extent = next(below(element, "extent"), None)
    width, height = (0 if extent is None else max(_twips(attribute(extent, name)), 1) for name in ("cx", "cy"))
    places = {}
    for name in ("positionH", "positionV"):
        position = next(below(element, name), None)
        offset = None if position is None else position.findtext("{*}posOffset")
        relative = "" if position is None else attribute(position, "relativeFrom") or ""
        absolute = relative in (("page", "leftMargin") if name == "positionH" else ("page", "topMargin", "margin"))
        places[name] = (None if offset is None else _twips(offset)), absolute
    (left, across), (top, down) = places["positionH"], places["positionV"]
    fill = next((each for each in element.iterfind(".//{*}spPr/*") if local(each) in ("solidFill", "noFill")), None)
    picture = next(element.iter("{*}pic"), None) is not None
    drawn = None if fill is None or picture else drawn_color(fill, scheme)
    transparent = (
        not picture and fill is not None and (local(fill) == "noFill" or (drawn is not None and drawn[1] < 0.1))
    )
    hidden = any(attribute(each, "hidden") in ("1", "true") for each in below(element, "docPr"))
    return Drawing(
        Box(left or 0, top or 0, width, height, across or left is None, down or top is None),
        hidden,
        attribute(element, "behindDoc") in ("1", "true"),
        NO_FILL if transparent else None if drawn is None else drawn[0],
    )


def _twips(text: str | None) -> int:
    return (signed(text, digits=12) or 0) // _EMU


def _vml(element: _Element) -> Drawing:
    """Return a shape of VML, whose position is in its style (ECMA-376 part 4, 19.1.2.19)."""
    pairs = (each.partition(":") for each in (attribute(element, "style") or "").split(";"))
    style = {name.strip().lower(): value.strip().lower() for name, _, value in pairs}
    width, height = (_length(style.get(name)) for name in ("width", "height"))
    left, top = (_length(style.get(f"margin-{side}")) or _length(style.get(side)) or 0 for side in ("left", "top"))
    filled = attribute(element, "filled") not in ("f", "false", "0")
    picture = next(element.iter("{*}imagedata"), None) is not None
    digits = (attribute(element, "fillcolor") or "#ffffff").split()[0].lstrip("#")
    color = hex_color("".join(2 * each for each in digits) if len(digits) == 3 else digits)
    floats = style.get("position") == "absolute"
    return Drawing(
        Box(
            left if floats else 0,
            top if floats else 0,
            0 if width is None else max(width, 1),
            0 if height is None else max(height, 1),
            style.get("mso-position-horizontal-relative") == "page",
            style.get("mso-position-vertical-relative") in ("page", "margin"),
        ),
        style.get("visibility") == "hidden" or style.get("display") == "none",
        style.get("z-index", "").startswith("-"),
        None if picture else color if filled else NO_FILL,
    )


def _length(text: str | None) -> int | None:
    found = _LENGTH.fullmatch(text or "")
    return None if found is None else round(float(found[1]) * _POINTS[found[2]])
