"""Determines how a slide looks: the colors of its theme, fills, backgrounds, and the properties that text inherits.

Text inherits from its shape, the placeholders of the layout and the master, the styles of the master, and the defaults
of the presentation (ECMA-376 part 1, 19.3.1.52 and 21.1.2.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from citekit.adapters.formats.shared.office_colors import Color, drawn_color, theme_colors
from citekit.adapters.libraries.office_package import OfficePackage, local

if TYPE_CHECKING:
    from lxml.etree import _Element

FILLS = frozenset(("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill"))
_TITLES = frozenset(("title", "ctrTitle"))
_OTHERS = frozenset(("dt", "ftr", "sldNum", "hdr"))


@frozen
class SlideColors:
    """The colors of a theme by name, and the names under which a master uses them (`p:clrMap`)."""

    theme: Mapping[str, Color]
    names: Mapping[str, str]

    @classmethod
    def of(cls, package: OfficePackage, master: Any) -> SlideColors:
        """Return the colors of a slide master."""
        mapped = master._element.find("{*}clrMap")
        names = {} if mapped is None else {str(name): str(value) for name, value in mapped.attrib.items()}
        return cls(theme_colors(package, part_name(master)), names)

    def __call__(self, name: str) -> Color | None:
        """Return the color that `name` stands for, or None if the name is unknown."""
        return self.theme.get(self.names.get(name, name))

    def css(self, fill: _Element) -> str | None:
        """Return a fill as a CSS background: a color, a gradient, or `none`; None for other fills and unknown colors."""
        match local(fill):
            case "noFill":
                return "none"
            case "solidFill":
                return self.color(fill)
            case "gradFill":
                return self._gradient(fill)
        return None

    def color(self, fill: _Element) -> str | None:
        """Return the color of a solid fill in CSS, or None if it is unknown."""
        found = drawn_color(fill, self)
        if found is None:
            return None
        (red, green, blue), alpha = found
        return f"rgb({red} {green} {blue} / {min(max(alpha, 0.0), 1.0):.2f})"

    def color_in(self, holder: _Element) -> str | None:
        """Return the color that `holder` contains, in CSS; None if it is unknown."""
        fill = holder.makeelement("solidFill")
        fill.extend(deepcopy(child) for child in holder)
        return self.color(fill)

    def _gradient(self, fill: _Element) -> str | None:
        stops = [(number(stop.get("pos")), self.color_in(stop)) for stop in fill.iter("{*}gs")]
        known = [
            f"{color} {(at or 0) / 1000:.1f}%" for at, color in sorted(stops, key=lambda stop: stop[0] or 0) if color
        ]
        if len(known) < 2:
            return known[0].rpartition(" ")[0] if known else None
        turned = fill.find("{*}lin")
        angle = 0 if turned is None else number(turned.get("ang")) or 0
        return f"linear-gradient({angle / 60_000 + 90:.0f}deg, {', '.join(known)})"


@frozen
class TextStyle:
    """The text bodies and the styles by level (`lists`) from which a text inherits, in order of precedence."""

    bodies: Sequence[_Element] = field(converter=tuple["_Element", ...])
    lists: Sequence[_Element] = field(converter=tuple["_Element", ...])

    @classmethod
    def of(cls, shape: Any, master: Any, defaults: _Element | None) -> TextStyle:
        """Return the style of a shape. `defaults` is the default text style of the presentation."""
        bodies = [body for holder in _bases(shape) if (body := holder._element.find("{*}txBody")) is not None]
        own = [each for body in bodies if (each := body.find("{*}lstStyle")) is not None]
        styles = master._element.find("{*}txStyles")
        group = None if styles is None else styles.find(f"{{*}}{_group(shape)}")
        return cls(bodies, [*own, *(each for each in (group, defaults) if each is not None)])

    def of_body(self, name: str) -> str | None:
        """Return an attribute of the text body properties, or None."""
        found = (body.find("{*}bodyPr") for body in self.bodies)
        return next((str(each.get(name)) for each in found if each is not None and each.get(name) is not None), None)

    def levels(self, paragraph: _Element) -> Iterator[_Element]:
        """Yield the properties of a paragraph (`a:pPr`): its own, then those that it inherits."""
        own = paragraph.find("{*}pPr")
        level = 0 if own is None else number(own.get("lvl")) or 0
        if own is not None:
            yield own
        for each in self.lists:
            found = each.find(f"{{*}}lvl{min(level, 8) + 1}pPr")
            if found is not None:
                yield found

    @property
    def scale(self) -> float:
        """The factor by which text is reduced to fit into its shape."""
        fitted = self.bodies[0].find("{*}bodyPr/{*}normAutofit") if self.bodies else None
        return 1.0 if fitted is None else (number(fitted.get("fontScale")) or 100_000) / 100_000


def part_name(holder: Any) -> str:
    """Return the name of the part of a slide, layout, or master."""
    return str(holder.part.partname).lstrip("/")


def background_of(slide: Any, colors: SlideColors) -> tuple[str | None, Any, _Element | None]:
    """Return the background of a slide, or else of its layout, or else of its master.

    The result is (css, None, None), in which `css` is None if no color or gradient is known. For a picture, it is
    (None, holder, fill): the slide, layout, or master that has the picture, and its fill element.
    """
    for holder in (slide, slide.slide_layout, slide.slide_layout.slide_master):
        found = holder._element.find("{*}cSld/{*}bg")
        for each in () if found is None else found:
            if local(each) == "bgRef":
                return colors.color_in(each), None, None
            fill = next((child for child in each if local(child) in FILLS), None)
            if fill is not None and local(fill) == "blipFill":
                return None, holder, fill
            if fill is not None:
                return colors.css(fill), None, None
    return None, None, None


def number(text: str | None) -> int | None:
    """Parse a whole number of up to ten digits, which may be negative; None for other text."""
    digits = (text or "").removeprefix("-")
    return int(text or "") if digits.isascii() and digits.isdigit() and len(digits) <= 10 else None


def _bases(shape: Any) -> Iterator[Any]:
    """Yield a shape, and the placeholders of the layout and the master from which it inherits."""
    seen = 0
    while shape is not None and seen < 4:
        yield shape
        shape = getattr(shape, "_base_placeholder", None)
        seen += 1


def _group(shape: Any) -> str:
    holder = shape._element.find("{*}nvSpPr/{*}nvPr/{*}ph")
    kind = None if holder is None else holder.get("type", "obj")
    return "titleStyle" if kind in _TITLES else "bodyStyle" if kind and kind not in _OTHERS else "otherStyle"
