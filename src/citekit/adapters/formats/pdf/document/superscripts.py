"""Converts raised and lowered numbers in the text of a PDF page to superscripts and subscripts.

MuPDF compares a character with the first one of its line. This module compares it with the baseline and size of the
text that has the most letters in the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from citekit.domain.quotes.superscripts import CUT, subscript, superscript

SMALLER = 0.88
"""The maximum size of a superscript or subscript, as a share of the size of its line."""

HIGHER, LOWER = 0.15, 0.09
"""The minimum distances of a superscript above, and of a subscript below, the baseline, as shares of the size of the
line.
"""

FAR = 0.9
_OVERLAP = 0.35

GUTTER, LONE_GUTTER = 1.2, 1.8
"""The minimum gap between two columns, as a multiple of the text size.

`LONE_GUTTER` applies if only one line of a block has such a gap, because a line of a justified paragraph may have a
wide space in it. A line is in a column to the left of another line if it begins at least `GUTTER` to the left of it.
"""

COLUMN_WORDS = 3
"""The minimum number of words in each of two pieces of a line in different columns. Most table cells have fewer."""

CELL_END = "\x1f"
"""Separates the cells of a row (ASCII unit separator)."""

_IN_ROW = 0.6
"""The minimum vertical overlap of two cells of a row, as a share of the height of the taller one."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_DIGITS = frozenset("0123456789*\u2217")


def levelled_blocks(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the text of each text block of `get_text("dict")`, with raised and lowered numbers as superscripts and
    subscripts.

    `CUT` is inserted where the file moves on to another column, or back to the first, because the texts before and
    after it are not read one after the other. `CELL_END` separates the cells of a row.
    """
    for block in blocks:
        lines = block.get("lines", ())
        if lines:
            yield "".join(_lines(lines))


def _lines(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    previous: Mapping[str, Any] | None = None
    gutters = [_gutter(one, other) for one, other in pairwise(lines)]
    least = GUTTER if sum(gutter >= GUTTER for gutter in gutters) > 1 else LONE_GUTTER
    beside = False  # whether the line before is in a column other than the first
    for line, gutter in zip(lines, (0.0, *gutters), strict=True):
        spans = line["spans"]
        if previous is not None:
            is_beside = line["bbox"][0] >= previous["bbox"][2] - 1  # most lines begin below the one before
            if is_beside and is_mark_beside(previous, line):
                yield "".join(superscript(span["text"]) for span in spans)
                continue
            begins = gutter >= least
            cut = begins or (beside and _is_left_of(line, previous))
            yield f"\n{CUT}\n" if cut else CELL_END if is_beside and _is_in_row(previous, line) else "\n"
            beside = begins or (beside and not _is_left_of(line, previous))
        yield levelled_line(line)
        previous = line
    yield "\n"


def _is_in_row(line: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether `after` is to the right of `line` at the same height, as the cells of a table row are."""
    if not line["dir"] == after["dir"] == (1.0, 0.0):
        return False
    _, top, right, bottom = line["bbox"]
    x, y0, _, y1 = after["bbox"]
    return bool(x >= right - 1 and min(bottom, y1) - max(top, y0) >= _IN_ROW * max(y1 - y0, bottom - top))


def _gutter(line: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    """Return the gap between two pieces of body text on the same line, in multiples of the text size; 0 if there is no
    gutter.
    """
    _, top, right, bottom = line["bbox"]
    x, y0, _, y1 = after["bbox"]
    if x <= right or not line["spans"] or not after["spans"] or not line["dir"] == after["dir"] == (1.0, 0.0):
        return 0.0
    size = max(line["spans"][-1]["size"], after["spans"][0]["size"])
    if x - right < GUTTER * size or min(bottom, y1) - max(top, y0) < 0.5 * (y1 - y0):
        return 0.0
    words = (len(_WORD.findall("".join(span["text"] for span in each["spans"]))) for each in (line, after))
    return float((x - right) / size) if min(words) >= COLUMN_WORDS else 0.0


def _is_left_of(line: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(line["spans"]) and line["bbox"][0] < other["bbox"][0] - GUTTER * line["spans"][0]["size"]


def levelled_line(line: Mapping[str, Any]) -> str:
    """Return the text of a line of `get_text("dict")`, with raised and lowered numbers as superscripts and subscripts.

    Each character is replaced by exactly one, so positions stay the same.
    """
    spans, direction = line["spans"], line["dir"]
    if len(spans) == 1:
        return str(spans[0]["text"])
    sizes = {span["size"] for span in spans if span["text"].strip()}
    if len(sizes) < 2:
        return "".join(span["text"] for span in spans)
    base = _base(spans, direction)
    text = ""
    for span in spans:
        text += _levelled(span, text[-32:], base, direction)
    return text


def _base(spans: Sequence[Mapping[str, Any]], direction: tuple[float, float]) -> tuple[float, float]:
    """Return the size and the baseline (y grows downward) of the text with the most letters in a line; on a tie, of the
    larger.
    """
    weights: dict[tuple[float, float], int] = {}
    for span in spans:
        key = round(span["size"], 1), round(_down(span["origin"], direction), 1)
        weights[key] = weights.get(key, 0) + sum(map(str.isalpha, span["text"]))
    return max(weights, key=lambda key: (weights[key], key))


def _levelled(span: Mapping[str, Any], before: str, base: tuple[float, float], direction: tuple[float, float]) -> str:
    text: str = span["text"]
    size, down = base
    if span["size"] > SMALLER * size:
        return text
    lower = (_down(span["origin"], direction) - down) / size
    if -FAR <= lower <= -HIGHER:
        return superscript(text, before)
    is_low = LOWER <= lower <= FAR and not text[:1].isspace()
    return subscript(text, before) if is_low else text


def _down(origin: tuple[float, float], direction: tuple[float, float]) -> float:
    """Return how far down the point `origin` lies, perpendicular to text that runs in `direction` (y grows downward)."""
    return origin[1] * direction[0] - origin[0] * direction[1]


def is_mark_beside(line: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether `after` is a superscript of up to three digits or asterisks that MuPDF split from `line`."""
    if not line["spans"] or not after["spans"]:
        return False
    last, own = line["spans"][-1], after["spans"][0]
    if own["size"] > SMALLER * last["size"]:  # most lines end here
        return False
    text = "".join([span["text"] for span in after["spans"]]).strip()
    if not text or len(text) > 3 or not _DIGITS.issuperset(text):
        return False
    _, top, right, bottom = line["bbox"]
    x, y0, _, y1 = after["bbox"]
    beside = -1 <= x - right <= 0.5 * last["size"]
    overlapping = min(bottom, y1) - max(top, y0) > _OVERLAP * (y1 - y0)
    higher = -FAR * last["size"] <= own["origin"][1] - last["origin"][1] <= -HIGHER * last["size"]
    straight = line["dir"] == after["dir"] == (1.0, 0.0)
    return straight and beside and overlapping and bool(higher)
