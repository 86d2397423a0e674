"""Divides a text into lines and words, once for all queries that are matched with it."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from attrs import field, frozen

from citekit.domain.words import words_by_line


@frozen
class WordLines:
    """The lines of a text that are not blank, and their words.

    `starts` and `ends` are the offsets of each line in the text. `words` has the words of each line as a text, with a
    space before, between, and after them; without words, it is a space, which ends a phrase, or empty for a line that
    is not ASCII, across which a phrase continues.
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
        for line, words in zip(text.split("\n"), words_by_line(text), strict=True):
            end = start + len(line)
            if words or line.strip():
                starts.append(start)
                ends.append(end)
                spaced.append(f" {' '.join(words)} " if words else " " * line.isascii())
            start = end + 1
        return cls(starts, ends, spaced)

    def words_in(self, first: int, last: int) -> list[str]:
        """Return the words of the lines from `first` to `last`."""
        return (self.words[first] if first == last else "".join(self.words[first : last + 1])).split()

    def joined(self, text: str, first: int, last: int) -> str:
        """Return the lines of `text`, which was divided, from `first` to `last`, with spaces between them."""
        return " ".join([text[self.starts[number] : self.ends[number]] for number in range(first, last + 1)])

    def lines_with(self, phrase: Sequence[str]) -> list[tuple[int, int]]:
        """Return the first and the last line of each occurrence of a phrase, of a single word once for each line."""
        wanted = f" {' '.join(phrase)} "
        if len(phrase) == 1:
            return [(number, number) for number, words in enumerate(self.words) if wanted in words]
        every, places = self._joined
        found: list[tuple[int, int]] = []
        at = every.find(wanted)
        while at >= 0:
            found.append((bisect_right(places, at) - 1, bisect_right(places, at + len(wanted) - 2) - 1))
            at = every.find(wanted, at + 1)
        return found

    @cached_property
    def _joined(self) -> tuple[str, Sequence[int]]:
        """The words of all lines, with one space between two words, and where each line begins."""
        pieces = [words[:-1] or words for words in self.words]
        return "".join((*pieces, " ")), array("L", accumulate(map(len, pieces), initial=0))
