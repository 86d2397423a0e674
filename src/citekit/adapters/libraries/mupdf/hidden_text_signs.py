"""Signs in the bytes of a content stream that a page may hide text: fast enough to be read for each page of any file.

Nothing is executed. Strings, comments, arrays, and inline images are removed, and the operators that are left are followed
(ISO 32000-1, 7.2, 7.8, and annex A) as far as color, rendering mode, the transformation matrix, and painted areas go.
A stream whose syntax MuPDF may read differently shows the sign `text`: such a page is drawn and looked at.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from attrs import define, field, frozen

LIGHT = 0.93
"""Value of a color channel from which a fill counts as white."""

COVERS = 400
"""Painted areas of a stream that are remembered."""

_THIN = 2.0
"""Points up to which an area is a line, which covers no text."""

_PALE = 0.6
"""Value of a color channel from which the text in a fill is compared with what is below it."""

_TINY = 1.0
"""Font size, in points, below which text is not legible."""

_NARROW = 20.0
"""Horizontal scale, in percent, below which text may not be legible."""

_FLAT = 5.0
"""Ratio of the two scales of a text matrix from which text may be too flat to be legible."""

_STEPS = 30_000_000
"""Bytes that are read to split a stream, at most: a string or image that does not end is looked for at each of its starts."""

_ROWS = 2000
_FORMS = 200

_STRING = rb"\([^()\\]*(?:\\.[^()\\]*)*\)"
_LITERAL = (
    rb"\[[^\[\]()<>%]*(?:(?:" + _STRING + rb"|<[0-9A-Fa-f\s]*>)[^\[\]()<>%]*)*\]"
    rb"|" + _STRING + rb"|\([^()\\]*(?:(?:\\.|" + _STRING + rb")[^()\\]*)*\)"
    rb"|<[^<>]*>|<<|>>|%[^\r\n]*"
)
_LITERALS = re.compile(_LITERAL, re.DOTALL)
"""Arrays, strings with at most one level of parentheses, comments, and the delimiters of dictionaries."""

_LITERALS_AND_IMAGES = re.compile(_LITERAL + rb"|\bBI\b(?>[^()]*?\bID\b)(?>.*?EI)", re.DOTALL)
_ARRAY = re.compile(rb"\[[^\[\]]*\]")
_SPACES = bytes.maketrans(b"\0\v", b" {")
"""NUL is white space in PDF and a vertical tab is not, the reverse of `bytes.split`."""

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
"""One character for each operator that is followed. Others are `?`, numbers `0`, names `/`, strings and dictionaries `-`."""

_IRREGULAR = re.compile(
    r"!|(?<![^0]0)[gGtwLz]|(?<![^0]00)[md]|(?<![^0]000)[rR]|(?<![^0]0000)[kKeu]|(?<![^0]000000)[cMv]|(?<!/0)F"
)
"""A token that may be read differently, or an operator with more or fewer operands than it takes."""

_COLORS = {"g": 1, "r": 3, "k": 4}
_STROKES = {"G": "g", "R": "r", "K": "k"}
_SHOWING = frozenset("T'\"D")
_AREA_AFTER_TEXT = re.compile(r"[T'\"D].*[fBSDI]", re.DOTALL)
_GRAPHICS = re.compile(r"[qQcemvufBSnDIw]")
_ALL = re.compile(r"[grksCT'\"qQcemvufBSnDIwbMd*L]")
_UNUSUAL = frozenset("DIstU")
_DRAWING = frozenset("DI")
_SHAPE = re.compile(r"[muv][^nfBS]*[fB]|e[^nfBS]*e[^nfBS]*[fB]")
_NAMED_COLORS = re.compile(r"[sC]")
_SEGMENTS = frozenset("emvu")
_OPERAND_COUNTS = {"m": 2, "v": 6, "u": 4}

Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""

_Matrix = tuple[float, float, float, float, float, float]


@frozen
class Signs:
    """What a stream may hide: `text` that is white, unpainted, or tiny; whatever lies below the areas that it `covers`.

    Areas are left, bottom, right, top in the space of the stream. `draws` says that it draws forms, shadings, or images.
    """

    text: bool = False
    covers: Sequence[Box] = field(default=())
    draws: bool = False

    def __bool__(self) -> bool:
        return self.text or bool(self.covers)


@frozen
class Form:
    """A form XObject, in the space of the stream that draws it.

    `box` limits what it draws, and `areas` are what it paints: the box of a transparency group is often the whole page.
    `shows` says that it shows text, `hides` that some of this text may be white, unpainted, or tiny; `covers` are the areas
    that it paints over its own text.
    """

    box: Box
    areas: Sequence[Box] = ()
    shows: bool = False
    hides: bool = False
    covers: Sequence[Box] = ()


class Resources(Protocol):
    """The resources of a content stream."""

    def is_white(self, space: bytes, values: tuple[float, ...]) -> bool:
        """Whether a color is nearly white, in a color space given by its name with the slash."""

    def form(self, name: bytes) -> Form | None:
        """The form with a name; None for an image."""


class NoResources:
    """The resources of a stream that has none: a color is judged by its values, and whatever is drawn is an image."""

    def is_white(self, space: bytes, values: tuple[float, ...]) -> bool:  # noqa: ARG002  # the protocol's name
        """Whether the values are those of white in gray, RGB, or CMYK."""
        return min(values) >= LIGHT or (len(values) == 4 and max(values) <= 1 - LIGHT)

    def form(self, name: bytes) -> Form | None:  # noqa: ARG002  # the protocol's name
        """None."""
        return None


@frozen
class Tokens:
    """The tokens of a stream without its strings, comments, arrays, and image data, and one character for each of them."""

    words: Sequence[bytes]
    codes: str

    @property
    def is_irregular(self) -> bool:
        """Whether MuPDF may read the stream differently."""
        return _IRREGULAR.search(self.codes) is not None

    def operands(self, code: str, count: int) -> set[tuple[bytes, ...]]:
        """The distinct operands of the operators with a code."""
        found, at = set(), self.codes.find(code)
        while at >= 0:
            found.add(tuple(self.words[max(0, at - count) : at]))
            at = self.codes.find(code, at + 1)
        return found


def tokens_of(data: bytes) -> Tokens:
    """Split a content stream into tokens; a stream that would take long to split has one irregular token."""
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
    return Tokens(words, "".join(map(_code, words)))


@lru_cache(maxsize=1 << 16)
def _code(token: bytes) -> str:
    if token in _CODES:
        return _CODES[token]
    if _NUMBER.fullmatch(token):
        return "0"
    if not _WORD.fullmatch(token) or token == b"ID":
        return "!"
    return "/" if token.startswith(b"/") else "?" if token[:1].isalpha() else "-"


def signs_of(data: bytes, resources: Resources | None = None) -> Signs:
    """The signs in a content stream.

    Most streams show none, as their operators and the operands of some of them prove; only others are followed. A stream
    that has an unreadable number, an operator of `_CODES` with more or fewer operands than it takes, or an unbalanced string
    shows the sign `text`.
    """
    return signs_of_tokens(tokens_of(data), resources or NoResources())


def signs_of_tokens(tokens: Tokens, resources: Resources) -> Signs:
    """The signs in the tokens of a content stream."""
    codes = tokens.codes
    draws = "D" in codes
    if tokens.is_irregular:
        return Signs(text=True, draws=draws)
    hides = _is_illegible(tokens) or _has_unusual_mode(tokens) or _draws_hiding_form(tokens, resources)
    try:
        if not _may_set_white(tokens, resources) and not (_AREA_AFTER_TEXT.search(codes) and _paints_areas(tokens)):
            return Signs(hides, draws=draws)
        page = _followed(tokens, _ALL, resources)
    except (ValueError, OverflowError):
        return Signs(text=True, draws=draws)
    return Signs(hides or page.hides, page.covers, draws)


def _may_set_white(tokens: Tokens, resources: Resources) -> bool:
    """Whether a fill may be white."""
    if "s" in tokens.codes and _sets_named_white(tokens, resources):
        return True
    return any(
        _are_white(code, operands)
        for code, count in _COLORS.items()
        if code in tokens.codes
        for operands in tokens.operands(code, count)
    )


def _sets_named_white(tokens: Tokens, resources: Resources) -> bool:
    """Whether any color of any named color space may be white. A color of an outer stream's space may be."""
    space = b""
    for found in _NAMED_COLORS.finditer(tokens.codes):
        at = found.start()
        if found[0] == "C":
            space = tokens.words[at - 1]
        elif _is_white_in(space, tokens.words, tokens.codes, at, resources):
            return True
    return False


