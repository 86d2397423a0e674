"""Reads the colors of Office files, and compares the color of text with what is behind it (ECMA-376 part 1, 20.1.2.3)."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING

from citekit.adapters.libraries.office_package import OfficePackage, local

if TYPE_CHECKING:
    from lxml.etree import _Element

Color = tuple[int, int, int]
"""Red, green, and blue, from 0 to 255."""

BLACK, WHITE = (0, 0, 0), (255, 255, 255)

TINY = 2.0
"""Font size in points up to which text is not legible."""

_NEAR = 20
"""Maximum difference in each of red, green, and blue between two colors that look the same."""


def is_near(ink: Color, behind: Color, alpha: float = 1.0) -> bool:
    """Return whether text of the color `ink` and the opacity `alpha` cannot be seen over `behind`."""
    return all(abs(one - other) * alpha <= _NEAR for one, other in zip(ink, behind, strict=True))


def hex_color(text: str | None) -> Color | None:
    """Return the color of six hexadecimal digits, or of eight whose first two are its opacity; None for other text."""
    digits = (text or "")[-6:]
    try:
        return (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)) if len(digits) == 6 else None
    except ValueError:
        return None


def theme_colors(package: OfficePackage, part: str) -> dict[str, Color]:
    """Return the colors of the theme of the part `part` by name, such as `accent1`; empty if there is no theme."""
    themes = [each.target for each in package.relations(part) if each.kind == "theme" and not each.outside]
    scheme = next(package.root(themes[0]).iter("{*}clrScheme"), None) if themes else None
    found = {}
    for each in () if scheme is None else scheme:
        color = next((made for child in each if (made := _plain(child)) is not None), None)
        if color is not None:
            found[local(each)] = color
    return found


def tinted(color: Color, tint: float) -> Color:
    """Return the color made lighter (`tint` above 0) or darker (below 0), by a fraction of its lightness (18.8.19)."""
    hue, light, full = colorsys.rgb_to_hls(*(each / 255 for each in color))
    light = light * (1 + tint) if tint < 0 else light + (1 - light) * tint
    return _from_hls(hue, light, full)


def _from_hls(hue: float, light: float, full: float) -> Color:
    red, green, blue = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), min(max(full, 0.0), 1.0))
    return round(red * 255), round(green * 255), round(blue * 255)


def _plain(element: _Element) -> Color | None:
    match local(element):
        case "srgbClr":
            return hex_color(element.get("val"))
        case "sysClr":
            return hex_color(element.get("lastClr")) or (WHITE if element.get("val") == "window" else BLACK)
    return None
