"""Removes running headers, running footers, and page numbers from the text of pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from citekit.domain.library.extracted_text import ExtractedText, UnitKind, Units

EDGE = 3
"""Number of lines with text at the top and at the bottom of a page that are checked."""

LEAST = 3
"""Minimum number of pages on which a running line occurs."""

OUTER = 80
"""Maximum length of a line that is removed because it is between the page edge and the page number, such as a short
chapter title.
"""

LONGEST = 120
"""Maximum number of characters of a running line."""

_BESIDE = re.compile(r"[^\w#]+")
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)


def without_running_lines(extracted_text: ExtractedText) -> ExtractedText | None:
    """Return the pages without running headers and footers, or None if there are none, or the text has no pages."""
    if extracted_text.kind is not UnitKind.PAGE or len(extracted_text.units) < LEAST:
        return None
    pages = [extracted_text.text[unit.start : unit.end].split("\n") for unit in extracted_text.units]
    counts = Counter(shape for lines in pages for shape in {_shape(lines[index]) for index in _edges(lines)})
    running = {shape for shape, count in counts.items() if count >= LEAST}
    running.discard("")
    texts = ["\n".join(_body_lines(lines, running)) for lines in pages]
    if sum(map(len, texts)) == sum(len("\n".join(lines)) for lines in pages):
        return None
    units, start = Units(), 0
    for unit, text in zip(extracted_text.units, texts, strict=True):
        units.add(unit.number, start, start + len(text))
        start += len(text) + 1
    return ExtractedText(UnitKind.PAGE, "\n".join(texts), units, unread=extracted_text.unread)


def _edges(lines: Sequence[str]) -> set[int]:
    count = len(lines)
    return {*_first(lines, range(count)), *_first(lines, range(count - 1, -1, -1))}


def _first(lines: Sequence[str], indexes: Iterable[int]) -> list[int]:
    """Return the first of `indexes` whose lines are not blank."""
    return list(islice((index for index in indexes if lines[index].strip()), EDGE))


def _body_lines(lines: Sequence[str], running: set[str]) -> list[str]:
    edges = _edges(lines)
    left = {index for index in edges if _shape(lines[index]) in running}
    count = len(lines)
    for indexes in (_first(lines, range(count)), _first(lines, range(count - 1, -1, -1))):
        left |= _outer(lines, indexes, left)
    return [line for index, line in enumerate(lines) if index not in left]


def _outer(lines: Sequence[str], indexes: Sequence[int], left: set[int]) -> set[int]:
    """Return short lines between the edge of a page and its number, from `indexes`, which begin at the edge."""
    number = next(
        (nth for nth, index in enumerate(indexes[: len(lines) // 2]) if index in left and _is_number(lines[index])), 0
    )
    return {index for index in indexes[:number] if len(lines[index]) <= OUTER}


def _is_number(line: str) -> bool:
    return bool(_NUMBER.search(line)) and not any(map(str.isalpha, _NUMBER.sub("", line)))


def _shape(line: str) -> str:
    """Return a line without its numbers and punctuation, which OCR reads differently each time; empty for a long line."""
    shape = " ".join(_BESIDE.sub(" ", _NUMBER.sub("#", line)).split()).casefold()
    return shape if len(shape) <= LONGEST else ""
