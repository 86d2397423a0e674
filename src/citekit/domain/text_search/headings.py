"""Recognizes the titles of nodes in the text of a file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from citekit.domain.library.extracted_text import UnitKind
from citekit.domain.locations import Chapter, Lines, Location, Pages
from citekit.domain.node import Node
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.words import words_of

HEADING_LINES = 3
"""The maximum number of lines of a heading."""


class Headings:
    """The nodes of a map, by the page, line, or chapter in which they begin."""

    def __init__(self, resource_map: ResourceMap) -> None:
        self._nodes: dict[tuple[UnitKind, int], list[Node]] = {}
        for node in resource_map.walk():
            start = _start_of(node.location)
            if start is not None:
                self._nodes.setdefault(start, []).append(node)

    def nodes_on(self, block: TextBlock) -> list[Node]:
        """Return the nodes that begin on the pages, lines, or chapters of the block."""
        located = block.located
        if isinstance(located, Transcript):
            return []
        numbers = dict.fromkeys(located.units.numbers)
        return [node for number in numbers for node in self._nodes.get((located.kind, number), ())]

    def on(self, block: TextBlock) -> frozenset[tuple[str, ...]]:
        """Return the titles, as words, of these nodes."""
        return frozenset(tuple(words_of(node.title)) for node in self.nodes_on(block)) - {()}


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
    return headings_in(lines, {tuple(title)}, start).get(tuple(title))


def headings_in(
    lines: Sequence[str], titles: Collection[tuple[str, ...]], start: int = 0
) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return the first and last line of the first heading with the words of each of `titles` that has one.

    Numbers before the words are ignored. A heading can continue on the next lines. Each line is read once, so the time
    grows with the number of lines and titles, not with their product.
    """
    wanted: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for title in titles:
        if title:
            wanted.setdefault(_unnumbered(title), []).append(title)
    longest = max(map(len, wanted), default=0)
    words = [words_of(visible_text(line)) for line in lines[start:]] if wanted else []
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for first in range(len(words)):
        for last, heading in _headings_from(words, first, longest):
            for title in wanted.pop(heading, ()):
                found[title] = start + first, start + last
    return found


def _headings_from(words: Sequence[Sequence[str]], first: int, longest: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the last line and the words of each possible heading that begins on line `first`.

    A heading has at most `longest` words after its number. A number alone does not continue on the next line.
    """
    if not words[first]:
        return
    joined: list[str] = []
    before: tuple[str, ...] = ()
    for last in range(first, min(first + HEADING_LINES, len(words))):
        if not words[last]:
            continue
        joined += words[last]
        heading = _unnumbered(joined)
        if heading[: len(before)] != before or len(heading) > longest:
            return
        yield last, heading
        before = heading


def _unnumbered(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words without numbers at their start, unless there are only numbers."""
    first = next((at for at, word in enumerate(words) if not word.isdecimal()), 0)
    return tuple(words[first:])
