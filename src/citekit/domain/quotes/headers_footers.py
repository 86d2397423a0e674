"""Removes running headers, running footers, and page numbers from the text of pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice

from citekit.domain.library.extracted_text import ExtractedText, UnitKind, Units
from citekit.domain.quotes.gaps import qualifiers

WITHOUT = "without running headers and footers"
"""The note of a text without running headers and footers."""

EDGE = 3
"""Number of lines with text at the top and at the bottom of a page that are checked."""

LEAST = 3
"""Minimum number of pages on which a running line occurs."""

OUTER = 80
"""Maximum number of characters of a line, such as a title, that is removed because it is between the edge of the page
and the page number.
"""

LONGEST = 120
"""Maximum number of characters of a running line."""

PAGE_DIGITS = 6
"""Maximum number of digits of a page number."""

_BESIDE = re.compile(r"[^\w#]+")
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)


def without_running_lines(extracted_text: ExtractedText) -> ExtractedText | None:
    """Return the text of the pages without running headers and footers.

    Lines with a negation, an exception, or a condition stay, so that no quote across pages leaves them out. Return None
    if nothing is removed, or if the text is not divided into pages.
    """
    if extracted_text.kind is not UnitKind.PAGE or len(extracted_text.units) < LEAST:
        return None
    pages = [extracted_text.text[unit.start : unit.end].split("\n") for unit in extracted_text.units]
    qualifies = cache(qualifiers)
    texts = [
        "\n".join(line for index, line in enumerate(lines) if index not in left or qualifies(line))
        for lines, left in zip(pages, running_lines(pages), strict=True)
    ]
    if sum(map(len, texts)) == sum(len("\n".join(lines)) for lines in pages):
        return None
    units, start = Units(), 0
    for unit, text in zip(extracted_text.units, texts, strict=True):
        units.add(unit.number, start, start + len(text))
        start += len(text) + 1
    return ExtractedText(
        UnitKind.PAGE, "\n".join(texts), units, unread=extracted_text.unread, recognized=extracted_text.recognized
    )


def running_lines(pages: Sequence[Sequence[str]], numbers: Sequence[int] | None = None) -> list[set[int]]:
    """Return the indexes of the running headers and footers in the lines of each page.

    If the numbers of the pages are given, the numbers in a running line must be the same on several pages or increase
    with the page numbers, because a row of a table at the edge of a page may look like a running line.
    """
    edges = [{index: _shape(lines[index]) for index in _edges(lines)} for lines in pages]
    counts = Counter(shape for each in edges for shape in set(each.values()))
    running = {shape for shape, count in counts.items() if count >= LEAST} - {""}
    left = [{index for index, shape in each.items() if shape in running} for each in edges]
    if numbers is not None:
        left = _with_page_numbers(pages, edges, left, numbers)
    for lines, indexes in zip(pages, left, strict=True):
        count = len(lines)
        for edge in (_first(lines, range(count)), _first(lines, range(count - 1, -1, -1))):
            indexes |= _outer(lines, edge, indexes)
    return left


def _with_page_numbers(
    pages: Sequence[Sequence[str]],
    shapes: Sequence[Mapping[int, str]],
    found: Sequence[set[int]],
    numbers: Sequence[int],
) -> list[set[int]]:
    """Return the lines of `found` whose numbers are the same on `LEAST` or more pages or differ like page numbers."""

    def keys(page: int, index: int) -> list[list[tuple[object, ...]]]:
        shape, places = shapes[page][index], _NUMBER.findall(pages[page][index])
        return [
            [(shape, nth, each), *([(shape, nth, int(each) - numbers[page])] if _is_short_number(each) else [])]
            for nth, each in enumerate(places)
        ]

    counts = Counter(
        key for page, indexes in enumerate(found) for index in indexes for place in keys(page, index) for key in place
    )
    return [
        {index for index in indexes if all(max(map(counts.__getitem__, place)) >= LEAST for place in keys(page, index))}
        for page, indexes in enumerate(found)
    ]


def _is_short_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= PAGE_DIGITS


def _edges(lines: Sequence[str]) -> set[int]:
    count = len(lines)
    return {*_first(lines, range(count)), *_first(lines, range(count - 1, -1, -1))}


def _first(lines: Sequence[str], indexes: Iterable[int]) -> list[int]:
    """Return the first `EDGE` of `indexes` whose lines are not blank."""
    return list(islice((index for index in indexes if lines[index].strip()), EDGE))


def _outer(lines: Sequence[str], indexes: Sequence[int], left: set[int]) -> set[int]:
    """Return the indexes of short lines between the edge of a page, where `indexes` begin, and its page number."""
    number = next(
        (nth for nth, index in enumerate(indexes[: len(lines) // 2]) if index in left and _is_number(lines[index])), 0
    )
    return {index for index in indexes[:number] if len(lines[index]) <= OUTER}


def _is_number(line: str) -> bool:
    return bool(_NUMBER.search(line)) and not any(map(str.isalpha, _NUMBER.sub("", line)))


def _shape(line: str) -> str:
    """Return a line in a form that is equal on the pages of a running header or footer; empty for a long line.

    OCR reads punctuation differently on each page.
    """
    shape = " ".join(_BESIDE.sub(" ", _NUMBER.sub("#", line)).split()).casefold()
    return shape if len(shape) <= LONGEST else ""
