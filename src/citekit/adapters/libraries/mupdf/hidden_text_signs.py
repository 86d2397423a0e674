"""Finds signs of hidden text in the bytes of a content stream, fast enough to check each page of a file.

Strings, comments, arrays, and inline images are removed, and the remaining operators are checked for what they may do
(ISO 32000-1, 7.2, 7.8, and annex A). Most pages of text have no sign; for the others, MuPDF determines what they really
paint. A form is a form XObject (8.10). A stream whose syntax MuPDF may interpret differently gets the sign `text`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Protocol

from attrs import field, frozen

LIGHT = 0.93
"""The minimum value of each color channel of a fill that counts as white."""

_THIN = 2.0
"""The maximum thickness, in points, of a line that is too thin to cover text."""

_REMEMBERED = 1 << 16
"""The maximum number of tokens whose codes are remembered."""

_SCALES = 64
"""The maximum number of distinct matrices that are multiplied to estimate the thickness of lines."""

_PALE_TEXT = 0.5
"""The minimum value of all color channels of pale text. CMYK is rendered lighter than its values suggest."""

_PALE = 0.6
"""The minimum value of all color channels at which text is compared with its background."""

_TINY = 1.0
"""Font size, in points, below which text is not legible."""

_NARROW = 20.0
"""Horizontal scale, in percent, below which text may not be legible."""

_EVEN = 1.001
"""The ratio of the two scales of a matrix up to which it counts as scaling evenly."""

_FLAT = 5.0
"""The ratio of the two scales of a text matrix above which text may be too flat."""

_KEPT = 1_000_000
"""The maximum size in bytes of a stream whose tokens are remembered."""

_STEPS = 30_000_000
"""The maximum number of bytes that may be read to split a stream.

For each possible start of a string or image, the rest of the stream may be searched.
"""

_STRING = rb"\([^()\\]*(?:\\.[^()\\]*)*\)"
_LITERAL = (
    rb"\[[^\[\]()<>%]*(?:(?:" + _STRING + rb"|<[0-9A-Fa-f\s]*>)[^\[\]()<>%]*)*\]"
    rb"|" + _STRING + rb"|\([^()\\]*(?:(?:\\.|" + _STRING + rb")[^()\\]*)*\)"
    rb"|<[^<>]*>|<<|>>|%[^\r\n]*"
)
_LITERALS = re.compile(_LITERAL, re.DOTALL)
"""Arrays, strings with at most one level of nested parentheses, comments, and the delimiters of dictionaries."""

_LITERALS_AND_IMAGES = re.compile(_LITERAL + rb"|\bBI\b(?>[^()]*?\bID\b)(?>.*?EI)", re.DOTALL)
_ARRAY = re.compile(rb"\[[^\[\]]*\]")
_SPACES = bytes.maketrans(b"\0\v", b" {")
"""NUL is white space in PDF and a vertical tab is not; for `bytes.split`, it is the other way around."""

_NUMBER = re.compile(rb"[-+]?(?:[0-9]{1,12}(?:\.[0-9]*)?|\.[0-9]+)")
_WORD = re.compile(rb"/[^\s()<>\[\]{}]*|[A-Za-z'\"][A-Za-z0-9*'\"]*|\(\)|\[\]")

_CODES = {
    b"g": "g", b"rg": "r", b"k": "k", b"sc": "s", b"scn": "s", b"cs": "C",
    b"G": "G", b"RG": "R", b"K": "K", b"SC": "x", b"SCN": "x", b"CS": "X",
    b"Tj": "T", b"TJ": "T", b"'": "'", b'"': '"',
    b"f": "f", b"f*": "f", b"F": "f", b"B": "B", b"B*": "B", b"b": "B", b"b*": "B", b"S": "S", b"s": "S", b"n": "n",
    b"Do": "D", b"sh": "D", b"EI": "I", b"q": "q", b"Q": "Q", b"cm": "c", b"w": "w",
    b"re": "e", b"m": "m", b"l": "m", b"c": "v", b"v": "u", b"y": "u",
    b"Tr": "t", b"Tf": "F", b"Tz": "z", b"BT": "b", b"Tm": "M", b"Td": "d", b"TD": "d", b"T*": "*", b"TL": "L", b"gs": "U",
}  # fmt: skip
"""The code of each operator that is followed.

