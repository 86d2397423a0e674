"""Classifies the size and weight of OCR lines over all scanned pages of a document."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.outline.glyph_metrics import GlyphMetrics
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.shared.ocr import OcrLine

BODY_SIZE_RANGE = (0.88, 1.14)
"""The range of measured sizes, as multiples of the size of body text, that count as body text."""

SIZE_STEP = 1.07
"""The minimum ratio of two measured sizes that count as different."""

BOLD_RATIO = 1.25
"""The minimum stroke width of bold text, as a multiple of that of regular text; monospaced text has 1.1 to 1.3."""

NUMBERED_BOLD_RATIO = 1.12
"""The same ratio for a line that is larger than body text or starts with a number of several levels."""

MIN_LETTERS = 4
"""The minimum number of letters and digits of a line for a reliable measurement."""

STROKE_TOLERANCE = 0.12
"""The largest deviation of strokes of one weight from their median, as a share of the median."""

_PARAGRAPH_GAP = 0.6
"""The smallest gap between two paragraphs, as a multiple of the size of body text."""


_NUMBER = re.compile(r"\A((?:\d{1,3}|[A-Z])(?:\.\d{1,3})+\.?) ?(?=[^\W\d_]{2})")
"""The number of a heading, if it has several levels (`2.1`), before the text of the heading."""

_CHAPTER = re.compile(r"\A(\d{1,2})(?=[A-Z][a-z]{2})")
"""The number of a chapter that OCR joined to its title."""


@frozen
class OcrPage:
    """The OCR result of a page: its lines, the glyph metrics of each line in pixels, and the scale in points per pixel.

    `width` and `height` are those of the displayed page, in points. Lines that could not be measured have no metrics.
    """

    lines: Sequence[OcrLine]
    metrics: Sequence[GlyphMetrics | None]
    width: float
    height: float
    scale: float


@frozen
class ScanStyles:
    """The text styles of a scanned document, in size classes.

    `size` and `stroke` are the font size and stroke width of body text in points. `edges` are the lower edges of the
    size classes, and `sizes` their sizes, in points. `bold` has for each class whether it is bold, or None if its lines
    differ or it is not larger than body text.
    """

    size: float
    stroke: float
    edges: Sequence[float]
    sizes: Sequence[float]
    bold: Sequence[bool | None]

    def class_of(self, measured: float) -> int:
        """Return the index of the size class of a line whose measured font size is `measured` points."""
        return max(0, bisect_right(self.edges, measured) - 1)

    def is_bold(self, number: int, stroke: float, numbered: bool) -> bool:
        """Return whether a line of size class `number` is bold; its `stroke` width in points decides if the class does
        not.

        Thinner strokes count as bold in a line that is `numbered`, like a heading, or is larger than body text.
        """
        alike = self.bold[number]
        if alike is not None:
            return alike
        larger = self.sizes[number] > self.size * BODY_SIZE_RANGE[1]
        least = NUMBERED_BOLD_RATIO if numbered or larger else BOLD_RATIO
        return stroke >= least * _stroke_at(self.sizes[number], self.size, self.stroke)


def styled_pages(pages: Mapping[int, OcrPage]) -> dict[int, list[StyledLine]]:
    """Return the lines of each page in points, with the size and weight of their size class."""
    types = _styles_of(pages.values())
    return {number: _lines(page, types) for number, page in pages.items()}


def _styles_of(pages: Iterable[OcrPage]) -> ScanStyles | None:
    """Return the text styles of the scanned `pages`, or None if no line could be measured."""
    found: list[tuple[float, float, str]] = []
    for page in pages:
        for line, ink in zip(page.lines, page.metrics, strict=True):
            if ink is not None and _letter_count(line.text) >= MIN_LETTERS:
                found.append((ink.size * page.scale, ink.stroke * page.scale, line.text))
    if not found:
        return None
    size = _weighted_median([(measured, len(text)) for measured, _, text in found])
    near = [each for each in found if BODY_SIZE_RANGE[0] < each[0] / size < BODY_SIZE_RANGE[1]]
    stroke = _weighted_median([(stroke, len(text)) for _, stroke, text in near])
    edges, sizes = _size_classes([measured for measured, _, _ in found], size)
    types = ScanStyles(size, stroke, edges, sizes, [None] * len(sizes))
    strokes: dict[int, list[float]] = defaultdict(list)
    for measured, thick, _ in found:
        strokes[types.class_of(measured)].append(thick)
    return evolve(types, bold=[_all_bold(strokes[number], each, types) for number, each in enumerate(sizes)])


def _all_bold(strokes: Sequence[float], size: float, types: ScanStyles) -> bool | None:
    """Return whether all lines of a size class are bold; None if they differ or are not larger than body text."""
    if size < BODY_SIZE_RANGE[1] * types.size or not strokes:
        return None
    usual = median(strokes)
    if sum(abs(each - usual) > STROKE_TOLERANCE * usual for each in strokes) > 0.1 * len(strokes):
        return None
    return usual >= NUMBERED_BOLD_RATIO * _stroke_at(size, types.size, types.stroke)


def _stroke_at(size: float, usual: float, stroke: float) -> float:
    """Return the expected stroke width of regular text at another font size, all in points.

    It grows less than the size, because scanning blurs strokes. `usual` and `stroke` are the size and stroke width of
    body text.
    """
    return stroke * float(max(1.0, size / usual) ** 0.8)


def _letter_count(text: str) -> int:
    return sum(map(str.isalnum, text))


def _weighted_median(found: Sequence[tuple[float, int]]) -> float:
    half, passed = sum(weight for _, weight in found) / 2, 0
    for value, weight in sorted(found):
        passed += weight
        if passed >= half:
            return value
    return found[-1][0]


def _size_classes(measured: Sequence[float], size: float) -> tuple[list[float], list[float]]:
    """Return the lower edges and the sizes of the size classes: one for body text, and others a step apart."""
    low, high = BODY_SIZE_RANGE[0] * size, BODY_SIZE_RANGE[1] * size
    smaller = _group_sizes(sorted(each for each in measured if each <= low))
    larger = _group_sizes(sorted(each for each in measured if each >= high))
    groups = [*smaller, [low, size, high], *larger]
    edges = [-math.inf] + [math.sqrt(one[-1] * other[0]) for one, other in pairwise(groups)]
    return edges, [_round_to_half(group[len(group) // 2]) for group in groups]


def _group_sizes(measured: Sequence[float]) -> list[list[float]]:
    groups: list[list[float]] = []
    for each in measured:
        if groups and each < SIZE_STEP * groups[-1][-1]:
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def _round_to_half(size: float) -> float:
    return round(size * 2) / 2


def _lines(page: OcrPage, types: ScanStyles | None) -> list[StyledLine]:
    made: list[StyledLine] = []
    block = 0
    for line, ink in zip(page.lines, page.metrics, strict=True):
        size, bold, top, bottom = _style_of(line, ink, page, types)
        usual = types.size if types else size
        if made and not (-size < top - made[-1].bottom < _PARAGRAPH_GAP * usual):
            block += 1
        text, left, right = (
            _with_number_space(line.text, size > usual),
            line.box.x1 * page.width,
            line.box.x2 * page.width,
        )
        made.append(StyledLine(text, left, top, right, bottom, size, bold, block))
    return made


def _with_number_space(text: str, larger: bool) -> str:
    """Return the text with a space after its section number, which OCR often misses (`2.1Method`), or, if `larger`, its
    chapter number.
    """
    spaced = _NUMBER.sub(r"\1 ", " ".join(text.split()))
    return _CHAPTER.sub(r"\1 ", spaced) if larger else spaced


def _style_of(
    line: OcrLine, ink: GlyphMetrics | None, page: OcrPage, types: ScanStyles | None
) -> tuple[float, bool, float, float]:
    """Return the size, boldness, top, and bottom of a line, in points.

    A line that could not be measured reliably has the style of body text. If no line could be measured, the size is
    estimated from the height of the line.
    """
    top, bottom = line.box.y1 * page.height, line.box.y2 * page.height
    if types is None:
        return _round_to_half(0.75 * (bottom - top)), False, top, bottom
    if ink is None or _letter_count(line.text) < MIN_LETTERS:
        return _round_to_half(types.size), False, top, bottom
    measured, stroke = ink.size * page.scale, ink.stroke * page.scale
    number = types.class_of(measured)
    size = types.sizes[number]
    base = ink.baseline * page.scale
    bold = types.is_bold(number, stroke, bool(_NUMBER.match(line.text)))
    return size, bold, base - 0.8 * size, base + 0.2 * size
