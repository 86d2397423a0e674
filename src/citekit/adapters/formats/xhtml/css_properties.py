"""Reads the values of the CSS properties that can hide text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from citekit.adapters.libraries import tinycss2
from citekit.adapters.libraries.lxml import names
from citekit.adapters.libraries.tinycss2 import Token, parts, split, tokens


class Unread(Enum):
    """Why a value has no meaning: it is invalid, or not understood. Functions return this instead of a meaning."""

    INVALID = "invalid"
    UNKNOWN = "unknown"


RGBA = tuple[float, float, float, float]
"""Red, green, blue from 0 to 255, and alpha from 0 to 1."""

BLACK: RGBA = (0.0, 0.0, 0.0, 1.0)
WHITE: RGBA = (255.0, 255.0, 255.0, 1.0)
WIDTH, HEIGHT = 1280.0, 800.0
"""The size of the page in CSS pixels, for lengths that are relative to it."""

INHERITED = frozenset(("inherit", "initial", "unset", "revert", "revert-layer"))
"""Keywords that are valid for every property."""

_SIDES = ("top", "right", "bottom", "left")
LENGTHS = names(
    """
    left top right bottom margin-left margin-top margin-right margin-bottom padding-left padding-top
    padding-bottom padding-right text-indent
    width height max-width max-height min-width min-height letter-spacing word-spacing font-size line-height x y dx dy
    flex-basis perspective
    """
)
_WORDS = {
    "display": """
        none block inline inline-block flex inline-flex grid inline-grid table inline-table table-row table-cell
        table-row-group table-header-group table-footer-group table-column table-column-group table-caption list-item
        contents flow flow-root run-in math ruby ruby-base ruby-text ruby-base-container ruby-text-container
        """,
    "visibility": "visible hidden collapse",
    "content-visibility": "visible auto hidden",
    "overflow-x": "visible hidden clip scroll auto overlay",
    "overflow-y": "visible hidden clip scroll auto overlay",
    "position": "static relative absolute fixed sticky -webkit-sticky",
    "unicode-bidi": "normal embed isolate bidi-override isolate-override plaintext",
    "mix-blend-mode": """
        normal multiply screen overlay darken lighten color-dodge color-burn hard-light soft-light difference exclusion
        hue saturation color luminosity plus-darker plus-lighter
        """,
    "-webkit-text-security": "none disc circle square",
    "background-clip": "border-box padding-box content-box text border-area",
    "color-scheme": "normal light dark only",
    "background-repeat": "repeat repeat-x repeat-y no-repeat space round",
}
WORDS = {name: frozenset(words.split()) for name, words in _WORDS.items()}
"""The keywords of each property that has only keywords."""

FREE = names(
    """
    mask-image offset-path content background-image background-size contain container-type aspect-ratio
    grid-template-rows grid-template-columns grid-auto-rows grid-auto-columns transform-origin
    animation-name animation-duration animation-delay animation-play-state
    """
)
"""Properties whose value is used as written."""

TRACKS = ("grid-template-rows", "grid-template-columns", "grid-auto-rows", "grid-auto-columns")
"""Properties with the sizes of the tracks of a grid."""

COLORS = frozenset(("color", "background-color", "-webkit-text-fill-color", "fill", "stroke"))
_NUMBERS = frozenset(("opacity", "fill-opacity", "zoom", "flex-grow"))
_SHAPES = frozenset(("transform", "translate", "scale", "rotate", "filter", "clip", "clip-path"))
_ALIASES = {
    "margin-inline-start": "margin-left",
    "margin-block-start": "margin-top",
    "margin-inline-end": "margin-right",
    "margin-block-end": "margin-bottom",
    "padding-inline-start": "padding-left",
    "padding-inline-end": "padding-right",
    "padding-block-start": "padding-top",
    "padding-block-end": "padding-bottom",
    "inset-inline-start": "left",
    "inset-inline-end": "right",
    "inset-block-start": "top",
    "inset-block-end": "bottom",
    "block-size": "height",
    "inline-size": "width",
    "max-block-size": "max-height",
    "max-inline-size": "max-width",
    "min-block-size": "min-height",
    "min-inline-size": "min-width",
    "overflow-block": "overflow-y",
    "overflow-inline": "overflow-x",
    "-webkit-transform": "transform",
    "-webkit-filter": "filter",
    "-webkit-clip-path": "clip-path",
    "-webkit-opacity": "opacity",
    "-webkit-background-clip": "background-clip",
    "-webkit-background-size": "background-size",
    "mask": "mask-image",
    "-webkit-mask": "mask-image",
    "-webkit-mask-image": "mask-image",
    "-webkit-mask-box-image": "mask-image",
    "-webkit-mask-box-image-source": "mask-image",
    "mask-border": "mask-image",
    "mask-border-source": "mask-image",
    "animation": "animation-name",
    "-webkit-animation": "animation-name",
    "-webkit-animation-name": "animation-name",
    "offset": "offset-path",
    "container": "container-type",
    "-webkit-perspective": "perspective",
    "-webkit-transform-origin": "transform-origin",
    "-webkit-flex-basis": "flex-basis",
    "-webkit-flex-grow": "flex-grow",
}
_SHORTHANDS: Mapping[str, Sequence[str]] = {
    "margin": ("margin-top", "margin-right", "margin-bottom", "margin-left"),
    "padding": ("padding-top", "padding-right", "padding-bottom", "padding-left"),
    "inset": _SIDES,
}
_PAIRS = {
    "overflow": ("overflow-x", "overflow-y"),
    "margin-inline": ("margin-left", "margin-right"),
    "margin-block": ("margin-top", "margin-bottom"),
    "padding-inline": ("padding-left", "padding-right"),
    "padding-block": ("padding-top", "padding-bottom"),
    "inset-inline": ("left", "right"),
    "inset-block": ("top", "bottom"),
}
PROPERTIES = frozenset(
    (
        *LENGTHS, *WORDS, *FREE, *COLORS, *_NUMBERS, *_SHAPES, *_ALIASES, *_SHORTHANDS, *_PAIRS,
        "font", "background", "all", "flex", "-webkit-flex", "grid", "grid-template",
    )
)  # fmt: skip
"""Properties that can hide text or show it, including shorthand properties."""

_FONT_WORDS = names(
    """
    normal italic oblique small-caps bold bolder lighter ultra-condensed extra-condensed condensed semi-condensed
    semi-expanded expanded extra-expanded ultra-expanded
    """
)
_SYSTEM_FONTS = frozenset(("caption", "icon", "menu", "message-box", "small-caption", "status-bar"))
_BACKGROUND_WORDS = names(
    """
    repeat repeat-x repeat-y no-repeat space round scroll fixed local left right top bottom center cover contain
    auto border-box padding-box content-box text none
    """
)
_SIZES = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
    "xxx-large": 48.0,
    "math": 16.0,
}
_LENGTH_WORDS = names(
    """
    auto normal none max-content min-content fit-content stretch -webkit-fill-available -moz-available
    -webkit-fit-content -moz-fit-content -webkit-max-content -webkit-min-content -moz-max-content -moz-min-content
    """
)
_UNITS = {
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 96 / 2.54,
    "mm": 9.6 / 2.54,
    "q": 2.4 / 2.54,
}
_UNITS |= {f"{kind}{unit}": WIDTH / 100 for kind in ("", "s", "l", "d", "cq") for unit in ("vw", "vi")}
_UNITS |= {f"{kind}{unit}": HEIGHT / 100 for kind in ("", "s", "l", "d") for unit in ("vh", "vb", "vmin")}
_UNITS |= {f"{kind}vmax": max(WIDTH, HEIGHT) / 100 for kind in ("", "s", "l", "d")}
_UNITS |= {"cqw": WIDTH / 100, "cqi": WIDTH / 100, "cqh": HEIGHT / 100, "cqb": HEIGHT / 100}
_UNITS |= {"cqmin": HEIGHT / 100, "cqmax": WIDTH / 100}
_FONT_UNITS = {"em": 1.0, "ex": 0.5, "ch": 0.5, "cap": 0.7, "ic": 1.0, "lh": 1.2}
_ROOT_UNITS = {"rem": 1.0, "rex": 0.5, "rch": 0.5, "rcap": 0.7, "ric": 1.0, "rlh": 1.2}
_ANGLES = {"deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0, "": 1.0}
_SUBSTITUTED = ("error(", "var(", "attr(", "if(", "inherit(")
_SYSTEM_COLORS: Mapping[str, RGBA] = {
    **dict.fromkeys(("canvas", "field", "window", "background", "infobackground"), WHITE),
    **dict.fromkeys(("canvastext", "fieldtext", "windowtext", "buttontext", "infotext", "menutext"), BLACK),
    **dict.fromkeys(("buttonface", "menu", "threedface"), (240.0, 240.0, 240.0, 1.0)),
    "linktext": (0.0, 0.0, 238.0, 1.0),
    "visitedtext": (85.0, 26.0, 139.0, 1.0),
    "activetext": (255.0, 0.0, 0.0, 1.0),
    "graytext": (128.0, 128.0, 128.0, 1.0),
    "-webkit-link": (0.0, 0.0, 238.0, 1.0),
    "-webkit-text": BLACK,
}
_COLOR_FUNCTIONS = names(
    """
    rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark device-cmyk contrast-color color-contrast
    """
)


class Units(NamedTuple):
    """The font sizes of an element and the root element, and the length of 100%, in CSS pixels."""

    em: float = 16.0
    rem: float = 16.0
    percent: float = WIDTH


class Change(NamedTuple):
    """What a transform, filter, or clip does: its smallest scale, its movement, and its opacity.

    `gone` says that it may hide all text, and `turned` that its effect depends on the origin. `recolored` is the number
    of filters that change colors.
    """

    scale: float = 1.0
    right: float = 0.0
    down: float = 0.0
    alpha: float = 1.0
    gone: bool = False
    turned: bool = False
    recolored: int = 0

    def then(self, other: Change) -> Change:
        """Return this change followed by another one."""
        return Change(
            self.scale * other.scale,
            self.right + other.right,
            self.down + other.down,
            self.alpha * other.alpha,
            self.gone or other.gone,
            self.turned or other.turned,
            self.recolored + other.recolored,
        )


@lru_cache(8192)
def longhands(name: str, text: str) -> tuple[tuple[str, str], ...]:
    """Return the properties, and their values, that a declaration sets; nothing for an invalid shorthand.

    With `var()`, each property of a shorthand gets the whole value of the shorthand.
    """
    return tuple(_longhands(name, text))


def _longhands(name: str, text: str) -> Iterator[tuple[str, str]]:
    low = text.lower()
    if name in _ALIASES:
        yield _ALIASES[name], text
        return
    if name in ("grid", "grid-template"):
        # Rows and columns are not distinguished: a track without room in either may hide text.
        yield from ((each, text) for each in TRACKS)
        return
    targets: Sequence[str] = _SHORTHANDS.get(name) or _PAIRS.get(name) or ()
    if name == "font":
        targets = ("font-size",)
    elif name in ("flex", "-webkit-flex"):
        targets = ("flex-grow", "flex-basis")
    elif name == "background":
        targets = ("background-color", "background-image", "background-clip")
    elif name == "all":
        targets = ("color", "background-color", "background-image", "font-size", "-webkit-text-fill-color")
    if not targets:
        yield name, text
    elif low in INHERITED or "var(" in low or name == "all":
        yield from ((each, text) for each in targets if each)
    elif name == "font":
        size = _font_size(text)
        if size:
            yield "font-size", size
    elif name == "background":
        yield from _background(text)
    elif name in ("flex", "-webkit-flex"):
        yield from _flex(text)
    else:
        words = parts(text, " ")
        if not 1 <= len(words) <= len(targets):
            return
        second = words[1] if len(words) > 1 else words[0]
        sides = (words[0], second) if len(targets) == 2 else (*words, *(words[0], second)[len(words) % 2 :])[:4]
        if len(targets) == 4:
            third = words[2] if len(words) > 2 else words[0]
            sides = (words[0], second, third, words[3] if len(words) > 3 else second)
        yield from ((target, side) for target, side in zip(targets, sides, strict=True) if target)


def _font_size(text: str) -> str:
    if text.lower() in _SYSTEM_FONTS:
        return "13px"
    for word in parts(text, " "):
        size = parts(word, "/")[0]
        found = tokens(size)
        if word.lower() in _FONT_WORDS or (len(found) == 1 and found[0].kind == "number" and found[0].number >= 1):
            continue
        return size
    return ""


def _flex(text: str) -> Iterator[tuple[str, str]]:
    grow, basis, numbers = "1", "0px", 0
    if text.lower() in ("none", "auto"):
        grow, basis = ("0" if text.lower() == "none" else "1"), "auto"
    else:
        for word in parts(text, " "):
            if tokens(word)[0].kind == "number" and numbers < 2:
                grow = grow if numbers else word
                numbers += 1
            else:
                basis = word
    yield "flex-grow", grow
    yield "flex-basis", basis


def has_no_track(text: str) -> bool:
    """Return whether a track of a grid may have no room, as in `0fr` or `0px`."""
    return any(map(_has_no_length, tokens(text)))


def _has_no_length(token: Token) -> bool:
    if token.kind == "function":
        arguments = split(token.inner)
        if token.text == "repeat":
            arguments = arguments[1:]
        elif token.text == "minmax":
            arguments = arguments[-1:]
        elif token.text not in ("fit-content", "max", "calc", "min", "clamp"):
            return True
        return any(map(_has_no_length, (each for argument in arguments for each in argument)))
    if token.kind == "dimension" and token.text == "fr":
        return token.number < 0.1
    if token.kind in ("dimension", "number", "percentage"):
        value = _amount(token, Units())
        return value is None or value < 10
    return token.kind == "error"


def _background(text: str) -> Iterator[tuple[str, str]]:
    color, images, clip, is_partial = "transparent", list[str](), "border-box", False
    for layer in parts(text, ","):
        for word in (each for piece in parts(layer, "/") for each in parts(piece, " ")):
            found = tokens(word)[0]
            if found.word in _BACKGROUND_WORDS:
                is_partial = is_partial or found.word == "no-repeat"
                clip = "text" if found.word == "text" else clip
            elif _is_image(found):
                images.append(word)
            elif color_of(word) is not Unread.INVALID:
                color = word
            elif found.kind not in ("number", "percentage", "dimension", "function") or found.kind == "hash":
                return
        is_partial = is_partial or len(parts(layer, "/")) > 1
    if images and is_partial:
        images.append("url(partial)")
    yield "background-color", color
    yield "background-image", ",".join(images) or "none"
    yield "background-clip", clip


def _is_image(token: Token) -> bool:
    name = token.text if token.kind == "function" else ""
    return (
        token.kind == "url"
        or name in ("url", "image", "cross-fade", "element", "paint")
        or ("gradient" in name or "image-set" in name)
    )


@lru_cache(16384)
def keyword(name: str, text: str) -> str | Unread:
    """Return the lowercase value of a property that has only keywords."""
    low = text.lower()
    words = low.replace(",", " ").split()
    if low in INHERITED or (words and all(each in WORDS[name] for each in words)):
        return low
    return Unread.UNKNOWN if any(each in low for each in _SUBSTITUTED) else Unread.INVALID


def written(text: str) -> str | Unread:
    """Return the lowercase text of a value that is used as written."""
    low = text.lower()
    return Unread.UNKNOWN if any(each in low for each in _SUBSTITUTED) else low


@lru_cache(16384)
def number(name: str, text: str) -> float | str | Unread:
    """Return a number or percentage (1 for 100%), a keyword such as `inherit`, or `Unread` for another value."""
    found = tokens(text)
    if len(found) != 1:
        return Unread.INVALID
    if found[0].word in INHERITED or (name == "zoom" and found[0].word in ("normal", "reset")):
        return found[0].word if found[0].word in INHERITED else 1.0
    if found[0].kind == "dimension":
        return Unread.INVALID
    value = _amount(found[0], Units(percent=1.0))
    return value if value is not None else _unread(found[0])


@lru_cache(32768)
def length(name: str, text: str, units: Units) -> float | str | Unread:
    """Return a length in CSS pixels, or a keyword such as `auto`."""
    found = tokens(text)
    if name == "text-indent":
        found = tuple(each for each in found if each.word not in ("hanging", "each-line") and each.kind != "whitespace")
    if len(found) != 1:
        return Unread.INVALID
    word = found[0].word
    if word in INHERITED or (word in _LENGTH_WORDS and name != "font-size"):
        return word
    if name == "font-size" and word:
        factor = {"smaller": 5 / 6, "larger": 1.2}.get(word)
        return units.em * factor if factor else _SIZES.get(word, Unread.INVALID)
    if found[0].kind == "number" and found[0].number and name not in ("x", "y", "line-height"):
        # Without a unit, a length is valid only in quirks mode and as an attribute.
        return found[0].number if name not in ("font-size",) else Unread.UNKNOWN
    if found[0].kind == "function" and found[0].text in ("fit-content", "anchor-size", "anchor", "-webkit-calc"):
        return "auto" if found[0].text == "fit-content" else Unread.UNKNOWN
    value = _amount(found[0], units)
    return value if value is not None else _unread(found[0])


def _unread(token: Token) -> Unread:
    """Return `UNKNOWN` for a function, such as math or a substitution, and for text that was not parsed, because both may be
    valid amounts; otherwise `INVALID`.
    """
    return Unread.UNKNOWN if token.kind in ("function", "error") else Unread.INVALID


_MATH: Mapping[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "clamp": lambda values: max(values[0], min(values[1], values[2])),
    "abs": lambda values: abs(values[0]),
    "hypot": lambda values: math.hypot(*values),
    "sqrt": lambda values: math.sqrt(values[0]),
    "pow": lambda values: values[0] ** values[1],
    "sign": lambda values: math.copysign(1.0, values[0]) if values[0] else 0.0,
    "round": lambda values: values[0],
    "env": lambda _: 0.0,
}
_CONSTANTS = {"pi": math.pi, "e": math.e}


def _amount(token: Token, units: Units) -> float | None:
    """Return a length in pixels, an angle in degrees, or a number; None if it cannot be computed."""
    kind, unit, value = token.kind, token.text, token.number
    if kind == "number":
        return value
    if kind == "percentage":
        return value / 100 * units.percent
    if kind == "dimension":
        for known, factor in ((_UNITS, 1.0), (_FONT_UNITS, units.em), (_ROOT_UNITS, units.rem), (_ANGLES, 1.0)):
            if unit in known:
                return value * known[unit] * factor
        return None
    if kind == "()" or (kind == "function" and unit in ("calc", "-webkit-calc", "-moz-calc")):
        return _calculated(token.inner, units)
    if kind == "function" and unit in _MATH:
        return _function(unit, token.inner, units)
    return _CONSTANTS.get(token.word)


def _function(name: str, inner: Sequence[Token], units: Units) -> float | None:
    arguments = split(inner)
    if name == "env":
        return _calculated(arguments[1], units) if len(arguments) > 1 else 0.0
    if name == "round" and arguments[0] and arguments[0][0].word:
        arguments = arguments[1:]
    values = [_calculated(each, units) for each in arguments]
    found = [each for each in values if each is not None]
    if len(found) != len(values) or not found:
        return None
    try:
        return float(_MATH[name](found))
    except (ValueError, IndexError, OverflowError, ZeroDivisionError, TypeError):
        return None


def _calculated(inner: Sequence[Token], units: Units) -> float | None:
    words = [each for each in inner if each.kind != "whitespace"]
    if len(words) % 2 == 0:
        return None
    total, product, sign = 0.0, _amount(words[0], units), 1.0
    for operator, word in zip(words[1::2], words[2::2], strict=True):
        value = _amount(word, units)
        if value is None or product is None or operator.kind != "literal":
            return None
        if operator.text in "+-":
            total, product, sign = total + sign * product, value, 1.0 if operator.text == "+" else -1.0
        elif operator.text == "*":
            product *= value
        elif operator.text == "/" and value:
            product /= value
        else:
            return None
    return None if product is None else total + sign * product


@lru_cache(8192)
def color_of(text: str) -> RGBA | str | Unread:
    """Return the color of a CSS value, the text "currentcolor", or a keyword such as `inherit`."""
    low = text.lower()
    if low in INHERITED or low in ("currentcolor", "currentcolour"):
        return low
    if low in _SYSTEM_COLORS:
        return _SYSTEM_COLORS[low]
    found = tinycss2.color(text)
    if isinstance(found, tuple):
        return found
    words = tokens(text)
    if len(words) != 1:
        return Unread.INVALID
    if words[0].kind == "function" and words[0].text == "color-mix":
        return _mixed(text)
    if words[0].kind == "function" and words[0].text == "light-dark":
        return color_of(parts(text[text.index("(") + 1 : text.rindex(")")], ",")[0])
    if words[0].kind == "function" and words[0].text in _COLOR_FUNCTIONS:
        return Unread.UNKNOWN
    return Unread.UNKNOWN if any(each in low for each in _SUBSTITUTED) else Unread.INVALID


def _mixed(text: str) -> RGBA | Unread:
    """Return the mix of two colors in sRGB, even if the value names another color space."""
    inner = parts(text[text.index("(") + 1 : text.rindex(")")], ",")
    if len(inner) != 3:
        return Unread.UNKNOWN
    found: list[tuple[RGBA, float | None]] = []
    for each in inner[1:]:
        words = parts(each, " ")
        share = next((tokens(word)[0].number / 100 for word in words if word.endswith("%")), None)
        color = color_of(next((word for word in words if not word.endswith("%")), ""))
        if not isinstance(color, tuple):
            return Unread.UNKNOWN
        found.append((color, share))
    (one, first), (other, second) = found
    first = first if first is not None else 1 - second if second is not None else 0.5
    second = second if second is not None else 1 - first
    total = first + second
    if total <= 0:
        return Unread.UNKNOWN
    ratio = first / total
    alpha = one[3] * ratio + other[3] * (1 - ratio)
    red, green, blue = (
        (one[at] * one[3] * ratio + other[at] * other[3] * (1 - ratio)) / alpha if alpha else 0.0 for at in range(3)
    )
    return red, green, blue, alpha * min(1.0, total)


@lru_cache(4096)
def image_colors(text: str) -> tuple[tuple[RGBA, ...], bool] | Unread:
    """Return the colors of the gradients in a background image, and whether it contains anything else."""
    colors: list[RGBA] = []
    other = False
    if any(each in text.lower() for each in _SUBSTITUTED):
        return Unread.UNKNOWN
    for image in parts(text, ","):
        found = tokens(image)
        if not found or found[0].word == "none" or found[0].word in INHERITED:
            continue
        if found[0].kind != "function" or "gradient" not in found[0].text:
            other = True
            continue
        for stop in parts(image[image.index("(") + 1 : image.rindex(")")], ","):
            for word in parts(stop, " "):
                color = color_of(word) if tokens(word)[0].kind in ("ident", "hash", "function") else Unread.INVALID
                if isinstance(color, tuple):
                    colors.append(color)
                elif color is Unread.UNKNOWN:
                    return Unread.UNKNOWN
                elif isinstance(color, str):
                    other = True
    return tuple(dict.fromkeys(colors)), other


@lru_cache(8192)
def change(name: str, text: str, units: Units) -> Change | str | Unread:
    """Return what a value of `transform`, `translate`, `scale`, `rotate`, `filter`, `clip`, or `clip-path` does."""
    low = text.lower()
    found = [each for each in tokens(text) if each.kind != "whitespace"]
    if low in INHERITED:
        return low
    if low in ("none", "auto") and found:
        return Change()
    if not found or any(each in low for each in ("error(", "var(", "attr(", "if(")):
        return Unread.UNKNOWN
    if name in ("translate", "scale", "rotate"):
        return _plain_change(name, found, units)
    made = Change()
    for each in found:
        step: Change | Unread = Unread.INVALID
        if each.kind == "function":
            step = _READERS[name](each, units)
        elif name == "clip-path" and each.word.endswith("-box"):
            step = Change()
        elif each.kind == "url" and name in ("filter", "clip-path"):
            step = Unread.UNKNOWN
        if isinstance(step, Unread):
            return step
        made = made.then(step)
    return made


def _plain_change(name: str, words: Sequence[Token], units: Units) -> Change | Unread:
    if name == "rotate":
        if len(words) == 1:
            angle = _amount(words[0], units) if words[0].kind in ("dimension", "number") else None
            return _unread(words[0]) if angle is None else Change(turned=_is_turned(angle))
        angle = _amount(words[-1], units) if words[-1].kind != "ident" else _amount(words[0], units)
        flat = words[0].word == "z" or words[-1].word == "z"
        return Unread.UNKNOWN if angle is None else Change(gone=not flat and _is_edge_on(angle), turned=True)
    percent = 5.0 * 100 if name == "translate" else 1.0
    values = [_amount(each, units._replace(percent=percent)) for each in words]
    amounts = [each for each in values if each is not None]
    if len(amounts) != len(values) or not 1 <= len(values) <= 3:
        return _unread(words[0])
    if name == "translate":
        return Change(right=amounts[0], down=amounts[1] if len(amounts) > 1 else 0.0)
    return Change(scale=min(abs(each) for each in amounts[:2]), turned=_is_resized(amounts[:2]))


def _is_edge_on(angle: float) -> bool:
    """Return whether text is unreadable if it is turned by `angle` degrees around an axis in its plane."""
    return math.cos(math.radians(angle)) < 0.1


def _is_turned(angle: float) -> bool:
    return math.cos(math.radians(angle)) < 0.999


def _is_resized(factors: Sequence[float]) -> bool:
    return any(abs(each - 1) > 0.01 for each in factors)


def _transform(token: Token, units: Units) -> Change | Unread:
    name = token.text
    scaled = "scale" in name
    own = units._replace(percent=1.0 if scaled else 500.0)
    # In an SVG attribute, spaces can separate the arguments.
    arguments = [each for part in split(token.inner) for each in (split(part, " ") if len(part) > 1 else [part])]
    found = [_calculated(each, own) for each in arguments]
    values = [each for each in found if each is not None]
    if len(values) != len(found) or not values:
        return Unread.UNKNOWN if name in _TRANSFORMS else Unread.INVALID
    if name in ("translate", "translate3d", "translatex"):
        is_deep = len(values) > 2 and abs(values[2]) > _DEEP
        return Change(right=values[0], down=values[1] if len(values) > 1 else 0.0, gone=is_deep)
    if name == "translatey":
        return Change(down=values[0])
    if scaled and name in _TRANSFORMS:
        if name == "scalez":
            return Change()
        return Change(scale=min(abs(each) for each in values[:2]), turned=_is_resized(values[:2]))
    if name in ("rotate", "rotatez"):
        return Change(turned=_is_turned(values[0]))
    if name in ("rotatex", "rotatey"):
        return Change(gone=_is_edge_on(values[0]), turned=_is_turned(values[0]))
    if name == "rotate3d":
        tilted = len(values) == 4 and any(values[:2])
        return Change(gone=tilted and _is_edge_on(values[3]), turned=_is_turned(values[3]))
    if name.startswith("skew"):
        gone = any(abs(math.cos(math.radians(each))) < 0.1 for each in values)
        return Change(gone=gone, turned=any(map(_is_turned, values)))
    if name in ("matrix", "matrix3d"):
        return _matrix(values)
    if name in ("translatez", "perspective"):
        is_deep = abs(values[0]) > _DEEP if name == "translatez" else 0 < values[0] < _CLOSE
        return Change(gone=is_deep)
    return Change() if name in _TRANSFORMS else Unread.INVALID


_DEEP = 10.0
"""The distance in pixels before or behind the page above which the perspective may hide text."""

_CLOSE = 100.0
"""The distance of a perspective, in pixels, below which it may hide text."""

_TRANSFORMS = names(
    """
    matrix matrix3d perspective rotate rotate3d rotatex rotatey rotatez scale scale3d scalex scaley scalez skew
    skewx skewy translate translate3d translatex translatey translatez
    """
)


def _matrix(values: Sequence[float]) -> Change | Unread:
    if len(values) == 6:
        a, b, c, d, right, down = values
    elif len(values) == 16:
        a, b, c, d, right, down = values[0], values[1], values[4], values[5], values[12], values[13]
        if [values[at] for at in _PLANE] != [0, 0, 0, 0, 1, 0, 0, 1, 0] or abs(values[14]) > _DEEP:
            return Change(gone=True)
    else:
        return Unread.INVALID
    widest = max(math.hypot(a, b), math.hypot(c, d))
    scale = abs(a * d - b * c) / widest if widest else 0.0
    return Change(scale, right, down, turned=_is_resized((a, d)) or bool(b or c))


_PLANE = (2, 3, 6, 7, 10, 8, 9, 15, 11)
"""The indexes of the elements of a `matrix3d` that move points out of the plane, unless they equal the identity's."""