Other operators are `?`, numbers `0`, names `/`, irregular tokens `!`, and other tokens `-`.
"""

_OPERANDS = {
    **dict.fromkeys("gGtwLz", 1), **dict.fromkeys("md", 2), **dict.fromkeys("rR", 3), **dict.fromkeys("kKeu", 4),
    **dict.fromkeys("cMv", 6),
}  # fmt: skip
"""The number of numeric operands of an operator, by its code."""

_NUMBERS_AND_OPERATOR = re.compile(r"0*[^0]")

_COLORS = {"g": 1, "r": 3, "k": 4}
_DEVICE_SPACES = {"g": b"/DeviceGray", "r": b"/DeviceRGB", "k": b"/DeviceCMYK"}
_DEVICE_COUNTS = {b"/DeviceGray": 1, b"/DeviceRGB": 3, b"/DeviceCMYK": 4}
_STROKES = {"G": "g", "R": "r", "K": "k"}
_TEXT = re.compile(r"[T'\"D]")
_AREA = re.compile(r"[fBSDI]")
_SAVES = re.compile(r"[qQ]")
_UNUSUAL = frozenset("DIstU")
_DRAWING = frozenset("DI")
_SHAPE = re.compile(r"[muv][^nfBS]*[fB]|e[^nfBS]*e[^nfBS]*[fB]")
_FILL_COLORS = re.compile(r"[gkrsC]")
_FILL_COLORS_AND_SAVES = re.compile(r"[gkrsCqQ]")
_COLORED_TEXT = re.compile(r"[qQgrksCT'\"D]")
"""Matches the codes of the operators that set, save, restore, or use a fill color."""

_COLOR_STEPS = 100_000
"""The maximum number of operators that are followed to find text in a pale color."""


@frozen
class Signs:
    """What a stream, including the forms that it draws, may do.

    `text`: show text that is unpainted, illegible, or transparent. `light`: fill with nearly white. `pale`: show text in a
    pale color. `areas`: paint over text that it showed before. `strokes`: do so with thick lines.
    """

    text: bool = False
    light: bool = False
    pale: bool = False
    areas: bool = False
    strokes: bool = False

    def __bool__(self) -> bool:
        return self.text or self.is_light or self.areas

    @property
    def is_light(self) -> bool:
        """Whether text may be shown in white, or in a pale color on a white area."""
        return self.light and self.pale

    def __or__(self, other: Signs) -> Signs:
        return Signs(
            self.text or other.text,
            self.light or other.light,
            self.pale or other.pale,
            self.areas or other.areas,
            self.strokes or other.strokes,
        )


class Resources(Protocol):
    """The resources (color spaces, forms, images) that a content stream refers to by name."""

    def is_white(self, space: bytes, values: tuple[float, ...], least: float = LIGHT) -> bool:
        """Return whether all RGB channels of the color are at least `least`. `space` is its color space, with the
        slash.
        """

    def form(self, name: bytes) -> Signs | None:
        """Return the signs of the form named `name`; None if there is no such form, as for the name of an image."""


class NoResources:
    """A substitute for missing or unknown resources of a content stream.

    Colors are judged by their values alone, and what is drawn by name is assumed to be an image.
    """

    def is_white(self, space: bytes, values: tuple[float, ...], least: float = LIGHT) -> bool:  # noqa: ARG002  # the protocol's name
        """See `Resources.is_white`. Four values may be a CMYK color. A pattern, without values, may be white."""
        return not values or min(values) >= least or (len(values) == 4 and max(values) <= 1 - least)

    def form(self, name: bytes) -> Signs | None:  # noqa: ARG002  # the protocol's name
        """See `Resources.form`."""
        return None


@frozen
class Tokens:
    """The tokens of a content stream without its strings, comments, arrays, and image data.

    `codes` has one character for each of `words` (see `_CODES`).
    """

    words: Sequence[bytes]
    codes: str
    _matrices: dict[str, set[tuple[bytes, ...]]] = field(factory=dict, init=False, repr=False, eq=False)

    @cached_property
    def is_irregular(self) -> bool:
        """Whether MuPDF may read the stream differently, because of irregular tokens, operands, or `Q` operators."""
        runs = set(_NUMBERS_AND_OPERATOR.findall(self.codes))
        return (
            "!" in self.codes
            or any(len(run) - 1 != _OPERANDS.get(run[-1], len(run) - 1) for run in runs)
            or self.codes.count("F") != self.codes.count("/0F")
            or self._restores_too_often
        )

    @property
    def _restores_too_often(self) -> bool:
        """Whether more than one `Q` has no matching `q`: MuPDF saves the state once before a page."""
        changes = (1 if code == "q" else -1 for code in _SAVES.findall(self.codes))
        return min(accumulate(changes), default=0) < -1

    def operands(self, code: str, count: int) -> set[tuple[bytes, ...]]:
        """Return the distinct operand tuples, of length `count`, of all operators with the code `code`."""
        found, at = set(), self.codes.find(code)
        while at >= 0:
            found.add(tuple(self.words[max(0, at - count) : at]))
            at = self.codes.find(code, at + 1)
        return found

    def matrices(self, code: str) -> set[tuple[bytes, ...]]:
        """Return the distinct first four numbers of the matrices that operators with the code `code` set.

        The other two numbers, the position, may differ thousands of times.
        """
        if code not in self._matrices:
            words, codes = self.words, self.codes
            found, at = set(), codes.find(code)
            while at >= 0:
                found.add(tuple(words[max(0, at - 6) : max(0, at - 2)]))
                at = codes.find(code, at + 1)
            self._matrices[code] = found
        return self._matrices[code]


def tokens_of(data: bytes) -> Tokens:
    """Return the tokens of a content stream; a stream that would take too long to split gives one irregular token."""
    return _last_tokens_of(data) if len(data) <= _KEPT else _split(data)


def _split(data: bytes) -> Tokens:
    if len(data) * (data.count(b"\\(") + data.count(b"BI")) > _STEPS:
        return Tokens([b"{"], "!")
    if b"BI" in data and b"ID" in data:
        images = 0

        def replace(found: re.Match[bytes]) -> bytes:
            nonlocal images
            is_image = found[0].startswith(b"BI")
            images += is_image
            return b" EI " if is_image else b" () "

        plain = _LITERALS_AND_IMAGES.sub(replace, data)
        if plain.count(b"EI") != images:
            plain += b" { "  # the data of an image may end elsewhere
    else:
        plain = _LITERALS.sub(b" () ", data)
    plain = _ARRAY.sub(b" [] ", plain) if b"[" in plain else plain
    plain = plain.translate(_SPACES).replace(b"/", b" /")
    words = [b"()", *plain.split()]  # every operator has a token before its operands
    return Tokens(words, "".join(map(_KNOWN_CODES.__getitem__, words)))


_last_tokens_of = lru_cache(maxsize=1)(_split)


class _TokenCodes(dict[bytes, str]):
    """A cache of the codes of tokens, twice as fast as `lru_cache`."""

    def __missing__(self, token: bytes) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        self[token] = code = _code(token)
        return code


_KNOWN_CODES = _TokenCodes()


def _code(token: bytes) -> str:
    if token in _CODES:
        return _CODES[token]
    if _NUMBER.fullmatch(token):
        return "0"
    if not _WORD.fullmatch(token) or token == b"ID":
        return "!"
    return "/" if token.startswith(b"/") else "?" if token[:1].isalpha() else "-"


def signs_of(data: bytes, resources: Resources | None = None) -> Signs:
    """Return the signs of hidden text in the content stream `data`; an irregular stream gets the sign `text`."""
    tokens = tokens_of(data)
    own = resources or NoResources()
    if tokens.is_irregular:
        return Signs(text=True)
    try:
        areas = paints_after_text(tokens) and _paints_areas(tokens)
        found = Signs(
            text=_is_illegible(tokens) or _has_unusual_mode(tokens),
            light=_may_set_white(tokens, own),
            pale=_shows_pale_text(tokens, own),
            areas=areas,
            strokes=areas and _is_thick(tokens),
        )
    except (ValueError, OverflowError):
        return Signs(text=True)
    for (name,) in tokens.operands("D", 1):
        found |= own.form(name) or Signs()
    return found


def _may_set_white(tokens: Tokens, resources: Resources) -> bool:
    if "s" in tokens.codes and any(resources.is_white(*color) for color in _named_colors(tokens)):
        return True
    return any(
        _are_white(code, operands)
        for code, count in _COLORS.items()
        if code in tokens.codes
        for operands in tokens.operands(code, count)
    )


def _shows_pale_text(tokens: Tokens, resources: Resources) -> bool:
    """Return whether text may be shown, or a form drawn, while the fill color is pale (ISO 32000-1, 8.4.2, 8.6.8)."""
    known: dict[tuple[str, bytes, tuple[bytes, ...]], bool] = {}
    steps = 0
    for code, at, space in _fill_colors(tokens):
        if code == "C":
            is_pale = True  # the first color of a palette may be pale
        else:
            values = tuple(tokens.words[at - _COLORS[code] : at]) if code in _COLORS else _values_before(tokens, at)
            key = code, space, values
            if key not in known:
                known[key] = (
                    _are_white(code, values, _PALE_TEXT)
                    if code in _COLORS
                    else resources.is_white(space, _padded(space, values), _PALE_TEXT)
                )
            is_pale = known[key]
        if is_pale:
            is_used, taken = _uses_color(tokens, at + 1, resources)
            steps += taken
            if is_used or steps > _COLOR_STEPS:
                return True
    return False


def _uses_color(tokens: Tokens, start: int, resources: Resources) -> tuple[bool, int]:
    """Return whether text is shown, or a form drawn, in the color set before `start`, and the steps taken."""
    depth = changed = taken = 0
    for found in _COLORED_TEXT.finditer(tokens.codes, start):
        taken += 1
        code = found[0]
        if code == "q":
            depth += 1
        elif code == "Q":
            if not depth:
                break
            changed = 0 if changed == depth else changed
            depth -= 1
        elif changed:
            continue
        elif code in "gkrsC":
            if not depth:
                break
            changed = depth
        elif code != "D" or resources.form(tokens.words[found.start() - 1]) is not None:
            return True, taken
        if taken > _COLOR_STEPS:
            break
    return False, taken


def _values_before(tokens: Tokens, at: int) -> tuple[bytes, ...]:
    first = at
    while first and tokens.codes[first - 1] == "0":
        first -= 1
    return tuple(tokens.words[first:at])


def _named_colors(tokens: Tokens) -> set[tuple[bytes, tuple[float, ...]]]:
    """Return the distinct colors that the stream sets in named color spaces, as pairs of the space and the values.

    A pattern has no values. The space is empty if an outer stream set it.
    """
    colors = {(space, _values_before(tokens, at)) for code, at, space in _fill_colors(tokens) if code == "s"}
    return {(space, _padded(space, values)) for space, values in colors}


def _fill_colors(tokens: Tokens) -> Iterator[tuple[str, int, bytes]]:
    """Yield the code and the position of each operator that sets a fill color, and the name of its color space.

    The name is empty in the color space of an outer stream. `q` and `Q` matter only if the stream uses `sc` or `scn`.
    """
    space, saved = b"", list[bytes]()
    for found in (_FILL_COLORS_AND_SAVES if "s" in tokens.codes else _FILL_COLORS).finditer(tokens.codes):
        code, at = found[0], found.start()
        if code == "q":
            saved.append(space)
        elif code == "Q":
            space = saved.pop() if saved else b""
        else:
            space = tokens.words[at - 1] if code == "C" else _DEVICE_SPACES.get(code, space)
            yield code, at, space


def _padded(space: bytes, values: tuple[bytes, ...]) -> tuple[float, ...]:
    """Return the numbers of a color in `space`. MuPDF reads missing numbers of a device color as zero."""
    numbers, count = tuple(map(float, values)), _DEVICE_COUNTS.get(space, 0)
    return (*numbers, 0.0, 0.0, 0.0, 0.0)[:count] if numbers and count else numbers


def _has_unusual_mode(tokens: Tokens) -> bool:
    """Return whether the stream may show text without painting it, or with a white outline."""
    modes = {int(float(mode)) for (mode,) in tokens.operands("t", 1)}
    return not modes <= {0, 1, 2, 4, 5, 6} or (not modes <= {0, 4} and _strokes_white(tokens))


def _is_illegible(tokens: Tokens) -> bool:
    """Return whether the stream may show text that is too small, narrow, or flat to be read."""
    return (
        any(abs(float(size)) < _TINY for (size,) in tokens.operands("F", 1))
        or any(abs(float(scale)) < _NARROW for (scale,) in tokens.operands("z", 1))
        or any(_scales(each)[1] > _FLAT * _scales(each)[0] for each in tokens.matrices("M"))
    )


def _strokes_white(tokens: Tokens) -> bool:
    return "x" in tokens.codes or any(
        _are_white(fill, operands)
        for code, fill in _STROKES.items()
        if code in tokens.codes
        for operands in tokens.operands(code, _COLORS[fill])
    )


def paints_after_text(tokens: Tokens) -> bool:
    """Return whether a stream may paint an area or an object after it has shown text."""
    first = _TEXT.search(tokens.codes)
    return first is not None and _AREA.search(tokens.codes, first.end()) is not None


def _paints_areas(tokens: Tokens) -> bool:
    """Return whether the stream may paint areas other than thin lines, or objects."""
    return not _DRAWING.isdisjoint(tokens.codes) or not _has_only_single_rectangles(tokens)


def _is_thick(tokens: Tokens) -> bool:
    """Return whether the stream may draw a thick line, if enlarging matrices apply to the widest one."""
    widest = max((abs(float(width)) for (width,) in tokens.operands("w", 1)), default=1.0)
    scales = sorted((_scales(matrix)[1] for matrix in tokens.matrices("c")), reverse=True)[:_SCALES]
    return max(widest, 1.0) * math.prod(scale for scale in scales if scale > 1) > _THIN


def may_shrink(tokens: Tokens) -> bool:
    """Return whether a stream may show glyphs that are narrower or flatter than their font size suggests."""
    return (
        not _DRAWING.isdisjoint(tokens.codes)
        or any(abs(float(scale)) < 2 * _NARROW for (scale,) in tokens.operands("z", 1))
        or any(_scales(each)[1] > _EVEN * _scales(each)[0] for each in tokens.matrices("c"))
        or any(_scales(each)[1] > 1.5 * _scales(each)[0] for each in tokens.matrices("M"))
    )


def may_look_unusual(tokens: Tokens) -> bool:
    """Return whether a stream may do more than show legible, dark text between thin lines."""
    return bool(
        not _UNUSUAL.isdisjoint(tokens.codes)
        or any(min(map(float, color)) >= _PALE for code in "gr" for color in tokens.operands(code, _COLORS[code]))
        or any(max(map(float, color)) <= 1 - _PALE for color in tokens.operands("k", 4))
        or any(_scales(matrix)[0] < 0.99 for code in "cM" for matrix in tokens.matrices(code))
        or _is_illegible(tokens)
        or not _has_only_single_rectangles(tokens)
    )


@lru_cache(maxsize=1024)
def _scales(matrix: tuple[bytes, ...]) -> tuple[float, float]:
    """Return the lesser and the greater scale of a matrix, given by its first four numbers."""
    a, b, c, d = map(float, matrix)
    one, other = math.hypot(a, b), math.hypot(c, d)
    return min(one, other), max(one, other)


def _has_only_single_rectangles(tokens: Tokens) -> bool:
    """Return whether all areas are single thin rectangles, all lines are thin, and nothing is enlarged, as on most
    pages.
    """
    return (
        not _SHAPE.search(tokens.codes)
        and all(min(abs(float(width)), abs(float(height))) <= _THIN for width, height in tokens.operands("e", 2))
        and all(abs(float(width)) <= _THIN for (width,) in tokens.operands("w", 1))
        and all(max(abs(float(each)) for each in matrix) <= 1 for matrix in tokens.matrices("c"))
    )


@lru_cache(maxsize=4096)
def _are_white(code: str, operands: tuple[bytes, ...], least: float = LIGHT) -> bool:
    """Return whether operands of `g`, `rg`, or `k` give a color whose RGB channels are at least `least`."""
    numbers = [float(each) for each in operands]
    return max(numbers) <= 1 - least if code == "k" else min(numbers) >= least
