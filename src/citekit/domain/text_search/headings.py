"""Recognizes the titles of nodes in the text of a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from citekit.domain.library.extracted_text import UnitKind
from citekit.domain.locations import Chapter, Lines, Location, Pages
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.words import words_of

HEADING_LINES = 3
"""The maximum number of lines of a heading."""


class Headings:
    """The titles of the nodes of a map, by the page, line, or chapter in which the nodes begin."""

    def __init__(self, resource_map: ResourceMap) -> None:
        self._titles: dict[tuple[UnitKind, int], set[tuple[str, ...]]] = {}
        for node in resource_map.walk():
            start = _start_of(node.location)
            if start is not None:
                self._titles.setdefault(start, set()).add(tuple(words_of(node.title)))

    def on(self, block: TextBlock) -> frozenset[tuple[str, ...]]:
        """Return the titles, as words, of the nodes that begin in the block."""
        located = block.located
        if isinstance(located, Transcript):
            return frozenset()
        found = (self._titles.get((located.kind, number), ()) for number in set(located.units.numbers))
        return frozenset(chain.from_iterable(found)) - {()}


def _start_of(location: Location) -> tuple[UnitKind, int] | None:
    match location:
        case Pages(numbers=numbers):
            return UnitKind.PAGE, numbers[0]
        case Lines(first=line):
            return UnitKind.LINE, line
        case Chapter(number=chapter):
            return UnitKind.CHAPTER, chapter
    return None


def heading_lines(lines: Sequence[str], title: Sequence[str], start: int = 0) -> tuple[int, int] | None:
    """Return the first and last of the lines from `start` that are a heading with the words `title`, or None.

    Numbers before the words are ignored. A heading can continue on the next lines.
    """
    wanted = _unnumbered(title)
    if not wanted:
        return None
    for first in range(start, len(lines)):
        words: list[str] = []
        for last in range(first, min(first + HEADING_LINES, len(lines))):
            own = words_of(visible_text(lines[last]))
            if not own:
                if last == first:
                    break
                continue
            words += own
            found = _unnumbered(words)
            if found == wanted:
                return first, last
            if found != wanted[: len(found)]:
                break
    return None


def _unnumbered(words: Sequence[str]) -> list[str]:
    """Return the words without numbers at their start, unless there are only numbers."""
    first = next((at for at, word in enumerate(words) if not word.isdecimal()), 0)
    return list(words[first:])
