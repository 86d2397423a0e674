"""Signs in the bytes of a content stream that a page may hide text: fast enough to be read for each page of any file.

Nothing is executed. The operators of ISO 32000-1, annex A, are followed as far as color, rendering mode, the transformation
matrix, and filled areas go, and only for streams that set a light color or an unusual mode, or fill an area after text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from collections.abc import Set as Collection
from contextlib import suppress

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
    """The signs in a content stream. A stream in which no number can be read where one belongs shows the sign `text`."""
    tokens = data.translate(_SPACES).split()
    present = _OPERATORS.intersection(tokens)
    draws = b"Do" in present
    try:
        hides = b"Tf" in present and _is_tiny(tokens)
        colors = present.intersection(_COLORS)
        light = any(
            _is_white(name, values) for name in colors for values in _operands(tokens, name, _COLORS[name] or 4)
        )
        mode = b"Tr" in present and any(value in (b"3", b"7") for (value,) in _operands(tokens, b"Tr", 1))
        if light or mode or (present & _AFTER and _fills_after_text(data, tokens, present)):
            for each in (b"Tj", b"TJ", b"'", b'"'):
                data = data.replace(b")" + each, b") " + each)
            unseen, covers = _followed(data.translate(_SPACES).split(), present if light else present - colors)
            return Signs(hides or unseen, covers, draws)
        return Signs(hides, draws=draws)
    except (ValueError, IndexError):
        return Signs(text=True, draws=draws)


def _places(tokens: Sequence[bytes], operator: bytes) -> Iterator[int]:
    at = -1
    with suppress(ValueError):
        while True:
            at = tokens.index(operator, at + 1)
            yield at


def _operands(tokens: Sequence[bytes], operator: bytes, count: int) -> set[tuple[bytes, ...]]:
    return {tuple(tokens[at - count : at]) for at in _places(tokens, operator) if at >= count}


def _is_white(operator: bytes, values: Sequence[bytes]) -> bool:
    """Whether the operands of a color operator give nearly white; colors of unknown spaces are told by their count."""
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


def _is_tiny(tokens: Sequence[bytes]) -> bool:
    for (value,) in _operands(tokens, b"Tf", 1):
        with suppress(ValueError):
            if abs(float(value)) < _TINY:
                return True
    return False


def _fills_after_text(data: bytes, tokens: Sequence[bytes], present: Collection[bytes]) -> bool:
    if not any(each in data for each in (b"Tj", b"TJ", b"'", b'"')):
        return False
    if not present.isdisjoint((b"Do", b"sh", b"EI", b"l", b"c", b"v", b"y")):
        return True
    if any(abs(float(each)) > 1.5 for values in _operands(tokens, b"cm", 6) for each in values[:4]):
        return True
    return any(min(abs(float(each)) for each in values) > _THIN for values in _operands(tokens, b"re", 2))


_UNIT: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@define
class _Page:
    """What was painted so far: where rows of text begin, and areas, each with whether it is white."""

    rows: dict[int, float] = field(factory=dict)
    grounds: list[tuple[Box, bool]] = field(factory=list)
    covers: list[Box] = field(factory=list)

    def show(self, x: float, y: float) -> None:
        """Text begins at a point."""
        row = round(y)
        if len(self.rows) < _ROWS or row in self.rows:
            self.rows[row] = min(x, self.rows.get(row, x))

    def fill(self, box: Box, *, white: bool) -> None:
        """An area is painted. It covers text that begins to the left of its right edge."""
        if min(box[2] - box[0], box[3] - box[1]) <= _THIN:
            return
        self.grounds.append((box, white))
        if len(self.covers) < COVERS and any(box[1] <= y <= box[3] and x < box[2] for y, x in self.rows.items()):
            self.covers.append(box)

    def is_dark(self, x: float, y: float) -> bool:
        """Whether the last area that was painted at a point is not white."""
        for (left, bottom, right, top), white in reversed(self.grounds[-COVERS:]):
            if left - 1 <= x <= right and bottom - 1 <= y <= top:
                return not white
        return False


def _followed(tokens: Sequence[bytes], present: Collection[bytes]) -> tuple[bool, list[Box]]:
    """Whether text is shown in white on white or in modes 3 and 7, and the areas that are painted over text."""
    light = hides = False
    mode, matrix, leading = b"0", _UNIT, 0.0
    a, b, c, d, e, f = _UNIT  # the matrix of the line
    stack: list[tuple[bool, bytes, _Matrix]] = []
    path: list[tuple[float, float]] = []
    page = _Page()
    followed = _SHOWING | present
    for at, token in [(at, token) for at, token in enumerate(tokens) if token in followed]:
        if token in _SHOWING:
            x, y = e * matrix[0] + f * matrix[2] + matrix[4], e * matrix[1] + f * matrix[3] + matrix[5]
            page.show(x, y)
            hides = hides or mode in (b"3", b"7") or (light and not page.is_dark(x, y))
        elif token in (b"Td", b"TD"):
            x, y = _numbers(tokens[at - 2 : at])
            e, f = e + x * a + y * c, f + x * b + y * d
            leading = -y if token == b"TD" else leading
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
            a, b, c, d, e, f = _numbers(tokens[at - 6 : at])
        elif token == b"cm":
            matrix = _times(_numbers(tokens[at - 6 : at]), matrix)
        elif token == b"re":
            x, y, width, height = _numbers(tokens[at - 4 : at])
            path += [(x, y), (x + width, y), (x, y + height), (x + width, y + height)]
        elif token in (b"m", b"l", b"c", b"v", b"y"):
            try:
                x, y = _numbers(tokens[at - 2 : at])
            except ValueError:  # the letter in a string
                continue
            path.append((x, y))
        else:
            picture = token in (b"Do", b"EI")
            if picture:
                path = [(0, 0), (1, 0), (0, 1), (1, 1)]
            if path and (picture or token in _FILLING):
                page.fill(_bounds(path, matrix), white=light and not picture)
            path = []
    return hides, page.covers


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
