"""Divides a text into lines and words, once for all queries that are matched with it."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from attrs import field, frozen

from citekit.domain.words import spaced_lines


@frozen
class WordLines:
    """The lines of a text that are not blank, and their words.

    `starts` and `ends` are the offsets of each line in the text. `words` has a text for each line: its words with
    spaces before, between, and after them. This text is empty for a line without words that is not ASCII. A phrase
    continues across such a line, but not across other lines without words.
    """

    starts: array[int] = field(repr=False)
    ends: array[int] = field(repr=False)
    words: Sequence[str] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> WordLines:
        """Divide a text."""
        starts, ends = array("L"), array("L")
        spaced: list[str] = []
        start = 0
        for line, words in zip(text.split("\n"), spaced_lines(text), strict=True):
            end = start + len(line)
            if line.strip():
                starts.append(start)
                ends.append(end)
                spaced.append(f" {words} " if line.isascii() or words.strip() else "")
            start = end + 1
        return cls(starts, ends, spaced)

    def joined(self, text: str, first: int, last: int) -> str:
        """Return the lines of `text`, which was divided, from `first` to `last`, with spaces between them."""
        return " ".join([text[self.starts[number] : self.ends[number]] for number in range(first, last + 1)])

    def lines_with(self, phrase: Sequence[str]) -> list[tuple[int, int]]:
        """Return the first and the last line of the occurrences of a phrase, in order and without duplicates."""
        wanted = f" {' '.join(phrase)} "
        if len(phrase) > 1:
            return self._lines_across(wanted)
        return [(number, number) for number, words in enumerate(self.words) if wanted in words]

    def _lines_across(self, phrase: str) -> list[tuple[int, int]]:
        every, places = self._joined
        found: dict[tuple[int, int], None] = {}
        at = every.find(phrase)
        while at >= 0:
            found[bisect_right(places, at) - 1, bisect_right(places, at + len(phrase) - 2) - 1] = None
            at = every.find(phrase, at + 1)
        return list(found)

    @cached_property
    def _joined(self) -> tuple[str, Sequence[int]]:
        """The words of all lines with one space between two words, and where each line begins there."""
        pieces = [" ".join(("", *words.split())) or words[:1] for words in self.words]
        return "".join((*pieces, " ")), array("L", accumulate(map(len, pieces), initial=0))
