"""Determines whether a style hides text.

Text is hidden if it is not displayed, transparent, tiny, clipped, off-screen, or in the color of its background.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from citekit.adapters.libraries.mammoth import UNSEEN_STYLE

Color = tuple[int, int, int] | None
"""Red, green, blue; None if unknown."""

FAR = 500.0
"""Distance in CSS pixels outside the page from which text counts as off-screen."""

TINY = 1.5
"""Font size in CSS pixels up to which text is unreadable."""

_NEAR = 6
"""Maximum difference in each of red, green, and blue between two colors that look the same."""

_WHITE, _BLACK = (255, 255, 255), (0, 0, 0)
_NAMED: Mapping[str, Color] = {
    "white": _WHITE, "black": _BLACK, "red": (255, 0, 0), "lime": (0, 255, 0), "green": (0, 128, 0), "blue": (0, 0, 255),
    "yellow": (255, 255, 0), "gray": (128, 128, 128), "grey": (128, 128, 128), "silver": (192, 192, 192),
    "navy": (0, 0, 128), "snow": (255, 250, 250), "ivory": (255, 255, 240), "ghostwhite": (248, 248, 255),
    "whitesmoke": (245, 245, 245), "canvas": _WHITE,
}  # fmt: skip
_PIXELS = {
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
}
_PIXELS |= {"vw": 10.0, "vh": 10.0, "%": 10.0, "": 1.0}
_LENGTH = re.compile(r"([-+]?[0-9]*\.?[0-9]+)([a-z%]*)\Z")
_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
_RGB = re.compile(r"rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)(?:[\s,/]+([\d.]+%?))?\s*\)\Z")
_CLIPPED = re.compile(
    r"rect\(\s*0(?:px)?[\s,]+0(?:px)?[\s,]+0(?:px)?[\s,]+0(?:px)?\s*\)|rect\(\s*1px[\s,]+1px[\s,]+1px[\s,]+1px\s*\)"
    r"|inset\(\s*(?:50|100)%\s*\)|circle\(\s*0(?:px|%)?\s*\)|(?:polygon|path)\(\s*\)"
)
_SCALED = re.compile(r"scale[xy]?\(\s*0+(?:\.0+)?\s*[,)]")
_MOVED = re.compile(r"translate[xy]?\(\s*(-?[\d.]+[a-z%]*)")
_OFFSETS = ("left", "top", "right", "bottom", "margin-left", "margin-top", "text-indent")
_OWN_COLOR = frozenset(("a", "button", "input", "select", "mark", "textarea"))
"""Elements that browsers color by default."""

_FALLBACK = frozenset(("iframe", "noembed", "noframes", "noscript", "template", "datalist", "canvas", "audio", "video"))
"""Elements whose text browsers display only if they do not support the element."""


class Shown(NamedTuple):
    """The appearance of text inside an element: whether it is hidden or tiny, its color, and the color behind it."""

    hidden: bool = False
    tiny: bool = False
    color: Color = _BLACK
    background: Color = _WHITE

    @property
    def unseen(self) -> bool:
        """Whether the text is invisible: hidden, tiny, or nearly in the color of its background."""
        if self.hidden or self.tiny:
            return True
        mine, behind = self.color, self.background
        return (
            mine is not None
            and behind is not None
            and all(abs(a - b) <= _NEAR for a, b in zip(mine, behind, strict=True))
        )


PAGE = Shown()
"""Black on white: the default style of browsers."""


def shown(name: str, said: Mapping[str, str], style: Mapping[str, str], around: Shown) -> Shown:
    """Return how the element `name` is displayed.

    `said` contains its attributes and `style` its style properties; `around` is how the parent element is displayed.
    """
    if around.hidden:
        return around
    if name in _FALLBACK or (name == "dialog" and "open" not in said):
        return around._replace(hidden=True)
    if not (said or style or name in _OWN_COLOR):
        return around
    if "hidden" in said or said.get("class") == UNSEEN_STYLE or _is_hidden(style):
        return around._replace(hidden=True)
    color = None if name in _OWN_COLOR else around.color
    background = around.background
    if said.get("bgcolor"):
        background = _color(said["bgcolor"].lower(), background)
    if said.get("color") and name in ("font", "basefont"):
        color = _color(said["color"].lower(), color)
    for key in ("background", "background-color", "background-image"):
        if key in style:
            background = _background(style[key], background)
    for key in ("color", "-webkit-text-fill-color"):
        if key in style:
            color = _color(style[key], around.color, background)
    return Shown(False, _tiny(style, around.tiny), color, background)


def _is_hidden(style: Mapping[str, str]) -> bool:
    if not style:
        return False
    off = any((length := _pixels(style.get(each, ""))) is not None and length <= -FAR for each in _OFFSETS)
    transform = style.get("transform", "")
    moved = _MOVED.search(transform)
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or style.get("content-visibility") == "hidden"
        or _is_low(style.get("opacity"))
        or off
        or bool(_CLIPPED.match(style.get("clip", "")) or _CLIPPED.match(style.get("clip-path", "")))
        or bool(_SCALED.search(transform))
        or (moved is not None and (_pixels(moved[1]) or 0) <= -FAR)
        or (style.get("overflow", "") in ("hidden", "clip") and _has_no_room(style))
    )


def _is_low(opacity: str | None) -> bool:
    match = _LENGTH.match(opacity or "")
    return match is not None and float(match[1]) / (100 if match[2] == "%" else 1) < 0.05


def _has_no_room(style: Mapping[str, str]) -> bool:
    sizes = (_pixels(style.get(each, "")) for each in ("width", "height", "max-width", "max-height"))
    return any(size is not None and 0 <= size <= 1 for size in sizes)


def _tiny(style: Mapping[str, str], around: bool) -> bool:
    size = style.get("font-size") or next((word for word in style.get("font", "").split() if _LENGTH.match(word)), "")
    match = _LENGTH.match(size.partition("/")[0])
    if match is None:
        return around and size not in ("initial", "small", "medium", "large", "x-large", "xx-large")
    if match[2] in ("em", "%", "ex", "ch"):
        factor = float(match[1]) / (100 if match[2] == "%" else 1)
        return around or factor * 16 <= TINY
    return (_pixels(size.partition("/")[0]) or 0) <= TINY


def _pixels(text: str) -> float | None:
    match = _LENGTH.match(text)
    return None if match is None or match[2] not in _PIXELS else float(match[1]) * _PIXELS[match[2]]


def _background(value: str, behind: Color) -> Color:
    if "url(" in value or "gradient" in value or "image" in value:
        return None
    if _RGB.match(value):
        return _color(value, behind)
    found = next((_color(word, None) for word in value.split() if word in _NAMED or _HEX.match(word)), None)
    return behind if found is None and value in ("transparent", "none", "inherit", "initial", "unset") else found


def _color(value: str, around: Color, behind: Color = None) -> Color:
    """Return the color for a CSS value, or None if it is unknown.

    The result is `behind` if the value is transparent, and `around` if the color is inherited.
    """
    if value in ("inherit", "currentcolor", "unset"):
        return around
    if value == "transparent":
        return behind
    rgb = _RGB.match(value)
    if rgb is not None:
        if rgb[4] is not None and _is_low(rgb[4]):
            return behind
        red, green, blue = (min(255, int(float(each))) for each in (rgb[1], rgb[2], rgb[3]))
        return red, green, blue
    written = _HEX.match(value)
    if written is None:
        return _NAMED.get(value)
    digits = written[1] if len(written[1]) > 4 else "".join(2 * each for each in written[1])
    if digits[6:] and int(digits[6:], 16) < 13:
        return behind
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
