"""Pages without the lines that stand on every page: heads, feet, page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from citekit.domain.library.manuscript import Manuscript, UnitKind, Units

EDGE = 3
"""Lines at the top and at the bottom of a page, and the longest run that is taken away."""

LEAST = 3
"""Pages on which a line must stand to be a running one."""

LONGEST = 120
"""Characters of a running line."""

_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)


def without_running_lines(manuscript: Manuscript) -> Manuscript | None:
    """The pages without their running heads and feet; None where there are none, or no pages."""
    if manuscript.kind is not UnitKind.PAGE or len(manuscript.units) < LEAST:
        return None
    pages = [manuscript.text[unit.start : unit.end].split("\n") for unit in manuscript.units]
    counts = Counter(shape for lines in pages for shape in {_shape(lines[place]) for place in _edges(lines)})
    running = {shape for shape, count in counts.items() if count >= LEAST}
    running.discard("")
    texts = ["\n".join(_kept(lines, running)) for lines in pages]
    if sum(map(len, texts)) == sum(len("\n".join(lines)) for lines in pages):
        return None
    units, start = Units(), 0
    for unit, text in zip(manuscript.units, texts, strict=True):
        units.add(unit.number, start, start + len(text))
        start += len(text) + 1
    return Manuscript(UnitKind.PAGE, "\n".join(texts), units)


def _edges(lines: Sequence[str]) -> set[int]:
    count = len(lines)
    return {*range(min(EDGE, count)), *range(max(0, count - EDGE), count)}


def _kept(lines: Sequence[str], running: set[str]) -> list[str]:
    edges = _edges(lines)
    return [line for place, line in enumerate(lines) if place not in edges or _shape(line) not in running]


def _shape(line: str) -> str:
    """A line without its numbers; an empty one for what is too long to be a running line."""
    shape = " ".join(_NUMBER.sub("#", line).split()).casefold()
    return shape if len(shape) <= LONGEST else ""