def _draws_hiding_form(tokens: Tokens, resources: Resources) -> bool:
    forms = (resources.form(name) for (name,) in tokens.operands("D", 1))
    return any(form is not None and form.hides for form in forms)


def _has_unusual_mode(tokens: Tokens) -> bool:
    """Whether text may be shown in a rendering mode that paints nothing, or only a white outline."""
    modes = {int(float(mode)) for (mode,) in tokens.operands("t", 1)}
    return not modes <= {0, 1, 2, 4, 5, 6} or (not modes <= {0, 4} and _strokes_white(tokens))


def _is_illegible(tokens: Tokens) -> bool:
    """Whether text may be shown too small, too narrow, or too flat to be read."""
    return (
        any(abs(float(size)) < _TINY for (size,) in tokens.operands("F", 1))
        or any(abs(float(scale)) < _NARROW for (scale,) in tokens.operands("z", 1))
        or any(_scales(each)[1] > _FLAT * _scales(each)[0] for each in tokens.operands("M", 6))
    )


def _strokes_white(tokens: Tokens) -> bool:
    """Whether a stroke may be white: colors of color spaces that are resources always may."""
    return "x" in tokens.codes or any(
        _are_white(fill, operands)
        for code, fill in _STROKES.items()
        if code in tokens.codes
        for operands in tokens.operands(code, _COLORS[fill])
    )


