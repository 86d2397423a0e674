"""Finds the lines of a block that match a query."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import islice

from attrs import frozen

from citekit.domain.text_search.query import TextQuery
from citekit.domain.words import line_words, lines_that_may_have

NEAR = 3
"""The maximum number of line ends, without blank lines, between words that are close together."""

_CAPTION = re.compile(
    r"\W*(?:table|figure|fig|exhibit|chart|listing|box|plate|appendix)\b\.?\s*[\divxlc]+", re.IGNORECASE
)
_CAPTION_LIMIT = 200


class Kind(IntEnum):
    """The kind of a match. Higher values rank first."""

    PARTIAL = -1
    """The block lacks words of the query, but is one of those that most likely answer it as a question."""

    SCATTERED = 0
    """The words are in the same block, but not close together."""

    NEAR = 1
    """The words are in different lines that are close together."""

    LINE = 2
    """One line or table row contains all words."""

    CAPTION = 3
    """Lines that contain all words and label a table or figure."""

    HEADING = 4
    """Lines that contain all words and are the title of a node."""


@frozen
class LineMatch:
    """Consecutive lines `text[start:end]` of a block that match a query. `share` is the fraction of their words that
    are in the query.
    """

    kind: Kind
    start: int
    end: int
    share: float


def matches_in(text: str, query: TextQuery, headings: frozenset[tuple[str, ...]]) -> list[LineMatch]:
    """Return the matches of a query in the text of a block, in reading order.

    `headings` are the titles of nodes, each split into words. Raise `RequestRefused` if a regular expression takes too
    much work.
    """
    if query.pattern is not None and not query.pattern.may_match(text):
        return []
    lines, starts, numbers, at = [], [], [], 0
    for number, line in enumerate(text.split("\n")):
        if line.strip():
            lines.append(line)
            starts.append(at)
            numbers.append(number)
        at += len(line) + 1
    if query.pattern is not None:
        found = [(number, number) for number, line in enumerate(lines) if query.pattern.matches(line)]
        return [_match(Kind.LINE, each, lines, starts, (), headings) for each in found]
    likely = lines_that_may_have(text, query.words)
    words = [line_words(line) if number in likely else _OTHER for line, number in zip(lines, numbers, strict=True)]
    occurrences = _occurrences(words, query)
    if not all(occurrences):
        return []
    spans = _close(occurrences)
    if not spans:
        return [_match(Kind.SCATTERED, _densest(occurrences), lines, starts, query.words, headings)]
    return [_match(Kind.LINE, span, lines, starts, query.words, headings) for span in spans]


def _match(
    kind: Kind,
    span: tuple[int, int],
    lines: Sequence[str],
    starts: Sequence[int],
    words: Sequence[str],
    headings: frozenset[tuple[str, ...]],
) -> LineMatch:
    first, last = span
    own = [word for line in lines[first : last + 1] for word in line_words(line)]
    share = sum(word in words for word in own) / max(1, len(own))
    if kind is Kind.LINE:
        text = " ".join(lines[first : last + 1])
        if tuple(own) in headings:
            kind = Kind.HEADING
        elif len(text) <= _CAPTION_LIMIT and _CAPTION.match(text):
            kind = Kind.CAPTION
        elif last > first:
            kind = Kind.NEAR
    return LineMatch(kind, starts[first], starts[last] + len(lines[last]), share)


_OTHER = ("",)
"""Stands for the words of a line without words of the query: no phrase continues across it."""


def _occurrences(lines: Iterable[Sequence[str]], query: TextQuery) -> list[list[tuple[int, int]]]:
    """Return the (first, last) line numbers of the occurrences of each phrase in `lines`, each as its words."""
    every: list[str] = []
    first_words = []
    for words in lines:
        first_words.append(len(every))
        every.extend(words)
    places: dict[str, list[int]] = {word: [] for word in query.words}
    for at, word in enumerate(every):
        if word in places:
            places[word].append(at)

    def line_of(at: int) -> int:
        return bisect_right(first_words, at) - 1

    return [
        [
            (line_of(at), line_of(at + len(phrase) - 1))
            for at in places[phrase[0]]
            if tuple(every[at : at + len(phrase)]) == phrase
        ]
        for phrase in query.phrases
    ]


def _close(occurrences: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Return the shortest ranges (first, last) of lines in which all phrases occur close together."""
    every = [sorted(set(each)) for each in occurrences]
    spans = set()
    for first, last in min(every, key=len):
        low, high = first, last
        for others in every:
            at = bisect_right(others, (first, last))
            near = others[max(0, at - 1) : at + 1]
            begin, end = min(near, key=lambda each: max(last, each[1]) - min(first, each[0]))
            low, high = min(low, begin), max(high, end)
        if high - low <= NEAR:
            spans.add((low, high))
    kept: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda each: (-each[0], each[1])):
        if not kept or span[1] < kept[-1][1]:
            kept.append(span)
    return kept[::-1]


def _densest(occurrences: Sequence[Sequence[tuple[int, int]]]) -> tuple[int, int]:
    """Return the first line in which the most phrases begin, as a range."""
    counts: dict[int, int] = {}
    for each in occurrences:
        for line in {first for first, _ in each}:
            counts[line] = counts.get(line, 0) + 1
    line = min(counts, key=lambda number: (-counts[number], number))
    return line, line


def context_of(text: str, match: LineMatch, count: int) -> tuple[list[str], list[str]]:
    """Return up to `count` non-blank lines before and after a match."""
    if not count:
        return [], []
    before, after = text[: match.start].split("\n"), text[match.end :].split("\n")
    return list(filter(str.strip, before))[-count:], list(filter(str.strip, after))[:count]


def lines_after(text: str, match: LineMatch, characters: int, most: int) -> list[str]:
    """Return up to `most` non-blank lines after a match that fit into `characters`."""
    found: list[str] = []
    for line in islice(filter(str.strip, text[match.end :].split("\n")), most):
        characters -= len(line)
        if characters < 0:
            break
        found.append(line)
    return found


def shown_row(text: str) -> str:
    """Return a table row with ` | ` instead of tabs between its cells.

    A currency sign or opening parenthesis at the end of a cell is moved to the next one. A closing parenthesis or
    percent sign alone is added to the previous one.
    """
    cells: list[str] = []
    sign = ""
    for cell in text.split("\t"):
        words = f"{sign} {' '.join(cell.split())}".strip()
        words, sign = _without_sign(words)
        if cells and words in _CLOSING:
            cells[-1] += f" {words}"
        elif words:
            cells.append(words)
    return " | ".join([*cells, sign] if sign else cells)


_SIGNS = frozenset(("$", "\u20ac", "\u00a3", "\u00a5", "(", "$("))
_CLOSING = frozenset((")", "%", ")%"))


def _without_sign(words: str) -> tuple[str, str]:
    before, _, last = words.rpartition(" ")
    return (before, last) if last in _SIGNS else (words, "")
