"""The blocks of a PDF page with the numbers that stand higher or lower than their line as superscripts and subscripts.

MuPDF calls a character a superscript that stands higher than the first one of its line; here what counts is the text on
whose line it stands: the text of the largest size, most of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from citekit.domain.quotes.scripts import subscript, superscript

SMALLER = 0.88
"""Share of the size of its line up to which a text may be a superscript or subscript."""

HIGHER, LOWER = 0.15, 0.09
"""Shares of that size by which it stands higher, or lower, than the line, at least; and at most `FAR`."""

FAR = 0.9
_OVERLAP = 0.35
_DIGITS = frozenset("0123456789*\u2217")


def levelled_blocks(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The text of each of the blocks, as `get_text("dict")` gives them, its numbers at their levels."""
    for block in blocks:
        lines = block.get("lines", ())
        if lines:
            yield "".join(_lines(lines))


def _lines(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    previous: Mapping[str, Any] | None = None
    for line in lines:
        spans = line["spans"]
        if previous is not None:
            if is_mark_beside(previous, line):
                yield "".join(superscript(span["text"]) for span in spans)
                continue
            yield "\n"
        yield levelled_line(line)
        previous = line
    yield "\n"


def levelled_line(line: Mapping[str, Any]) -> str:
    """The text of a line, as `get_text("dict")` gives it, its numbers at their levels, one character for one."""
    spans, direction = line["spans"], line["dir"]
    sizes = {span["size"] for span in spans if span["text"].strip()}
    if len(sizes) < 2:
        return "".join(span["text"] for span in spans)
    base = _base(spans, direction)
    text = ""
    for span in spans:
        text += _levelled(span, text[-32:], base, direction)
    return text


def _base(spans: Sequence[Mapping[str, Any]], direction: tuple[float, float]) -> tuple[float, float]:
    """The size of the text on the line, and how far down it stands: that of most letters, of the larger where as many."""
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
    """How far down a point lies, for text that runs in that direction (y grows downwards)."""
    return origin[1] * direction[0] - origin[0] * direction[1]


def is_mark_beside(line: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a line of small digits stands beside the end of the line before, higher than it: MuPDF parts some so."""
    text = "".join(span["text"] for span in after["spans"]).strip()
    if not text or len(text) > 3 or not _DIGITS.issuperset(text) or not line["spans"]:
        return False
    last, own = line["spans"][-1], after["spans"][0]
    _, top, right, bottom = line["bbox"]
    x, y0, _, y1 = after["bbox"]
    beside = -1 <= x - right <= 0.5 * last["size"]
    overlapping = min(bottom, y1) - max(top, y0) > _OVERLAP * (y1 - y0)
    higher = -FAR * last["size"] <= own["origin"][1] - last["origin"][1] <= -HIGHER * last["size"]
    straight = line["dir"] == after["dir"] == (1.0, 0.0)
    return straight and beside and overlapping and higher and bool(own["size"] <= SMALLER * last["size"])
