"""Reads the colors of Office files (ECMA-376 part 1, 20.1.2.3), and compares colors."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from typing import TYPE_CHECKING

from citekit.adapters.libraries.office_package import OfficePackage, attribute, local

if TYPE_CHECKING:
    from lxml.etree import _Element

Color = tuple[int, int, int]
"""Red, green, and blue, from 0 to 255."""

BLACK, WHITE = (0, 0, 0), (255, 255, 255)

TINY = 2.0
"""The maximum font size, in points, at which text is not legible."""

_NEAR = 20
"""Maximum difference in each of red, green, and blue between two colors that look the same."""


def is_near(ink: Color, behind: Color, alpha: float = 1.0) -> bool:
    """Return whether text of the color `ink` and the opacity `alpha` cannot be seen over `behind`."""
    return all(abs(one - other) * alpha <= _NEAR for one, other in zip(ink, behind, strict=True))


def hex_color(text: str | None) -> Color | None:
    """Return the color in the last six hexadecimal digits of a text, or None."""
    digits = (text or "")[-6:]
    try:
        return (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)) if len(digits) == 6 else None
    except ValueError:
        return None


def theme_colors(package: OfficePackage, part: str) -> dict[str, Color]:
    """Return the theme colors of the part `part` by name, such as `accent1`; empty if there is no theme.

    Raise `SourceUnsupported` if the theme is damaged.
    """
    themes = [each.target for each in package.relations(part) if each.kind == "theme" and not each.outside]
    return theme_of(package.root(themes[0]) if themes else None)


def theme_of(root: _Element | None) -> dict[str, Color]:
    """Return the colors of a theme by name; empty if there is no theme."""
    scheme = None if root is None else next(root.iter("{*}clrScheme"), None)
    found = {}
    for each in () if scheme is None else scheme:
        color = next((made for child in each if (made := _plain(child)) is not None), None)
        if color is not None:
            found[local(each)] = color
    return found


def tinted(color: Color, tint: float) -> Color:
    """Return the color made lighter (`tint` above 0) or darker (below 0) (ECMA-376 part 1, 18.8.19)."""
    hue, light, full = colorsys.rgb_to_hls(*(each / 255 for each in color))
    light = light * (1 + tint) if tint < 0 else light + (1 - light) * tint
    return _from_hls(hue, light, full)


def _from_hls(hue: float, light: float, full: float) -> Color:
    red, green, blue = colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), min(max(full, 0.0), 1.0))
    return round(red * 255), round(green * 255), round(blue * 255)


def mixed(front: Color, back: Color, share: float) -> Color:
    """Return the color of `front` over `back` if `front` has the opacity `share`."""
    red, green, blue = (round(one * share + other * (1 - share)) for one, other in zip(front, back, strict=True))
    return red, green, blue


def drawn_color(fill: _Element, scheme: Callable[[str], Color | None]) -> tuple[Color, float] | None:
    """Return the color and the opacity of a solid fill or a gradient stop in DrawingML; None if they are unknown.

    `scheme` returns the theme color with a given name.
    """
    if local(fill) not in ("solidFill", "gs") or not len(fill):
        return None
    color = scheme(_value(fill[0])) if local(fill[0]) == "schemeClr" else _plain(fill[0])
    if color is None:
        return None
    alpha = 1.0
    for each in fill[0]:
        share = _share(_value(each))
        hue, light, full = colorsys.rgb_to_hls(*(part / 255 for part in color))
        match local(each):
            case "alpha":  # [MS-DOCX] 2.7.2.2 counts the transparency, and DrawingML the opacity
                alpha = 1 - share if _is_of_word(each) else share
            case "lumMod":
                color = _from_hls(hue, light * share, full)
            case "lumOff":
                color = _from_hls(hue, light + share, full)
            case "tint":
                color = mixed(color, WHITE, share)
            case "shade":
                color = mixed(color, BLACK, share)
    return color, alpha


def _is_of_word(element: _Element) -> bool:
    return str(element.tag).startswith("{http://schemas.microsoft.com/office/word/")


def _value(element: _Element) -> str:
    return attribute(element, "val") or ""


def _share(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 100_000)
    except ValueError:
        return 1.0


_NAMED = {"white": WHITE, "black": BLACK, "ivory": (255, 255, 240), "snow": (255, 250, 250), "red": (255, 0, 0)}


def _plain(element: _Element) -> Color | None:
    match local(element):
        case "srgbClr":
            return hex_color(_value(element))
        case "sysClr":
            return hex_color(attribute(element, "lastClr")) or (WHITE if _value(element) == "window" else BLACK)
        case "prstClr":
            return _NAMED.get(_value(element))
        case "scrgbClr":
            red, green, blue = (round(_share(element.get(each) or "0") ** (1 / 2.2) * 255) for each in "rgb")
            return red, green, blue
    return None
