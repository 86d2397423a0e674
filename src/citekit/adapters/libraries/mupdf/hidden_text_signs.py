"""Signs in the bytes of a content stream that a page may hide text: fast enough to be read for each page of any file.

Nothing is executed. The operators of ISO 32000-1, annex A, are followed as far as color, rendering mode, the transformation
matrix, and filled areas go, and only for streams that set a light color or an unusual mode, or fill an area after text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as Collection
from contextlib import suppress
from functools import lru_cache
from itertools import compress

from attrs import define, field, frozen

LIGHT = 0.93
"""Value of a color channel from which on a fill counts as white."""

COVERS = 400
"""Filled areas of a stream that are remembered."""

_THIN = 2.0
_TINY = 1.0
_ROWS = 2000
_SPACES = bytes.maketrans(b"\0\t\n\f\r([]<>/%", b" " * 12)
"""Whatever parts two tokens, but for the end of a string, so that no word in one looks like an operator."""

_COLORS = {b"g": 1, b"rg": 3, b"k": 4, b"sc": 0, b"scn": 0}
_SHOWING = frozenset((b"Tj", b"TJ", b"'", b'"'))
_FILLING = frozenset((b"f", b"f*", b"F", b"B", b"B*", b"b", b"b*"))
_AFTER = _FILLING | {b"Do", b"sh", b"EI"}
_OPERATORS = (
    frozenset(_COLORS) | _FILLING | {b"q", b"Q", b"cm", b"re", b"m", b"l", b"c", b"v", b"y", b"n", b"S", b"s"}
    | {b"Do", b"sh", b"EI", b"Tr", b"Tf", b"cs", b"BT", b"Tm", b"Td", b"TD", b"T*", b"TL"}
)  # fmt: skip
_JUDGED = frozenset(_COLORS) | {b"Tf", b"Tr"}
_GRAPHICS = _AFTER | {b"q", b"Q", b"cm", b"re", b"m", b"l", b"c", b"v", b"y", b"n", b"S", b"s"}
"""What finds the painted areas of a stream, without its text."""
_SEGMENTS = frozenset((b"re", b"m", b"l", b"c", b"v", b"y"))
_QUOTED = tuple((b")" + each, b") " + each) for each in (b"Tj", b"TJ", b"'", b'"'))

Box = tuple[float, float, float, float]
_Matrix = tuple[float, float, float, float, float, float]


@frozen
class Signs:
    """What a stream may hide: `text` that is white, unpainted, or tiny; whatever lies below the areas that it `covers`.

    Areas are left, bottom, right, top in the space of the stream. `draws` says that it draws forms or images.
    """

    text: bool = False
    covers: Sequence[Box] = field(default=())
    draws: bool = False

    def __bool__(self) -> bool:
        return self.text or bool(self.covers)


def signs_of(data: bytes) -> Signs:
    """The signs in a content stream. A stream in which no number can be read where one belongs shows the sign `text`.

    Most streams show none, as their operators and the last operands of some of them prove; only others are followed.
    """
    tokens = data.translate(_SPACES).split()
    present = _OPERATORS.intersection(tokens)
    draws = b"Do" in present
    before = {each: _last_operands(tokens, each) for each in present.intersection(_JUDGED)}
    hides = any(map(_is_tiny, before.get(b"Tf", ())))
    light = any(_may_end_white(name, each) for name in before.keys() & _COLORS.keys() for each in before[name])
    mode = not before.get(b"Tr", set()).isdisjoint((b"3", b"7"))
    try:
        if light:
            light = any(_sets_white(tokens, each) for each in before.keys() & _COLORS.keys())
        if light or mode or (present & _AFTER and _may_cover(data, tokens, present)):
            unseen, covers = _found(data, present, light=light, mode=mode)
            return Signs(hides or unseen, covers, draws)
    except (ValueError, IndexError):
        return Signs(text=True, draws=draws)
    return Signs(hides, draws=draws)


def _found(data: bytes, present: Collection[bytes], *, light: bool, mode: bool) -> tuple[bool, Sequence[Box]]:
    """Whether text is hidden by its color or mode, and the areas over text. Text is followed only if areas are painted."""
    for each, apart in _QUOTED:
        data = data.replace(each, apart)
    tokens = data.translate(_SPACES).split()
    if not light and not mode and not _followed(tokens, present & _GRAPHICS, whole=False).grounds:
        return False, ()
    followed = _SHOWING | (present if light else present - _COLORS.keys())
    page = _followed(tokens, followed, whole=light or mode)
    return page.hides, page.covers


def _last_operands(tokens: Sequence[bytes], operator: bytes) -> set[bytes]:
    """The tokens right before an operator."""
    return {tokens[at - 1] for at in _places(tokens, operator) if at}


def _places(tokens: Sequence[bytes], operator: bytes) -> list[int]:
    """The positions of an operator. `index` is faster than any loop over all tokens."""
    found: list[int] = []
    at, index = -1, tokens.index
    with suppress(ValueError):
        while True:
            at = index(operator, at + 1)
            found.append(at)
    return found


def _may_cover(data: bytes, tokens: Sequence[bytes], present: Collection[bytes]) -> bool:
    """Whether areas that are more than thin lines may be painted after text."""
    first = min((at for at in map(data.find, (b"Tj", b"TJ", b"'", b'"')) if at >= 0), default=len(data))
    if max(map(data.rfind, present & _AFTER)) < first:
        return False
    if not present.isdisjoint((b"Do", b"sh", b"EI", b"l", b"c", b"v", b"y", b"cm")):
        return True
    return any(min(abs(float(each)) for each in tokens[at - 2 : at]) > _THIN for at in _places(tokens, b"re"))


def _sets_white(tokens: Sequence[bytes], operator: bytes) -> bool:
    """Whether a color operator sets nearly white anywhere."""
    count = _COLORS[operator] or 4
    return any(
        _are_white(operator, values)
        for values in {tuple(tokens[max(0, at - count) : at]) for at in _places(tokens, operator)}
    )


@lru_cache(maxsize=1024)
def _may_end_white(operator: bytes, value: bytes) -> bool:
    """Whether nearly white can end with that operand: a low one is that of CMYK colors, a high one of all others."""
    try:
        number = float(value)
    except ValueError:
        return False
    low, high = number <= 1 - LIGHT, number >= LIGHT
    return low if operator == b"k" else high or (low and not _COLORS[operator])


def _is_white(operator: bytes, values: Sequence[bytes]) -> bool:
    """Whether the operands of a color operator give nearly white; colors of unknown spaces are told by their count."""
    return _are_white(operator, tuple(values))


@lru_cache(maxsize=1024)
def _are_white(operator: bytes, values: tuple[bytes, ...]) -> bool:
    numbers: list[float] = []
    for each in reversed(values):
        try:
            numbers.append(float(each))
        except ValueError:
            break
    if len(numbers) < _COLORS[operator]:
        return False  # the letter in a string
    if operator == b"k" or (len(numbers) == 4 and not _COLORS[operator]):
        return max(numbers) <= 1 - LIGHT
    return bool(numbers) and min(numbers) >= LIGHT


@lru_cache(maxsize=1024)
def _is_tiny(size: bytes) -> bool:
    try:
        return abs(float(size)) < _TINY
    except ValueError:
        return False


_UNIT: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@define
class _Page:
    """What was painted so far: where rows of text begin, and areas, each with whether it is white.

    `hides` says that text was shown in white on white, or in mode 3 or 7; `covers` are the areas that were painted over text.
    """

    rows: dict[int, float] = field(factory=dict)
    grounds: list[tuple[Box, bool]] = field(factory=list)
    covers: list[Box] = field(factory=list)
    hides: bool = False
    _shown: list[tuple[float, float]] = field(factory=list)

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
            if any(box[1] <= y <= box[3] and x < box[2] for y, x in self.rows.items()):
                self.covers.append(box)

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


def _marks(tokens: Sequence[bytes], operators: Collection[bytes]) -> list[int]:
    """The positions of some operators, in order."""
    return list(compress(range(len(tokens)), map(operators.__contains__, tokens)))


def _followed(tokens: Sequence[bytes], present: Collection[bytes], *, whole: bool) -> _Page:
    """What a stream paints, as far as the operators `present` say.

    Unless `whole`, the last area ends it: the stream sets neither white nor such a mode.
    """
    light = False
    mode, matrix, leading = b"0", _UNIT, 0.0
    a, b, c, d, e, f = _UNIT  # the matrix of the line
    stack: list[tuple[bool, bytes, _Matrix]] = []
    path: list[int] = []
    page = _Page()
    marks = _marks(tokens, present - {b"Tf"})
    if not whole:
        while marks and tokens[marks[-1]] not in _AFTER:
            marks.pop()
    for at in marks:
        token = tokens[at]
        if token in _SHOWING:
            x, y = e * matrix[0] + f * matrix[2] + matrix[4], e * matrix[1] + f * matrix[3] + matrix[5]
            page.show(x, y)
            page.hides = page.hides or mode in (b"3", b"7") or (light and not page.is_dark(x, y))
        elif token in (b"Td", b"TD"):
            x, y = map(float, tokens[at - 2 : at])
            e, f = e + x * a + y * c, f + x * b + y * d
            leading = -y if token == b"TD" else leading
        elif token in _SEGMENTS:
            path.append(at)
        elif token == b"q":
            stack.append((light, mode, matrix))
        elif token == b"Q":
            if stack:
                light, mode, matrix = stack.pop()
        elif token in _COLORS:
            light = _is_white(token, tokens[max(0, at - (_COLORS[token] or 4)) : at])
        elif token == b"cs":
            light = False
        elif token == b"Tr":
            mode = tokens[at - 1]
        elif token == b"BT":
            a, b, c, d, e, f = _UNIT
        elif token == b"TL":
            leading = float(tokens[at - 1])
        elif token == b"T*":
            e, f = e - leading * c, f - leading * d
        elif token == b"Tm":
            a, b, c, d, e, f = map(float, tokens[at - 6 : at])
        elif token == b"cm":
            matrix = _times(_numbers(tokens[at - 6 : at]), matrix)
        else:
            if token in (b"Do", b"EI"):
                page.fill(_bounds(_CORNERS, matrix), white=False)
            elif path and token in _FILLING and (points := _points(tokens, path)):
                page.fill(_bounds(points, matrix), white=light)
            path = []
    return page


_CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))


def _points(tokens: Sequence[bytes], path: Sequence[int]) -> list[tuple[float, float]]:
    """The corners and end points of the segments at some positions."""
    points: list[tuple[float, float]] = []
    for at in path:
        if tokens[at] == b"re":
            x, y, width, height = map(float, tokens[at - 4 : at])
            points += [(x, y), (x + width, y), (x, y + height), (x + width, y + height)]
        else:
            try:
                x, y = map(float, tokens[at - 2 : at])
            except ValueError:  # the letter in a string
                continue
            points.append((x, y))
    return points


def _numbers(tokens: Sequence[bytes]) -> list[float]:
    return [float(each) for each in tokens]


def _times(one: Sequence[float], other: _Matrix) -> _Matrix:
    a, b, c, d, e, f = one
    p, q, r, s, t, u = other
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def _bounds(path: Sequence[tuple[float, float]], matrix: _Matrix) -> Box:
    a, b, c, d, e, f = matrix
    across = [a * x + c * y + e for x, y in path]
    down = [b * x + d * y + f for x, y in path]
    box = min(across), min(down), max(across), max(down)
    if not all(map(math.isfinite, box)):
        raise ValueError("an area without bounds")
    return box