def _paints_areas(tokens: Tokens) -> bool:
    """Whether areas that are more than thin lines may be painted, or anything is drawn by name."""
    if not _DRAWING.isdisjoint(tokens.codes):
        return True
    if not _has_only_single_rectangles(tokens):
        return bool(_followed(tokens, _GRAPHICS, NoResources()).grounds)
    return False


def may_look_unusual(tokens: Tokens) -> bool:
    """Whether a stream does anything but show black or colored text of a legible size between thin lines."""
    return bool(
        not _UNUSUAL.isdisjoint(tokens.codes)
        or any(min(map(float, color)) >= _PALE for code in "gr" for color in tokens.operands(code, _COLORS[code]))
        or any(max(map(float, color)) <= 1 - _PALE for color in tokens.operands("k", 4))
        or any(_scales(matrix)[0] < 0.99 for code in "cM" for matrix in tokens.operands(code, 6))
        or _is_illegible(tokens)
        or not _has_only_single_rectangles(tokens)
    )


@lru_cache(maxsize=1024)
def _scales(matrix: tuple[bytes, ...]) -> tuple[float, float]:
    """The lesser and the greater scale of a matrix."""
    a, b, c, d = map(float, matrix[:4])
    one, other = math.hypot(a, b), math.hypot(c, d)
    return min(one, other), max(one, other)


def painted_areas(tokens: Tokens, resources: Resources) -> list[Box]:
    """The areas that a stream paints, without thin lines. Raises `ValueError` if one of them has no limits."""
    return [box for box, _ in _followed(tokens, _GRAPHICS, resources).grounds] if _paints_areas(tokens) else []


def _has_only_single_rectangles(tokens: Tokens) -> bool:
    """Whether each area is one thin rectangle, each line is thin, and nothing is scaled up, as on most pages of text."""
    return (
        not _SHAPE.search(tokens.codes)
        and all(min(abs(float(width)), abs(float(height))) <= _THIN for width, height in tokens.operands("e", 2))
        and all(abs(float(width)) <= _THIN for (width,) in tokens.operands("w", 1))
        and all(max(abs(float(each)) for each in matrix[:4]) <= 1 for matrix in tokens.operands("c", 6))
    )


