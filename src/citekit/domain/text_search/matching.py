"""Finds the lines of a block that match a query."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice

from attrs import frozen

from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.text_search.match_kind import Kind
from citekit.domain.text_search.query import TextQuery
from citekit.domain.text_search.word_lines import WordLines
from citekit.domain.words import line_words

NEAR = 3
"""The maximum number of line ends, without blank lines, between words that are close together."""

_CAPTION = re.compile(
    r"\W*(?:table|figure|fig|exhibit|chart|listing|box|plate|appendix)\b\.?\s*[\divxlc]+", re.IGNORECASE
)
_CAPTION_LIMIT = 200


@frozen
class LineMatch:
    """Consecutive lines `text[start:end]` of a block that match a query.

    `share` is the fraction of their words that are in the query. It is 0 for a regular expression, and the score of the
    page if the page was found as an answer to a question (`Kind.PARTIAL`).
    """

    kind: Kind
    start: int
    end: int
    share: float


def matches_in(block: TextBlock, query: TextQuery, headings: frozenset[tuple[str, ...]]) -> list[LineMatch]:
    """Return the matches of a query in the text of a block, in reading order.

    `headings` are the titles of nodes, each split into words. Raise `RequestRefused` if a regular expression takes too
    much work.
    """
    if query.pattern is not None:
        return [
            LineMatch(_kind_of(line, line_words(line), headings), start, start + len(line), 0.0)
            for start, line in query.pattern.lines_matching(block.text)
        ]
    occurrences = list(map(block.lines.lines_with, query.phrases))
    if not all(occurrences):
        return []
    spans, make = _close(occurrences), _Matches(block.text, block.lines, frozenset(query.words), headings)
    return list(map(make.of_lines, spans)) or [make.scattered(_densest(occurrences))]


@frozen
class _Matches:
    """Makes the matches of a query with the words `wanted` in a block."""

    text: str
    lines: WordLines
    wanted: frozenset[str]
    headings: frozenset[tuple[str, ...]]

    def of_lines(self, span: tuple[int, int]) -> LineMatch:
        """Return the match of lines (first, last) that contain all words."""
        first, last = span
        lines = self.lines
        start, end = lines.starts[first], lines.ends[last]
        if first == last:
            own = lines.words[first].split()
            return LineMatch(_kind_of(self.text[start:end], own, self.headings), start, end, self._share(own))
        own = "".join(lines.words[first : last + 1]).split()
        kind = _kind_of(lines.joined(self.text, first, last), own, self.headings)
        return LineMatch(Kind.NEAR if kind is Kind.LINE else kind, start, end, self._share(own))

    def scattered(self, number: int) -> LineMatch:
        """Return the match of a line of a block that has all words, but not close together."""
        start, end = self.lines.starts[number], self.lines.ends[number]
        return LineMatch(Kind.SCATTERED, start, end, self._share(self.lines.words[number].split()))

    def _share(self, words: Sequence[str]) -> float:
        return sum(map(self.wanted.__contains__, words)) / max(1, len(words))


def _kind_of(text: str, words: Sequence[str], headings: frozenset[tuple[str, ...]]) -> Kind:
    """Return whether lines with all words of a query are a heading, a caption, or others."""
    if headings and tuple(words) in headings:
        return Kind.HEADING
    return Kind.CAPTION if len(text) <= _CAPTION_LIMIT and _CAPTION.match(text) else Kind.LINE


def _close(occurrences: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Return the shortest ranges (first, last) of lines in which all phrases occur close together.

    `occurrences` are those of each phrase, in order and without duplicates.
    """
    together = set(occurrences[0]).intersection(*occurrences[1:])
    spans = {span if span in together else _with_nearest(span, occurrences) for span in min(occurrences, key=len)}
    kept: list[tuple[int, int]] = []
    for first, last in dict(sorted(spans, reverse=True)).items():  # of several with the same first line, the shortest
        if last - first <= NEAR and (not kept or last < kept[-1][1]):
            kept.append((first, last))
    return kept[::-1]


def _with_nearest(span: tuple[int, int], occurrences: Sequence[Sequence[tuple[int, int]]]) -> tuple[int, int]:
    """Return the range of lines from `span` to the nearest occurrence of each phrase."""
    first, last = low, high = span
    for others in occurrences:
        at = bisect_right(others, span)
        near = others[max(0, at - 1) : at + 1]
        begin, end = min(near, key=lambda each: max(last, each[1]) - min(first, each[0]))
        low, high = min(low, begin), max(high, end)
    return low, high


def _densest(occurrences: Sequence[Sequence[tuple[int, int]]]) -> int:
    """Return the number of the first line in which the most phrases begin."""
    counts: dict[int, int] = {}
    for each in occurrences:
        for line in {first for first, _ in each}:
            counts[line] = counts.get(line, 0) + 1
    return min(counts, key=lambda number: (-counts[number], number))


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
    """Return the nonempty cells of a tab-separated table row, joined by ` | `.

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
