"""Divides a text into lines and words, once for all queries that are matched with it."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator

from attrs import field, frozen

from citekit.domain.words import words_by_line


@frozen
class WordLines:
    """The lines of a text that are not blank, and their words.

    `starts` and `ends` are the offsets of each line in the text. `words` has the words of all lines in order, with one
    space before each and one at the end, and `places` is where those of each line begin there, with the end of the last
    line. A line of ASCII without words is an additional space in `words`, so that no phrase continues across it.
    """

    starts: array[int] = field(repr=False)
    ends: array[int] = field(repr=False)
    words: str = field(repr=False)
    places: array[int] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> WordLines:
        """Divide a text."""
        starts, ends, places = array("L"), array("L"), array("L")
        pieces: list[str] = []
        at = place = 0
        for line, words in zip(text.split("\n"), words_by_line(text), strict=True):
            end = at + len(line)
            if words or line.strip():
                piece = f" {' '.join(words)}" if words or line.isascii() else ""
                pieces.append(piece)
                starts.append(at)
                ends.append(end)
                places.append(place)
                place += len(piece)
            at = end + 1
        places.append(place)
        return cls(starts, ends, f"{''.join(pieces)} ", places)

    def joined(self, text: str, first: int, last: int) -> str:
        """Return the lines of `text`, which was divided, from `first` to `last`, with spaces instead of line feeds."""
        if first == last:
            return text[self.starts[first] : self.ends[first]]
        return " ".join(text[self.starts[at] : self.ends[at]] for at in range(first, last + 1))

    def words_in(self, first: int, last: int) -> list[str]:
        """Return the words of the lines from `first` to `last`."""
        return self.words[self.places[first] : self.places[last + 1]].split()

    def lines_with(self, phrase: str) -> Iterator[tuple[int, int]]:
        """Yield the first and the last line of each occurrence of a phrase, whose words have one space between them."""
        words, places, wanted = self.words, self.places, f" {phrase} "
        is_word, beyond = " " not in phrase, len(phrase)
        at = words.find(wanted)
        while at >= 0:
            first = bisect_right(places, at) - 1
            yield first, first if is_word else bisect_right(places, at + beyond) - 1
            at = words.find(wanted, at + 1)