def shows_text(tokens: Tokens) -> bool:
    """Whether a stream shows text, or draws something by name that may."""
    return not _SHOWING.isdisjoint(tokens.codes)


@lru_cache(maxsize=4096)
def _are_white(code: str, operands: tuple[bytes, ...]) -> bool:
    """Whether the operands of `g`, `rg`, or `k` give nearly white."""
    numbers = [float(each) for each in operands]
    return max(numbers) <= 1 - LIGHT if code == "k" else min(numbers) >= LIGHT


_UNIT: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@define
class _Page:
    """What was painted so far: where rows of text begin, and areas, each with whether it is white.

    `hides` says that text was shown in white on white; `covers` are the areas that were painted over text.
    """

    rows: dict[int, float] = field(factory=dict)
    grounds: list[tuple[Box, bool]] = field(factory=list)
    covers: list[Box] = field(factory=list)
    hides: bool = False
    _shown: list[tuple[float, float]] = field(factory=list)
    _forms: list[Box] = field(factory=list)

    def show(self, x: float, y: float) -> None:
        """Text begins at a point."""
        self._shown.append((x, y))

    def fill(self, box: Box, *, white: bool) -> None:
        """An area is painted. It covers text that begins to the left of its right edge."""
        if min(box[2] - box[0], box[3] - box[1]) <= _THIN:
            return
        self.grounds.append((box, white))
        if len(self.covers) < COVERS:
            self._add_rows()
            self.covers += filter(None, (_common(box, each) for each in self._forms[:_FORMS]))
            if any(box[1] <= y <= box[3] and x < box[2] for y, x in self.rows.items()):
                self.covers.append(box)

    def draw(self, form: Form | None, matrix: _Matrix, *, white: bool) -> None:
        """A form or, if None, an image is drawn. Where a form shows its text is not known."""
        if form is None:
            self.fill(_bounds(_CORNERS, matrix), white=False)
            return
        for area in form.areas[:COVERS]:
            self.fill(mapped(area, matrix), white=True)
        self.covers += (mapped(each, matrix) for each in form.covers[: max(0, COVERS - len(self.covers))])
        if form.shows:
            self._forms.append(mapped(form.box, matrix))
            self.hides = self.hides or white

    def _add_rows(self) -> None:
        """Sort the text that was shown into rows; many pages fill nothing but thin lines and never need them."""
        for x, y in self._shown:
            row = round(y)
            if len(self.rows) < _ROWS or row in self.rows:
                self.rows[row] = min(x, self.rows.get(row, x))
        self._shown.clear()

    def is_dark(self, x: float, y: float) -> bool:
        """Whether the last area that was painted at a point is not white."""
        for (left, bottom, right, top), white in reversed(self.grounds[-COVERS:]):
            if left - 1 <= x <= right and bottom - 1 <= y <= top:
                return not white
        return False