def _filter(token: Token, units: Units) -> Change | Unread:
    name = token.text
    if name == "drop-shadow":
        return Change()
    if name in ("grayscale", "sepia", "saturate", "hue-rotate"):
        return Change(recolored=1)
    if name not in ("opacity", "blur", "brightness", "contrast", "invert"):
        return Unread.UNKNOWN if name == "url" else Unread.INVALID
    value = _calculated(token.inner, units._replace(percent=1.0)) if token.inner else 0.0 if name == "blur" else 1.0
    if value is None:
        return Unread.UNKNOWN
    if name == "opacity":
        return Change(alpha=min(1.0, max(0.0, value)))
    low, high = {"blur": (0.0, 2.5), "brightness": (0.4, 1.6), "contrast": (0.4, 4.0), "invert": (0.0, 0.2)}[name]
    is_plain = value == (1.0 if name in ("brightness", "contrast") else 0.0)
    return Change(gone=not low <= value <= high, recolored=0 if is_plain else 1)


_SMALL = 10.0
"""The minimum width and height, in pixels, of a visible part that can contain readable text."""


def _clip(token: Token, units: Units) -> Change | Unread:
    """Return the effect of `clip: rect(top, right, bottom, left)`."""
    if token.text != "rect":
        return Unread.INVALID
    words = [each for each in token.inner if each.kind not in ("whitespace", "literal")]
    if len(words) != 4:
        return Unread.INVALID
    sides = [None if each.word == "auto" else _amount(each, units) for each in words]
    if any(side is None and word.word != "auto" for side, word in zip(sides, words, strict=True)):
        return Unread.UNKNOWN
    top, right, bottom, left = sides
    tall = bottom is None or bottom - (top or 0.0) >= _SMALL
    wide = right is None or right - (left or 0.0) >= _SMALL
    near = (top or 0.0) < _SMALL and (left or 0.0) < _SMALL
    return Change(gone=not (tall and wide and near))


