"""Determines whether a style hides text.

Text is hidden if it is not displayed, transparent, tiny, clipped, off-screen, or in the color of its background, or if
a possible or unknown value of a property may hide it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeVar

from citekit.adapters.formats.xhtml.css_properties import (
    BLACK,
    HEIGHT,
    RGBA,
    TRACKS,
    WHITE,
    WIDTH,
    Change,
    Units,
    Unread,
    change,
    color_of,
    has_no_track,
    image_colors,
    keyword,
    length,
    number,
    written,
)
from citekit.adapters.formats.xhtml.style_sheets import Style
from citekit.adapters.libraries.lxml import names
from citekit.adapters.libraries.mammoth import UNSEEN_STYLE

Color = RGBA | None
"""A color, or None if it is not known."""

FAR_LEFT, FAR_UP = 200.0, 50.0
"""The distances in CSS pixels to the left and upward at which text counts as off-screen."""

TINY = 1.5
"""The maximum font size, in CSS pixels, at which text is unreadable."""

_NEAR = 20
"""Maximum difference in each of red, green, and blue between two colors that look the same."""

_CONTRAST, _LIGHT = 128, 200
"""For each of red, green, and blue: the minimum difference that no single filter removes, and the minimum in a light
color.
"""

_BARE_COLOR = re.compile(r"[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?")
_LINKS = "color of links"
_COLORS_LIMIT = 12
_LINK: RGBA = (0.0, 0.0, 238.0, 1.0)
_DARK: RGBA = (18.0, 18.0, 18.0, 1.0)
_BUTTON: RGBA = (239.0, 239.0, 239.0, 1.0)
_OWN_COLORS: Mapping[str, tuple[RGBA, RGBA]] = {
    "mark": (BLACK, (255.0, 255.0, 0.0, 1.0)),
    "button": (BLACK, _BUTTON),
    "input": (BLACK, WHITE),
    "select": (BLACK, WHITE),
    "textarea": (BLACK, WHITE),
}
"""The color and the background color that browsers give to some elements."""

_FALLBACK = names(
    """
    iframe fencedframe applet noembed noframes noscript template datalist canvas audio video object progress meter
    frameset mphantom defs symbol clippath mask pattern marker lineargradient radialgradient filter
    """
)
"""Elements whose text browsers display only if they do not support the element, or never."""

_SVG_HINTS = names(
    "fill fill-opacity stroke display visibility opacity font-size transform clip-path mask filter overflow x y dx dy"
)
_SVG_TEXT = names("text tspan textpath")
_SVG_ROOM = 300.0
_SVG_HEIGHT = 150.0
_MATH_TEXT = names("mi mn mo ms mtext")
_SELECTS = names("select optgroup")


Pull = Literal["", "left", "up"]
"""Where an element may move what follows it: out of the page to the left, or upward."""


class Shown(NamedTuple):
    """The appearance of text inside an element: whether it is hidden, its size, colors, and the colors behind it.

    `right` and `down` are the distances by which it is moved. `is_clipped` says that an ancestor hides what is outside
    it, `is_drawing` that the text is in an SVG, `is_bare` that browsers display no text there, except inside some child
    elements, and `is_squeezed` that the element may have no room in its grid. `recolored` is how often filters and
    blend modes change its colors, and `room` is the displayed part of an SVG: left, top, right, bottom.
    """

    hidden: bool = False
    size: float = 16.0
    root_size: float = 16.0
    scale: float = 1.0
    alpha: float = 1.0
    colors: tuple[Color, ...] = (BLACK,)
    fills: tuple[Color, ...] = ()
    links: tuple[Color, ...] = (_LINK,)
    backgrounds: tuple[Color, ...] = (WHITE,)
    right: float = 0.0
    down: float = 0.0
    is_clipped: bool = False
    is_drawing: bool = False
    is_bare: bool = False
    is_squeezed: bool = False
    pulls: Pull = ""
    recolored: int = 0
    room: tuple[float, float, float, float] = (0.0, 0.0, _SVG_ROOM, _SVG_HEIGHT)

    @property
    def unseen(self) -> bool:
        """Whether the text is or may be invisible: hidden, tiny, or nearly in the color of its background."""
        if self.hidden or self.is_bare or self.size * self.scale <= TINY or self.recolored > 1:
            return True
        inks = self.fills or self.colors
        if self.recolored and not all(
            _is_contrasted(ink, behind, self.alpha) for ink in inks for behind in self.backgrounds
        ):
            return True
        return any(_is_near(ink, behind, self.alpha) for ink in inks for behind in self.backgrounds)


PAGE = Shown()
"""Black on white: the default style of browsers."""

_HIDDEN = PAGE._replace(hidden=True)


def is_unshown(name: str, said: Mapping[str, str], around: Sequence[str]) -> bool:
    """Return whether browsers hide an element because of its name, its attributes `said`, or its ancestors `around`."""
    if name in _FALLBACK or (name == "dialog" and "open" not in said):
        return True
    if (name == "case" and "switch" in around) or (len(around) > 1 and around[-2] == "maction"):
        return True
    if not said:
        return False
    return (
        "hidden" in said
        or "popover" in said
        or said.get("class") == UNSEEN_STYLE
        or (name == "bdo" and said.get("dir", "").lower() == "rtl")
        or (name == "svg" and any(said.get(each, "1").strip() in ("0", "0px") for each in ("width", "height")))
    )


def hints_of(name: str, said: Mapping[str, str], *, is_drawing: bool) -> tuple[tuple[str, str], ...]:
    """Return the CSS properties, and their values, that the attributes `said` of an element set."""
    if is_drawing:
        return tuple((key, value) for key, value in said.items() if key in _SVG_HINTS)
    found: list[tuple[str, str]] = []
    if said.get("bgcolor"):
        found.append(("background-color", _legacy(said["bgcolor"])))
    if said.get("background") and name in ("body", "table", "td", "th", "tr"):
        found.append(("background-image", "url(image)"))
    if said.get("color") and name in ("font", "basefont"):
        found.append(("color", _legacy(said["color"])))
    if said.get("text") and name == "body":
        found.append(("color", _legacy(said["text"])))
    if said.get("link") and name == "body":
        found.append((_LINKS, _legacy(said["link"])))
    return tuple(found)


def _legacy(text: str) -> str:
    """Return the CSS color for a color in an HTML attribute, which may lack its `#`."""
    text = text.strip()
    if isinstance(color_of(text), tuple):
        return text
    digits = "".join(each if each in "0123456789abcdefABCDEF" else "0" for each in text.lstrip("#")[:128])
    size = -(-len(digits) // 3) or 1
    digits = digits.ljust(3 * size, "0")
    return "#" + "".join(digits[at : at + size][-8:][:2].rjust(2, "0") for at in range(0, 3 * size, size))


def shown(name: str, style: Style, around: Shown, *, has_link: bool = False) -> Shown:
    """Return how the element `name` with a style is displayed, if its parent is displayed as `around`."""
    if around.hidden:
        return around
    if around.pulls:
        around = around._replace(pulls="")
    if name == "svg" and not around.is_drawing:
        around = around._replace(is_drawing=True, fills=(BLACK,), right=0.0, down=0.0)
    elif name == "foreignobject":
        around = around._replace(is_drawing=False, fills=())
    is_bare = _is_bare(name, around)
    if is_bare is not around.is_bare:
        around = around._replace(is_bare=is_bare)
    if not (style or has_link or name in _OWN_COLORS):
        return around
    size = _font_size(style, around)
    units = Units(size, size if name == "html" else around.root_size)
    pulls = _pulls(style, units, around)
    hidden = _HIDDEN._replace(pulls=pulls)
    if _is_hidden(style) or _has_no_room(name, style, units, around):
        return hidden
    look = _moved(style, units, around)
    if look is None:
        return hidden
    if name in _SVG_TEXT and _is_outside(style, units, look):
        return hidden
    look = look._replace(size=size, root_size=units.rem, pulls=pulls)
    return _blended(style, _colored(name, style, look, has_link=has_link), around)


def in_svg(look: Shown, said: Mapping[str, str]) -> Shown:
    """Return how the content of an `svg` element is displayed: its room and its scale."""
    sizes = [length("width", said.get(key, "auto"), Units()) for key in ("width", "height")]
    wide, tall = (each if isinstance(each, float) else None for each in sizes)
    if "viewbox" not in said:
        return look._replace(room=(0.0, 0.0, wide or WIDTH, tall or HEIGHT))
    try:
        left, top, width, height = (float(each) for each in said["viewbox"].replace(",", " ").split())
    except ValueError:
        return _HIDDEN
    if width <= 0 or height <= 0:
        return _HIDDEN
    scale = min((wide or WIDTH) / width, (tall or HEIGHT) / height, 1.0)
    return look._replace(room=(left, top, left + width, top + height), scale=look.scale * scale)


BREAKING = names(
    """
    b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr
    ol p pre ruby s small span strong strike sub sup table tt u ul var
    """
)
"""Elements that end an SVG or a formula for an HTML parser (HTML 13.2.6.5)."""


def _is_bare(name: str, around: Shown) -> bool:
    """Return whether browsers do not display text directly in the element `name`."""
    if around.is_drawing:
        # The path of a `textPath` is not checked; without a path, browsers display nothing.
        return name != "text" and (around.is_bare or name not in ("tspan", "a"))
    if name in _SELECTS or name == "math":
        return True
    return around.is_bare and name not in _MATH_TEXT and name not in ("option", "foreignobject")


def _pulls(style: Style, units: Units, around: Shown) -> Pull:
    """Return the direction in which negative margins may move what follows out of the page, or ""."""
    places = set(_words(style, "position")) - {"unset"}
    if around.is_drawing or set(_words(style, "display")) == {"none"} or (places and places <= {"absolute", "fixed"}):
        return ""
    pull: Pull
    for pull, sides, far in (
        ("up", ("margin-top", "padding-top", "padding-bottom", "margin-bottom"), FAR_UP),
        ("left", ("margin-left", "padding-left", "width", "padding-right", "margin-right"), FAR_LEFT),
    ):
        ends = (sides[0], sides[-1])
        if any(Unread.UNKNOWN in _lengths(style, name, units) for name in ends):
            return pull
        if any(_least(style, name, units) <= -far for name in ends):
            start = max(0.0, around.right if sides[0] == "margin-left" else around.down)
            if start + sum(_least(style, name, units) for name in sides) <= -far:
                return pull
    return ""


def _blended(style: Style, look: Shown, around: Shown) -> Shown:
    """Return `look` with the effect of the blend mode of the element."""
    if not set(_words(style, "mix-blend-mode")) - {"normal", *_DEFAULTS}:
        return look
    if any(each is None or min(each[:3]) < _LIGHT for each in around.backgrounds):
        return _HIDDEN._replace(pulls=look.pulls)
    return look._replace(recolored=look.recolored + 1)


Reading = TypeVar("Reading")


def _choices(style: Style, name: str, read: Callable[[str], Reading | Unread]) -> Iterator[Reading | Unread | str]:
    """Yield the possible values of a property: `UNKNOWN` if not understood, "unset" for the default."""
    for text, certain in style.get(name, ()):
        value = read(text)
        if value is Unread.INVALID:
            continue
        yield value
        if certain and value is not Unread.UNKNOWN:
            return
    yield "unset"


def _words(style: Style, name: str) -> list[str | Unread]:
    return list(_choices(style, name, lambda text: keyword(name, text))) if name in style else []


def _lengths(style: Style, name: str, units: Units) -> list[float | str | Unread]:
    return list(_choices(style, name, lambda text: length(name, text, units))) if name in style else []


def _font_size(style: Style, around: Shown) -> float:
    sizes: list[float] = []
    units = Units(around.size, around.root_size, around.size)
    for each in _lengths(style, "font-size", units):
        if isinstance(each, float):
            sizes.append(each)
        elif each is Unread.UNKNOWN:
            sizes.append(0.0)
        else:
            sizes.append(16.0 if each == "initial" else around.size)
    return min(sizes) if sizes else around.size


_HIDING: Mapping[str, frozenset[str | Unread]] = {
    "display": frozenset(("none", "table-column", "table-column-group", Unread.UNKNOWN)),
    "visibility": frozenset(("hidden", "collapse", Unread.UNKNOWN)),
    "content-visibility": frozenset(("hidden", Unread.UNKNOWN)),
    "unicode-bidi": frozenset(("bidi-override", "isolate-override", Unread.UNKNOWN)),
    "-webkit-text-security": frozenset(("disc", "circle", "square", Unread.UNKNOWN)),
}
_BLENDS = frozenset(("normal", "multiply", "darken", "luminosity", "unset", "initial", "inherit", "revert"))


def _is_hidden(style: Style) -> bool:
    for name, hiding in _HIDING.items():
        if name in style and not hiding.isdisjoint(_words(style, name)):
            return True
    if not _BLENDS.issuperset(_words(style, "mix-blend-mode")):
        return True
    for name in ("mask-image", "offset-path"):
        if name in style and any(each != "none" and each not in _DEFAULTS for each in _choices(style, name, written)):
            return True
    if "content" in style:
        texts = (each for each in _choices(style, "content", written))
        return any(each is Unread.UNKNOWN or (isinstance(each, str) and "(" in each) for each in texts)
    return False


_DEFAULTS = frozenset(("unset", "initial", "inherit", "revert", "revert-layer"))
_CLIPPING = frozenset(("hidden", "clip", "auto", "scroll", "overlay", Unread.UNKNOWN))


def _clips(style: Style, axis: str) -> bool:
    words = _words(style, f"overflow-{axis}")
    return any(word in _CLIPPING or (isinstance(word, str) and "hidden" in word) for word in words)


_CONTAINED = frozenset(("strict", "size", "inline-size", "error()"))


def _has_no_room(name: str, style: Style, units: Units, around: Shown) -> bool:
    """Return whether the element may be too small for its text and hide what does not fit."""
    contained = {
        word
        for key in ("contain", "container-type")
        if key in style
        for each in _choices(style, key, written)
        for word in ("error()" if isinstance(each, Unread) else each.replace("/", " ")).split()
    }
    clips = name in ("textarea", "svg") or _clips(style, "x") or _clips(style, "y")
    clips = clips or not contained.isdisjoint(("strict", "content", "paint", "error()"))
    if not clips:
        return False
    least = 0.5 * max(units.em, 8.0)
    heights = _lengths(style, "height", units) + _lengths(style, "min-height", units)
    if not contained.isdisjoint(_CONTAINED) and not any(isinstance(each, float) and each >= least for each in heights):
        return True
    if "aspect-ratio" in style and _is_narrow(style, units):
        return True
    if around.is_squeezed:
        return True
    grow = list(_choices(style, "flex-grow", partial(number, "flex-grow"))) if "flex-grow" in style else []
    basis = _lengths(style, "flex-basis", units)
    if any(each is Unread.UNKNOWN or (isinstance(each, float) and each < least) for each in basis) and not any(
        isinstance(each, float) and each >= 0.5 for each in grow
    ):
        return True
    for name, minimum, padding in (
        ("height", "min-height", "padding-bottom"),
        ("max-height", "min-height", "padding-bottom"),
        ("width", "min-width", "padding-right"),
        ("max-width", "min-width", "padding-right"),
    ):
        found = _lengths(style, name, units)
        added = max(_least(style, minimum, units), _least(style, padding, units))
        for each in found:
            if each is Unread.UNKNOWN or (isinstance(each, float) and each + added < least):
                return True
    return any(isinstance(each, float) and each < 0.1 for each in _lengths(style, "line-height", units))


def _is_narrow(style: Style, units: Units) -> bool:
    """Return whether the aspect ratio of an element may leave no room for its text."""
    for each in _choices(style, "aspect-ratio", written):
        words = [] if isinstance(each, Unread) else each.replace("auto", " ").replace("/", " ").split()
        if isinstance(each, str) and (not words or each in _DEFAULTS):
            continue
        try:
            ratio = float(words[0]) / float(words[1] if len(words) > 1 else 1)
        except (ValueError, IndexError, ZeroDivisionError):
            return True
        widths = [found for found in _lengths(style, "width", units) if isinstance(found, float)]
        if not 0.1 <= ratio <= 10 or any(width / ratio < units.em for width in widths):
            return True
    return False


def _least(style: Style, name: str, units: Units) -> float:
    """Return the smallest possible value of a length, with 0 for keywords and unknown values."""
    return min((each if isinstance(each, float) else 0.0 for each in _lengths(style, name, units)), default=0.0)


def _moved(style: Style, units: Units, around: Shown) -> Shown | None:
    """Return `around` with the position, scale, and opacity of the element; None if they may hide it."""
    places = {str(each).removeprefix("-webkit-") for each in _words(style, "position")} or {"static"}
    is_placed = bool(places - {"static", *_DEFAULTS})
    is_fixed, is_absolute = "fixed" in places, not places.isdisjoint(("fixed", "absolute"))
    right = 0.0 if is_fixed else min(around.right, 0.0) if is_absolute else around.right
    down = 0.0 if is_fixed else min(around.down, 0.0) if is_absolute else around.down
    own_right = own_down = 0.0
    tall = units._replace(percent=HEIGHT)
    for name, own in (("margin-left", units), ("padding-left", units), ("text-indent", units)):
        if name in style:
            if Unread.UNKNOWN in _lengths(style, name, own):
                return None
            own_right += _least(style, name, own)
    for name in ("margin-top", "padding-top"):
        if name in style:
            if Unread.UNKNOWN in _lengths(style, name, units):
                return None
            own_down += _least(style, name, units)
    if is_placed:
        for name in ("left", "top", "right", "bottom"):
            own = units if name in ("left", "right") else tall
            found = _lengths(style, name, own)
            if Unread.UNKNOWN in found:
                return None
            most = _MOST[name] if is_absolute else FAR_LEFT if name == "right" else FAR_UP
            if name in ("right", "bottom") and any(
                isinstance(each, float) and not -WIDTH / 3 < each < most for each in found
            ):
                return None
        own_right += _least(style, "left", units)
        own_down += _least(style, "top", tall)
    if any(isinstance(each, float) and 0 < each < 100 for each in _lengths(style, "perspective", units)):
        return None
    changed = Change()
    for name in ("transform", "translate", "scale", "rotate", "filter", "clip", "clip-path"):
        if name not in style:
            continue
        found_changes = list(_choices(style, name, partial(change, name, units=units)))
        made = [each for each in found_changes if isinstance(each, Change)]
        if Unread.UNKNOWN in found_changes or any(each.gone for each in made):
            return None
        if made:
            weakest = Change(
                min(each.scale for each in made),
                min(each.right for each in made),
                min(each.down for each in made),
                min(each.alpha for each in made),
                turned=any(each.turned for each in made),
                recolored=max(each.recolored for each in made),
            )
            changed = changed.then(weakest)
    if changed.turned and (around.is_drawing or _has_far_origin(style)):
        return None
    own_right, own_down = own_right + changed.right, own_down + changed.down
    right, down = right + own_right, down + own_down
    if not around.is_drawing and (right <= -FAR_LEFT or down <= -FAR_UP):
        return None
    is_clipped = around.is_clipped or _clips(style, "x") or _clips(style, "y")
    if is_clipped and (own_right >= 0.98 * WIDTH or own_down >= 2 * HEIGHT):
        return None
    if is_fixed and (own_right >= WIDTH or own_down >= HEIGHT):
        return None
    for name, most in (("letter-spacing", 0.3), ("word-spacing", 1.5)):
        found = _lengths(style, name, units)
        if Unread.UNKNOWN in found or any(isinstance(each, float) and each <= -most * units.em for each in found):
            return None
    numbers = {}
    for name in ("opacity", "zoom"):
        found_numbers = list(_choices(style, name, partial(number, name))) if name in style else []
        if Unread.UNKNOWN in found_numbers:
            return None
        numbers[name] = min((each for each in found_numbers if isinstance(each, float)), default=1.0)
    alpha = around.alpha * max(0.0, min(1.0, numbers["opacity"])) * changed.alpha
    scale = around.scale * changed.scale * (numbers["zoom"] or 1.0)
    if alpha < 0.05:
        return None
    is_squeezed = around.is_squeezed or any(
        each is Unread.UNKNOWN or (isinstance(each, str) and has_no_track(each))
        for name in TRACKS
        if name in style
        for each in _choices(style, name, written)
    )
    return around._replace(
        right=right,
        down=down,
        scale=scale,
        alpha=alpha,
        is_clipped=is_clipped,
        is_squeezed=is_squeezed,
        recolored=around.recolored + changed.recolored,
    )


_MOST = {"left": WIDTH, "right": 0.98 * WIDTH, "top": HEIGHT, "bottom": HEIGHT / 2}
_NEAR_ORIGINS = names("center left right top bottom 0 0px 50% 0% 100%")


def _has_far_origin(style: Style) -> bool:
    """Return whether a transform is relative to a point that may be far from the element."""
    if "transform-origin" not in style:
        return False
    found = _choices(style, "transform-origin", written)
    return any(
        isinstance(each, Unread) or (each not in _DEFAULTS and not _NEAR_ORIGINS.issuperset(each.split()))
        for each in found
    )


def _is_outside(style: Style, units: Units, around: Shown) -> bool:
    """Return whether text in an SVG may start outside its displayed part."""
    left, top, right, bottom = around.room
    for name, moved, offset, first, last in (
        ("x", "dx", around.right, left - units.em, right),
        ("y", "dy", around.down, top, bottom + units.em),
    ):
        found = _lengths(style, name, units._replace(percent=last - first))
        places = [each for each in found if isinstance(each, float)] or [first + units.em]
        shifts = [each for each in _lengths(style, moved, units) if isinstance(each, float)] or [0.0]
        if Unread.UNKNOWN in found or any(
            not first <= place + shift + offset <= last for place in places for shift in shifts
        ):
            return True
    return False


def _colored(name: str, style: Style, around: Shown, *, has_link: bool) -> Shown:
    """Return `around` with the colors of the element and the colors behind it."""
    backgrounds = _backgrounds(name, style, around.backgrounds)
    own = _OWN_COLORS.get(name)
    default: tuple[Color, ...] = around.links if has_link else (own[0],) if own else around.colors
    if name == "html" and any(
        "dark" in str(each) and "light" not in str(each) for each in _words(style, "color-scheme")
    ):
        default, backgrounds = (WHITE,), _backgrounds(name, style, (_DARK,))
    colors = _inks(style, "color", default, around.colors, around.colors)
    if _LINKS in style:
        around = around._replace(links=_inks(style, _LINKS, around.links, colors, around.links))
    fills = around.fills
    if "-webkit-text-fill-color" in style and not around.is_drawing:
        fills = _inks(style, "-webkit-text-fill-color", fills or colors, colors, fills or colors)
        if all(each in colors for each in fills):
            fills = ()
    if around.is_drawing:
        if "fill" in style:
            fills = _inks(style, "fill", fills, colors, fills)
        faint = _choices(style, "fill-opacity", lambda text: number("fill-opacity", text))
        if "fill-opacity" in style and any(
            each is Unread.UNKNOWN or (isinstance(each, float) and each < 0.05) for each in faint
        ):
            fills = (None,)
    if "background-clip" in style and any("text" in str(each) for each in _words(style, "background-clip")):
        # The background shows through the letters, which are usually transparent.
        images = [each for each in _choices(style, "background-image", image_colors) if isinstance(each, tuple)]
        stops = tuple(color for found, _ in images for color in found)
        inks = fills or colors
        if stops and all(each is not None and each[3] == 0 for each in inks):
            return around._replace(colors=_limited(stops), fills=())
        return around._replace(colors=colors, fills=fills, backgrounds=_limited((*backgrounds, *around.backgrounds)))
    return around._replace(colors=colors, fills=fills, backgrounds=backgrounds)


def _inks(
    style: Style,
    name: str,
    default: tuple[Color, ...],
    current: tuple[Color, ...],
    inherited: tuple[Color, ...],
) -> tuple[Color, ...]:
    """Return the possible colors of a property.

    `default` are its colors without a declaration, `current` those of `currentcolor`, and `inherited` those of the
    parent.
    """
    if name not in style:
        return default
    found: list[Color] = []
    for value, certain in style[name]:
        each = color_of(value) if value.lower() != "none" or name != "fill" else (0.0, 0.0, 0.0, 0.0)
        if each is Unread.INVALID:
            found.extend(_quirky(value))
            continue
        if isinstance(each, tuple):
            found.append(each)
        elif each is Unread.UNKNOWN:
            found.append(None)
        elif each == "initial":
            found.append(BLACK)
        else:
            found.extend(current if each.startswith("current") else default if each == "revert" else inherited)
        if certain and each is not Unread.UNKNOWN:
            return _limited(found)
    return _limited((*found, *default))


def _backgrounds(name: str, style: Style, behind: tuple[Color, ...]) -> tuple[Color, ...]:
    """Return the possible colors behind the text of an element that is in front of `behind`."""
    below: list[Color] = list(behind)
    own = _OWN_COLORS.get(name)
    if own:
        below = [own[1]]
    if "background-color" in style:
        start, below = below, []
        for each in _choices(style, "background-color", color_of):
            if isinstance(each, tuple):
                below.extend(_over(each, under) for under in start)
            elif each is Unread.UNKNOWN or (isinstance(each, str) and each.startswith("current")):
                below.append(None)
            else:
                below.extend(start)
        below.extend(color for value, _ in style["background-color"] for color in _quirky(value))
    if "background-image" not in style:
        return _limited(below)
    painted: list[Color] = []
    for image in _choices(style, "background-image", image_colors):
        if isinstance(image, Unread):
            painted.append(None)
        elif isinstance(image, str) or not image[0]:
            painted.extend(below)
        else:
            stops, other = image
            painted.extend(_over(stop, under) for stop in stops for under in below)
            if other or "background-size" in style or "background-repeat" in style:
                painted.extend(below)
    return _limited(painted)


def _quirky(value: str) -> tuple[RGBA, ...]:
    """Return the color that a value without `#` has in quirks mode (Quirks Mode 3.1), or ()."""
    color = color_of(f"#{value}") if _BARE_COLOR.fullmatch(value) else None
    return (color,) if isinstance(color, tuple) else ()


def _over(color: RGBA, under: Color) -> Color:
    if color[3] >= 1:
        return color
    if under is None:
        return None
    red, green, blue = (top * color[3] + bottom * (1 - color[3]) for top, bottom in zip(color[:3], under, strict=False))
    return red, green, blue, 1.0


def _limited(colors: Sequence[Color]) -> tuple[Color, ...]:
    found = tuple(dict.fromkeys(colors))
    return found if len(found) <= _COLORS_LIMIT else (None,)


def _is_contrasted(ink: Color, behind: Color, alpha: float) -> bool:
    """Return whether text of the color `ink` stays visible over `behind` if a filter changes both."""
    if ink is None or behind is None:
        return False
    return all(abs(one - other) * alpha * ink[3] >= _CONTRAST for one, other in zip(ink[:3], behind, strict=False))


def _is_near(ink: Color, behind: Color, alpha: float) -> bool:
    """Return whether text of the color `ink` is or may be invisible over `behind`."""
    if ink is None or behind is None:
        return True
    strength = alpha * ink[3]
    return all(abs(one - other) * strength <= _NEAR for one, other in zip(ink[:3], behind, strict=False))
