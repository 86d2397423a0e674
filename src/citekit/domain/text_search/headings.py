"""Recognizes the titles of nodes in the text of a file."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from threading import Lock

from attrs import define, field

from citekit.domain.library.extracted_text import UnitKind
from citekit.domain.locations import Chapter, Lines, Location, Pages
from citekit.domain.node import Node
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.resource_map import ResourceMap
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.words import line_words, words_of

HEADING_LINES = 3
"""The maximum number of lines of a heading."""


_Start = tuple[UnitKind, int]
"""The kind of unit in which something begins, and its number."""


class Headings:
    """The titles of nodes, by the page, line, or chapter in which they begin."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._titles: dict[_Start, list[str]] = {}
        self._words: dict[_Start, frozenset[tuple[str, ...]]] = {}
        for node in nodes:
            start = _start_of(node.location)
            if start is not None:
                self._titles.setdefault(start, []).append(node.title)

    def titles_on(self, block: TextBlock) -> list[str]:
        """Return the titles of the nodes that begin in the units of the block."""
        return [title for start in _starts_in(block) for title in self._titles.get(start, ())]

    def on(self, block: TextBlock) -> frozenset[tuple[str, ...]]:
        """Return the distinct titles of the nodes that begin in the units of the block, each as a tuple of words."""
        found = [self._words_at(start) for start in _starts_in(block)]
        return found[0] if len(found) == 1 else frozenset(chain.from_iterable(found))

    def _words_at(self, start: _Start) -> frozenset[tuple[str, ...]]:
        """Return the titles at a start, each as a tuple of words. Cached, because a chapter can have many blocks and
        titles.
        """
        titles = self._titles.get(start)
        if titles is None:
            return frozenset()
        if start not in self._words:
            self._words[start] = frozenset(tuple(words_of(title)) for title in titles) - {()}
        return self._words[start]


KEPT_HEADINGS = 32
"""The maximum number of maps whose headings stay in memory."""


@define
class KeptHeadings:
    """The headings of the maps that were searched last. An entry is valid only for the same `ResourceMap` object."""

    _kept: OrderedDict[str, tuple[Callable[[], object], Headings]] = field(factory=OrderedDict, init=False, repr=False)
    _lock: Lock = field(factory=Lock, init=False, repr=False)

    def of(self, resource_map: ResourceMap) -> Headings:
        """Return the headings of the outline of a map."""
        with self._lock:
            map_of, headings = self._kept.get(resource_map.resource_id, (None, None))
            if headings is None or map_of is None or map_of() is not resource_map:
                headings = Headings(resource_map.outline.walk())
                self._kept[resource_map.resource_id] = weakref.ref(resource_map), headings
            self._kept.move_to_end(resource_map.resource_id)
            if len(self._kept) > KEPT_HEADINGS:
                self._kept.popitem(last=False)
            return headings


def _starts_in(block: TextBlock) -> list[_Start]:
    located = block.located
    if isinstance(located, Transcript):
        return []
    return [(located.kind, number) for number in dict.fromkeys(located.units.numbers)]


def _start_of(location: Location) -> _Start | None:
    match location:
        case Pages(numbers=numbers):
            return UnitKind.PAGE, numbers[0]
        case Lines(first=line):
            return UnitKind.LINE, line
        case Chapter(number=chapter):
            return UnitKind.CHAPTER, chapter
    return None


def heading_lines(lines: Sequence[str], title: Sequence[str], start: int = 0) -> tuple[int, int] | None:
    """Return the indexes of the first and last line of the first heading from line `start` on with the words `title`,
    or None. See `headings_in`.
    """
    return headings_in(lines, {tuple(title)}, start).get(tuple(title))


def headings_in(
    lines: Sequence[str], titles: Collection[tuple[str, ...]], start: int = 0
) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return, for each of `titles` found as a heading, the indexes of the first and last line of its first heading.

    Numbers before the words are ignored. The time grows with the number of lines and titles, not with their product.
    """
    wanted: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for title in titles:
        if title:
            wanted.setdefault(_unnumbered(title), []).append(title)
    longest = max(map(len, wanted), default=0)
    words = [line_words(visible_text(line)) for line in lines[start:]] if wanted else []
    beginnings = {title[0] for title in wanted}
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for first, line in enumerate(words):
        if not line or not (line[0] in beginnings or line[0].isdecimal()):
            continue  # the most frequent case, without a new tuple for each line
        if beginnings.isdisjoint(_unnumbered(line)[:1]):
            continue
        for last, heading in _headings_from(words, first, longest):
            for title in wanted.pop(heading, ()):
                found[title] = start + first, start + last
    return found


def _headings_from(words: Sequence[Sequence[str]], first: int, longest: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the last line and the words of each possible heading that begins on line `first`.

    It has at most `longest` words after its number. A number alone does not continue on the next line.
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
    """Return the words without numbers at their start, unless all are numbers."""
    if words and not words[0].isdecimal():
        return tuple(words)
    first = next((at for at, word in enumerate(words) if not word.isdecimal()), 0)
    return tuple(words[first:])