def _followed(tokens: Tokens, operators: re.Pattern[str], resources: Resources) -> _Page:
    """What a stream paints, as far as some operators say."""
    words, codes = tokens.words, tokens.codes
    light, space, matrix, leading, width, clip = False, b"", _UNIT, 0.0, 1.0, _EVERYWHERE
    a, b, c, d, e, f = _UNIT  # the matrix of the line
    stack: list[tuple[bool, bytes, _Matrix, float, Box]] = []
    path: list[int] = []
    page = _Page()
    for found in operators.finditer(codes):
        code, at = found[0], found.start()
        if code in "T'\"":
            if code != "T":
                e, f = e - leading * c, f - leading * d
            x, y = e * matrix[0] + f * matrix[2] + matrix[4], e * matrix[1] + f * matrix[3] + matrix[5]
            page.show(x, y)
            page.hides = page.hides or (light and not page.is_dark(x, y))
        elif code == "d":
            x, y = map(float, words[at - 2 : at])
            e, f = e + x * a + y * c, f + x * b + y * d
            leading = -y if words[at] == b"TD" else leading
        elif code in _SEGMENTS:
            path.append(at)
        elif code == "q":
            stack.append((light, space, matrix, width, clip))
        elif code == "Q":
            if stack:
                light, space, matrix, width, clip = stack.pop()
        elif code in _COLORS:
            light, space = _are_white(code, tuple(words[at - _COLORS[code] : at])), b""
        elif code == "C":
            light, space = False, words[at - 1]
        elif code == "s":
            light = _is_white_in(space, words, codes, at, resources)
        elif code == "w":
            width = abs(float(words[at - 1]))
        elif code == "b":
            a, b, c, d, e, f = _UNIT
        elif code == "L":
            leading = float(words[at - 1])
        elif code == "*":
            e, f = e - leading * c, f - leading * d
        elif code == "M":
            a, b, c, d, e, f = map(float, words[at - 6 : at])
        elif code == "c":
            matrix = _times([float(each) for each in words[at - 6 : at]], matrix)
        else:
            if words[at] == b"sh":
                page.fill(clip, white=True)
            elif code == "I":
                page.fill(_bounds(_CORNERS, matrix), white=False)
            elif code == "D":
                page.draw(resources.form(words[at - 1]), matrix, white=light)
            elif path and code == "n":
                clip = _bounds(_points(words, codes, path), matrix)
            elif path:
                points = _points(words, codes, path)
                if code in "fB":
                    page.fill(_bounds(points, matrix), white=light)
                if code in "SB" and width * _expansion(matrix) > _THIN:
                    page.fill(_bounds(points, matrix, width / 2), white=True)
            path = []
    return page


def _is_white_in(space: bytes, words: Sequence[bytes], codes: str, at: int, resources: Resources) -> bool:
    """Whether `sc` or `scn` at a position sets nearly white in a color space; a pattern may."""
    first = at
    while first and codes[first - 1] == "0":
        first -= 1
    return first == at or resources.is_white(space, tuple(map(float, words[first:at])))


def mapped(box: Box, matrix: _Matrix) -> Box:
    """The smallest box around a box that a matrix maps. Raises `ValueError` if it has no limits."""
    left, bottom, right, top = box
    return _bounds(((left, bottom), (right, bottom), (left, top), (right, top)), matrix)


def _common(one: Box, other: Box) -> Box | None:
    """The area that two boxes share, if it is more than a line."""
    left, bottom, right, top = (
        max(one[0], other[0]),
        max(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
    )
    return (left, bottom, right, top) if min(right - left, top - bottom) > _THIN else None


_EVERYWHERE: Box = (-1e6, -1e6, 1e6, 1e6)
_CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))


def _points(words: Sequence[bytes], codes: str, path: Sequence[int]) -> list[tuple[float, float]]:
    """The corners, end points, and control points of the segments at some positions."""
    points: list[tuple[float, float]] = []
    for at in path:
        if codes[at] == "e":
            x, y, width, height = map(float, words[at - 4 : at])
            points += [(x, y), (x + width, y), (x, y + height), (x + width, y + height)]
        else:
            numbers = [float(each) for each in words[at - _OPERAND_COUNTS[codes[at]] : at]]
            points += zip(numbers[::2], numbers[1::2], strict=True)
    return points


def _times(one: Sequence[float], other: _Matrix) -> _Matrix:
    a, b, c, d, e, f = one
    p, q, r, s, t, u = other
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def _expansion(matrix: _Matrix) -> float:
    a, b, c, d, _, _ = matrix
    return max(math.hypot(a, b), math.hypot(c, d))


def _bounds(path: Sequence[tuple[float, float]], matrix: _Matrix, margin: float = 0.0) -> Box:
    a, b, c, d, e, f = matrix
    across = [a * x + c * y + e for x, y in path]
    down = [b * x + d * y + f for x, y in path]
    margin *= _expansion(matrix)
    box = min(across) - margin, min(down) - margin, max(across) + margin, max(down) + margin
    if not all(map(math.isfinite, box)):
        raise ValueError("an area without bounds")
    return box
