"""Decides which text of a slide is legible, by its color, its background, its size, and the shapes above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from citekit.adapters.formats.pptx.slide_styles import FILLS, SlideColors, TextStyle, number
from citekit.adapters.formats.pptx.text import USUAL_SIZE
from citekit.adapters.formats.shared.office_colors import BLACK, TINY, WHITE, Color, drawn_color, is_near, theme_of
from citekit.adapters.libraries.lxml import parse_xml
from citekit.adapters.libraries.office_package import local

if TYPE_CHECKING:
    from lxml.etree import _Element

COVERS = 200
"""The maximum number of opaque rectangles of a slide that are compared with other shapes, the largest ones.

The same limit applies to opaque shapes of other forms.
"""

_FLAT = frozenset(("rect", "roundRect"))
_THEME = "/theme"
_SLIGHT, _VEILING, _FULL = 0.1, 0.5, 0.9
"""The opacities (0 to 1) above which a fill counts as visible, as covering text, and as showing exactly its own color."""
_SLACK = 0.002
"""The fraction of a slide by which a covered shape may extend beyond its cover."""

Edges = tuple[float, float, float, float]
"""Left, top, right, and bottom as fractions of the slide."""

Drawn = Sequence[tuple[Any, Edges | None]]
"""Shapes in drawing order, each with its edges, or None for a shape without a position."""


@frozen
class Cover:
    """An opaque shape at the position `order` in drawing order. `color` is None if it is unknown or not uniform."""

    order: int
    edges: Edges
    color: Color | None

    def contains(self, edges: Edges) -> bool:
        """Return whether the shape extends over `edges`, except for `_SLACK`."""
        left, top, right, bottom = edges
        mine = self.edges
        return (
            mine[0] <= left + _SLACK
            and mine[1] <= top + _SLACK
            and mine[2] >= right - _SLACK
            and mine[3] >= bottom - _SLACK
        )


@define
class Canvas:
    """A slide as it is drawn. `background` is None if it has no single, known color; `moved` has the IDs of animated
    shapes. `covers` are the opaque rectangles, and `forms` the opaque shapes of any other form, which may leave parts
    of their bounding rectangles uncovered.
    """

    master: Any
    colors: SlideColors
    background: Color | None
    covers: Sequence[Cover] = ()
    forms: Sequence[Cover] = ()
    moved: frozenset[str] = field(factory=frozenset)

    @classmethod
    def of(cls, slide: Any) -> Canvas:
        """Return the canvas of a slide without its shapes."""
        master = slide.slide_layout.slide_master
        parts = (each.target_part for each in master.part.rels.values() if each.reltype.endswith(_THEME))
        theme = next((parse_xml(part.blob, "theme") for part in parts), None)
        mapped = master._element.find("{*}clrMap")
        names = {} if mapped is None else {str(name): str(value) for name, value in mapped.attrib.items()}
        colors = SlideColors(theme_of(theme), names)
        moved = (each.get("spid") or "" for each in slide._element.iterfind("{*}timing//{*}spTgt"))
        return cls(master, colors, _background(slide, colors), moved=frozenset(moved))

    def see(self, shapes: Drawn, below: Drawn = ()) -> None:
        """Record the largest opaque shapes that are not animated: `shapes` of the slide, and shapes `below` them, of its
        layout and master. Both are in drawing order, with their edges.
        """
        found = [
            (is_rectangular(shape), Cover(order, edges, color))
            for order, (shape, edges) in enumerate([*below, *shapes], -len(below))
            if edges is not None and (order < 0 or self._is_fixed(shape))
            for color in self._opaque(shape)
        ]
        self.covers = _largest([cover for is_rectangle, cover in found if is_rectangle])
        self.forms = _largest([cover for is_rectangle, cover in found if not is_rectangle])

    def is_covered(self, order: int, edges: Edges | None) -> bool:
        """Return whether a later shape covers the shape at the position `order` in drawing order."""
        return edges is not None and any(each.order > order and each.contains(edges) for each in self.covers)

    def reader(self, shape: Any, order: int, edges: Edges | None) -> Reader:
        """Return an object that decides which runs of a shape are legible."""
        own = list(self._fill(shape))
        behind = (own[0],) if own else self._behind(order, edges)
        return Reader(TextStyle.of(shape, self.master, None), self.colors, behind)

    def _behind(self, order: int, edges: Edges | None) -> tuple[Color | None, ...]:
        """Return the colors that may be behind a shape: that of the uppermost rectangle below it, and those of other forms
        above that rectangle.
        """
        if edges is None:
            return (self.background,)
        below = [each for each in self.covers if each.order < order and each.contains(edges)]
        lowest, color = (below[-1].order, below[-1].color) if below else (None, self.background)
        forms = (each for each in self.forms if each.order < order and each.contains(edges))
        return (color, *(each.color for each in forms if lowest is None or each.order > lowest))

    def _is_fixed(self, shape: Any) -> bool:
        return str(shape.shape_id) not in self.moved

    def _opaque(self, shape: Any) -> Iterator[Color | None]:
        """Yield the color of a shape that hides what is below it, or None if the color is unknown or not uniform."""
        if local(shape._element) == "pic":
            yield None
            return
        yield from self._fill(shape, least=_VEILING)

    def _fill(self, shape: Any, least: float = _SLIGHT) -> Iterator[Color | None]:
        """Yield the fill color of a shape whose fill is more opaque than `least`, or None if its exact color is
        unknown.
        """
        properties = shape._element.find("{*}spPr")
        fill = None if properties is None else next((each for each in properties if local(each) in FILLS), None)
        if fill is None:
            style = shape._element.find("{*}style/{*}fillRef")
            if style is not None and style.get("idx") != "0":
                yield None
        elif local(fill) == "solidFill":
            drawn = drawn_color(fill, self.colors)
            if drawn is None or drawn[1] > _FULL:
                yield None if drawn is None else drawn[0]
            elif drawn[1] > least:
                yield None
        elif local(fill) != "noFill":
            yield None


@frozen
class Reader:
    """Decides which runs of a shape are legible, by their styles and the colors that may be behind the shape.

    A color of `behind` is None if it is unknown.
    """

    style: TextStyle
    colors: SlideColors
    behind: Sequence[Color | None]
    _plain: dict[str, bool] = field(factory=dict, init=False)
    """Whether runs without properties of their own are legible, by their level."""

    def is_legible(self, run: _Element, paragraph: _Element) -> bool:
        """Return whether a run is large enough to be read, and its color differs from a color that may be behind it.

        Only the size counts if its color or a color that may be behind it is unknown, or if the run is highlighted,
        outlined, or filled with anything but a solid color.
        """
        own, settings = run.find("{*}rPr"), paragraph.find("{*}pPr")
        if (own is not None and (len(own) or own.attrib)) or (settings is not None and len(settings)):
            return self._is_legible(own, paragraph)
        level = "" if settings is None else settings.get("lvl") or ""
        if level not in self._plain:
            self._plain[level] = self._is_legible(None, paragraph)
        return self._plain[level]

    def size_of(self, run: _Element, paragraph: _Element) -> float:
        """Return the font size of a run in hundredths of a point."""
        size = _size(self._properties(run.find("{*}rPr"), paragraph))
        return (USUAL_SIZE if size is None else size) * self.style.scale

    def _properties(self, own: _Element | None, paragraph: _Element) -> list[_Element]:
        """Return the properties of a run with those that it inherits, its own first."""
        said = [] if own is None else [own]
        return said + [each for level in self.style.levels(paragraph) if (each := level.find("{*}defRPr")) is not None]

    def _is_legible(self, own: _Element | None, paragraph: _Element) -> bool:
        said = self._properties(own, paragraph)
        size = _size(said)
        if size is not None and size * self.style.scale <= 100 * TINY:
            return False
        fill = next((child for each in said for child in each if local(child) in FILLS), None)
        marked = None if own is None else own.find("{*}highlight")
        if (
            None in self.behind
            or marked is not None
            or any(each.find("{*}ln/{*}solidFill") is not None for each in said)
        ):
            return True
        if fill is not None and local(fill) != "solidFill":
            return True
        drawn = (self.colors("tx1") or BLACK, 1.0) if fill is None else drawn_color(fill, self.colors)
        return drawn is None or not all(is_near(drawn[0], each, drawn[1]) for each in self.behind if each is not None)


def is_rectangular(shape: Any) -> bool:
    """Return whether a shape is a picture or a rectangle, so that it fills its bounding rectangle."""
    form = shape._element.find("{*}spPr/{*}prstGeom")
    return local(shape._element) == "pic" or (form is not None and form.get("prst") in _FLAT)


def _largest(found: list[Cover]) -> list[Cover]:
    """Return the `COVERS` largest shapes in drawing order."""
    found.sort(key=lambda each: (each.edges[0] - each.edges[2]) * (each.edges[3] - each.edges[1]))
    return sorted(found[:COVERS], key=lambda each: each.order)


def _size(said: Sequence[_Element]) -> int | None:
    return next((size for each in said if (size := number(each.get("sz"))) is not None), None)


def _background(slide: Any, colors: SlideColors) -> Color | None:
    for holder in (slide, slide.slide_layout, slide.slide_layout.slide_master):
        found = holder._element.find("{*}cSld/{*}bg")
        for each in () if found is None else found:
            if local(each) == "bgRef":
                fill = each.makeelement("solidFill")
                fill.extend([*each])
                drawn = drawn_color(fill, colors) if (number(each.get("idx")) or 0) in (0, 1001) else None
                each.extend([*fill])
                return None if drawn is None else drawn[0]
            fill = next((child for child in each if local(child) in FILLS), None)
            if fill is not None:
                drawn = drawn_color(fill, colors)
                return None if drawn is None else drawn[0]
    return colors("bg1") or WHITE