def _clip_path(token: Token, units: Units) -> Change | Unread:
    """Return the effect of a basic shape, which hides the element unless it is known to show a large part of it."""
    name = token.text
    inner = [each for each in token.inner if each.kind != "whitespace"]
    if name == "inset":
        values = list[float]()
        for each in inner:
            if each.word == "round":
                break
            share = each.number / 100 if each.kind == "percentage" else (_amount(each, units) or 0.0) / 40
            values.append(share if each.kind in ("percentage", "dimension", "number") else 1.0)
        if not 1 <= len(values) <= 4:
            return Unread.INVALID
        top, right = values[0], values[1] if len(values) > 1 else values[0]
        bottom, left = values[2] if len(values) > 2 else top, values[3] if len(values) > 3 else right
        return Change(gone=top + bottom > 0.5 or left + right > 0.5)
    if name == "polygon":
        return Change(gone=_area(token.inner) < 0.5)
    if name in ("circle", "ellipse") and inner and "at" not in {each.word for each in inner}:
        return Change(gone=not all(each.kind == "percentage" and each.number >= 50 for each in inner))
    return Change(gone=True)


def _area(inner: Sequence[Token]) -> float:
    """Return the area of a polygon as a share of the element; 0 if it cannot be computed."""
    points: list[tuple[float, float]] = []
    for corner in split(inner):
        words = [each for each in corner if each.kind != "whitespace"]
        if len(words) == 1 and words[0].word in ("evenodd", "nonzero"):
            continue
        if len(words) != 2 or any(each.kind not in ("percentage", "number") for each in words):
            return 0.0
        if any(each.kind == "number" and each.number for each in words):
            return 0.0
        x, y = (min(1.0, max(0.0, each.number / 100)) for each in words)
        points.append((x, y))
    around = zip(points, (*points[1:], *points[:1]), strict=True)
    return abs(sum(x * down - right * y for (x, y), (right, down) in around)) / 2


_READERS: Mapping[str, Callable[[Token, Units], Change | Unread]] = {
    "transform": _transform,
    "filter": _filter,
    "clip": _clip,
    "clip-path": _clip_path,
}
