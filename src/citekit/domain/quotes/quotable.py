"""Prepares a text for quote searches."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from operator import le

from attrs import field, frozen

from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.library.located_text import LocatedText
from citekit.domain.quotes.normal_form import Normal, letters_of, normalised

WITH_MARKUP = "in the source with its markup"
"""The note of a text that includes markup, and so also hidden text."""

WITH_TAGS = "in the source with its tags"
"""The note of a text with elements as its only markup (HTML)."""

BLOCK = 2048
"""Number of characters after which a block ends, where the text can be split."""

TRACED = 64
"""Maximum number of mapped blocks that are cached."""

LONG = 100_000
"""Number of characters above which a block replaces all cached blocks."""

_BORDER = re.compile(r"(?<=[A-Za-z0-9][,.; ])[ \n](?=[A-Za-z0-9])|(?<=[A-Za-z0-9])[ \n](?=[A-Za-z0-9])|\n(?=\n)")


@frozen
class Quotable:
    """A text together with its letters in normal form, for quote searches.

    Block i begins at the offset `starts[i]` of the text, and its letters begin at the offset `letter_starts[i]` of
    `letters`. `note` describes the text if it is not the text that readers see.
    """

    placed: LocatedText
    letters: str = field(repr=False)
    starts: array[int] = field(repr=False)
    letter_starts: array[int] = field(repr=False)
    note: str = ""
    _traced: dict[int, Normal] = field(factory=dict, init=False, repr=False, eq=False)
    """The most recently mapped blocks."""

    @classmethod
    def of(cls, placed: LocatedText, note: str = "") -> Quotable:
        """Return the text with its letters."""
        starts, letter_starts, pieces, length = array("q"), array("q"), [], 0
        text = placed.text
        for start, end in _blocks(text):
            letters = letters_of(text[start:end])
            starts.append(start)
            letter_starts.append(length)
            pieces.append(letters)
            length += len(letters)
        return cls(placed, "".join(pieces), starts, letter_starts, note)

    @property
    def is_sound(self) -> bool:
        """Whether the blocks are in order and lie inside the text and its letters."""
        pairs = ((self.starts, self.text), (self.letter_starts, self.letters))
        return len(self.starts) == len(self.letter_starts) and all(
            (starts[0] == 0 and starts[-1] <= len(text) and all(map(le, starts, starts[1:]))) if starts else not text
            for starts, text in pairs
        )

    @property
    def text(self) -> str:
        """The complete text."""
        return self.placed.text

    def origin(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the range of the text that the letters from `start` to `end` come from.

        Return None if the range would split a character, or if the letters do not match the text, because a malicious
        file may have taken over the worker that computed them.
        """
        first, place = self._block_of(start)
        normal = self._block(first)
        if 0 < place < len(normal.starts) and normal.starts[place - 1] == normal.starts[place]:
            return None
        last, final = self._block_of(end - 1)
        closing = self._block(last)
        if place >= len(normal.starts) or final >= len(closing.starts):
            return None
        if final + 1 < len(closing.text) and closing.starts[final + 1] == closing.starts[final]:
            return None
        return self.starts[first] + normal.starts[place], self.starts[last] + closing.ends[final]

    def begins_page(self, offset: int) -> bool:
        """Return whether the character at `offset` is a capital letter at the beginning of a page.

        Such a letter does not continue a word from the previous page.
        """
        placed = self.placed
        if not isinstance(placed, ExtractedText) or placed.kind is not UnitKind.PAGE:
            return False
        return self.text[offset].isupper() and placed.unit_at(offset).start == offset

    def letters_before(self, offset: int) -> int:
        """Return the number of letters before the character at `offset`."""
        number = bisect_right(self.starts, offset) - 1
        if number < 0:
            return 0
        return self.letter_starts[number] + bisect_right(self._block(number).starts, offset - self.starts[number] - 1)

    def blocks(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield (number, length in characters) of the blocks that contain the first and the last of the letters from
        `start` up to, but not including, `end`.
        """
        for number in {self._block_of(start)[0], self._block_of(end - 1)[0]}:
            yield number, self._end(number) - self.starts[number]

    def block_at(self, offset: int) -> tuple[int, int]:
        """Return (number, length in characters) of the block with the character at `offset`."""
        number = max(0, bisect_right(self.starts, offset) - 1)
        return number, self._end(number) - self.starts[number] if self.starts else 0

    def _end(self, number: int) -> int:
        return self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)

    def _block_of(self, letter: int) -> tuple[int, int]:
        number = bisect_right(self.letter_starts, letter) - 1
        return number, letter - self.letter_starts[number]

    def _block(self, number: int) -> Normal:
        found = self._traced.get(number)
        if found is None:
            start, end = self.starts[number], self._end(number)
            found = normalised(self.text[start:end]).letters()
            if len(self._traced) >= TRACED or end - start > LONG:
                self._traced.clear()
            self._traced[number] = found
        return found


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges (start, end) of blocks whose normal forms do not depend on the adjacent text."""
    start = 0
    while start < len(text):
        border = _BORDER.search(text, start + BLOCK)
        end = border.end() if border else len(text)
        yield start, end
        start = end
