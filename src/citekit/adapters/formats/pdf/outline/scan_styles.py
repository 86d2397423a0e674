"""The type of the lines of scans, told over all pages: which are larger than the text, and which are bolder."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.text import Line
from citekit.adapters.formats.pdf.outline.glyph_metrics import Ink
from citekit.adapters.formats.shared.ocr import OcrLine

AS_TEXT = (0.88, 1.14)
"""How many times the size of the text a line may measure and be of that size: a pixel is a sixteenth of it."""

STEP = 1.07
"""How many times a size the next larger one measures that is surely another."""

BOLDER = 1.25
"""How many times the stroke of the text, at its size, that of bold type is; type of fixed width has 1.1 to 1.3 times."""

BOLDER_NUMBERED = 1.12
"""The same of a line that a number of several levels begins, as headings do."""

SURE = 4
"""Letters of a line whose type may be told; fewer have strokes and heights of their own."""

ALIKE = 0.12
"""How far the strokes of lines of one weight lie from their median, in parts of it."""

_PARAGRAPH = 0.6
"""The space between two lines, in heights of a line, from which on they are of two paragraphs."""


_NUMBER = re.compile(r"\A((?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?) ?(?=[^\W\d_]{2})")
"""The number of a heading of several levels, before its words."""

_CHAPTER = re.compile(r"\A(\d{1,2})(?=[A-Z][a-z]{2})")
"""The number of a chapter that its title was read together with."""


@frozen
class ReadPage:
    """What was read on a page: its lines, the ink of each in pixels, and the `scale` that makes points of pixels.

    `width` and `height` are those of the page as it is shown, in points.
    """

    lines: Sequence[OcrLine]
    inks: Sequence[Ink | None]
    width: float
    height: float
    scale: float


@frozen
class Types:
    """Of a document: size and stroke of its text in points, and where the classes of other sizes begin, with their size.

    `bold` says of each class whether it is; None where some of its lines are.
    """

    size: float
    stroke: float
    edges: Sequence[float]
    sizes: Sequence[float]
    bold: Sequence[bool | None]

    def class_of(self, measured: float) -> int:
        """The number of the class of a line of that size."""
        return max(0, bisect_right(self.edges, measured) - 1)

    def is_bold(self, number: int, stroke: float, numbered: bool) -> bool:
        """Whether a line of a class is bold, by its stroke where not all of them are alike."""
        alike = self.bold[number]
        if alike is not None:
            return alike
        larger = self.sizes[number] > self.size * AS_TEXT[1]
        least = BOLDER_NUMBERED if numbered or larger else BOLDER
        return stroke >= least * _stroke_at(self.sizes[number], self.size, self.stroke)


def typed_pages(pages: Mapping[int, ReadPage]) -> dict[int, list[Line]]:
    """The lines of each page, in points, with the size and weight of their class."""
    types = _types_of(pages.values())
    return {number: _lines(page, types) for number, page in pages.items()}


def _types_of(pages: Iterable[ReadPage]) -> Types | None:
    """None where nothing could be measured."""
    found: list[tuple[float, float, str]] = []
    for page in pages:
        for line, ink in zip(page.lines, page.inks, strict=True):
            if ink is not None and _letters(line.text) >= SURE:
                found.append((ink.size * page.scale, ink.stroke * page.scale, line.text))
    if not found:
        return None
    size = _weighted_median([(measured, len(text)) for measured, _, text in found])
    near = [each for each in found if AS_TEXT[0] < each[0] / size < AS_TEXT[1]]
    stroke = _weighted_median([(stroke, len(text)) for _, stroke, text in near])
    edges, sizes = _classes([measured for measured, _, _ in found], size)
    types = Types(size, stroke, edges, sizes, [None] * len(sizes))
    strokes: dict[int, list[float]] = defaultdict(list)
    for measured, thick, _ in found:
        strokes[types.class_of(measured)].append(thick)
    return evolve(types, bold=[_all_bold(strokes[number], each, types) for number, each in enumerate(sizes)])


def _all_bold(strokes: Sequence[float], size: float, types: Types) -> bool | None:
    """Whether the lines of a class are bold; None where they differ, as those of the size of the text do."""
    if size < AS_TEXT[1] * types.size or not strokes:
        return None
    usual = median(strokes)
    if sum(abs(each - usual) > ALIKE * usual for each in strokes) > 0.1 * len(strokes):
        return None
    return usual >= BOLDER_NUMBERED * _stroke_at(size, types.size, types.stroke)


def _stroke_at(size: float, usual: float, stroke: float) -> float:
    """How thick the strokes of the text would be in another size: less than in proportion, for a scan blurs them all."""
    return stroke * float(max(1.0, size / usual) ** 0.8)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _weighted_median(found: Sequence[tuple[float, int]]) -> float:
    half, passed = sum(weight for _, weight in found) / 2, 0
    for value, weight in sorted(found):
        passed += weight
        if passed >= half:
            return value
    return found[-1][0]


def _classes(measured: Sequence[float], size: float) -> tuple[list[float], list[float]]:
    """The classes of sizes: that of the text, and those that a step parts from one another."""
    low, high = AS_TEXT[0] * size, AS_TEXT[1] * size
    smaller = _grouped(sorted(each for each in measured if each <= low))
    larger = _grouped(sorted(each for each in measured if each >= high))
    groups = [*smaller, [low, size, high], *larger]
    edges = [-math.inf] + [math.sqrt(one[-1] * other[0]) for one, other in pairwise(groups)]
    return edges, [_half(group[len(group) // 2]) for group in groups]


def _grouped(measured: Sequence[float]) -> list[list[float]]:
    groups: list[list[float]] = []
    for each in measured:
        if groups and each < STEP * groups[-1][-1]:
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _half(size: float) -> float:
    return round(size * 2) / 2


def _lines(page: ReadPage, types: Types | None) -> list[Line]:
    made: list[Line] = []
    block = 0
    for line, ink in zip(page.lines, page.inks, strict=True):
        size, bold, top, bottom = _type_of(line, ink, page, types)
        usual = types.size if types else size
        if made and not (-size < top - made[-1].bottom < _PARAGRAPH * usual):
            block += 1
        made.append(
            Line(
                _spaced(line.text, size > usual),
                line.box.x1 * page.width,
                top,
                line.box.x2 * page.width,
                bottom,
                size,
                bold,
                block,
            )
        )
    return made


def _spaced(text: str, larger: bool) -> str:
    """The text of a line, with the space after its number that a reader often does not see: `2.1Method`."""
    spaced = _NUMBER.sub(r"\1 ", " ".join(text.split()))
    return _CHAPTER.sub(r"\1 ", spaced) if larger else spaced


def _type_of(line: OcrLine, ink: Ink | None, page: ReadPage, types: Types | None) -> tuple[float, bool, float, float]:
    """Size, weight, top and bottom of a line; one that could not be measured is of the type of the text."""
    top, bottom = line.box.y1 * page.height, line.box.y2 * page.height
    if types is None:
        return _half(0.75 * (bottom - top)), False, top, bottom
    if ink is None or _letters(line.text) < SURE:
        return _half(types.size), False, top, bottom
    measured, stroke = ink.size * page.scale, ink.stroke * page.scale
    number = types.class_of(measured)
    size = types.sizes[number]
    base = ink.base * page.scale
    bold = types.is_bold(number, stroke, bool(_NUMBER.match(line.text)))
    return size, bold, base - 0.8 * size, base + 0.2 * size
