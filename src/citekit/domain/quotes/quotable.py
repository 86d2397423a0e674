"""A text in which quotes are found fast: its letters, in blocks, with the way back to the text."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from operator import le
from typing import Protocol

from attrs import field, frozen

from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.locations import Location
from citekit.domain.quotes.normal_form import Normal, letters_of, normalised

WITH_MARKUP = "in the source with its markup"
"""The note of a text that holds the markup, and so also what nobody sees: only quotes of markup are looked for in it."""

WITH_TAGS = "in the source with its tags"
"""The same of a text whose markup is elements alone (HTML): only quotes of these are looked for in it."""

BLOCK = 2048
"""The target number of characters of a block; blocks end where the text can be split."""

TRACED = 64
"""Blocks that stay traced back to their text."""

LONG = 100_000
"""Characters of a block that only shares this memory with those after it: a text without spaces is one block."""

_BORDER = re.compile(r"(?<=[A-Za-z0-9][,.; ])[ \n](?=[A-Za-z0-9])|(?<=[A-Za-z0-9])[ \n](?=[A-Za-z0-9])|\n(?=\n)")


class LocatedText(Protocol):
    """A text that knows where in a file each character of it stands, as a `ExtractedText` does."""

    @property
    def text(self) -> str:
        """All of it."""

    def locate(self, start: int, end: int) -> Location:
        """The place of `text[start:end]`. Raises `LocationOutside`."""

    def span_of(self, location: Location) -> tuple[int, int] | None:
        """The characters (start, end) of that place, or None for a place of another kind or outside the text."""


@frozen
class Quotable:
    """A text and its letters: block i begins at `starts[i]` of the text, and its letters at `letter_starts[i]`.

    `note` says in words what this text is, where it is not the one that a reader sees.
    """

    placed: LocatedText
    letters: str = field(repr=False)
    starts: array[int] = field(repr=False)
    letter_starts: array[int] = field(repr=False)
    note: str = ""
    _traced: dict[int, Normal] = field(factory=dict, init=False, repr=False, eq=False)
    """The blocks whose letters were traced back last: a search stays near the same ones."""

    @classmethod
    def of(cls, placed: LocatedText, note: str = "") -> Quotable:
        """The text made ready."""
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
        """Whether the blocks lie in the text and in its letters, one behind the other."""
        pairs = ((self.starts, self.text), (self.letter_starts, self.letters))
        return len(self.starts) == len(self.letter_starts) and all(
            (starts[0] == 0 and starts[-1] <= len(text) and all(map(le, starts, starts[1:]))) if starts else not text
            for starts, text in pairs
        )

    @property
    def text(self) -> str:
        """All of the text."""
        return self.placed.text

    def origin(self, start: int, end: int) -> tuple[int, int] | None:
        """Where in the text the letters from `start` to `end` come from; None where they begin or end inside a character.

        None, too, where the letters are not those of the text, which was read by a process that a file may have taken over.
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
        """Whether a capital begins a page there: not the rest of a word that was split at the end of the previous
        page, but a header."""
        placed = self.placed
        if not isinstance(placed, ExtractedText) or placed.kind is not UnitKind.PAGE:
            return False
        return self.text[offset].isupper() and placed.unit_at(offset).start == offset

    def letters_before(self, offset: int) -> int:
        """How many letters come from before the character at `offset`."""
        number = bisect_right(self.starts, offset) - 1
        if number < 0:
            return 0
        return self.letter_starts[number] + bisect_right(self._block(number).starts, offset - self.starts[number] - 1)

    def blocks(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The blocks that the letters from `start` to `end` begin and end in: the number and the length in characters."""
        for number in {self._block_of(start)[0], self._block_of(end - 1)[0]}:
            yield number, self._end(number) - self.starts[number]

    def block_at(self, offset: int) -> tuple[int, int]:
        """The number and the length of the block with the character at `offset`."""
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
    """Stretches whose normal forms do not depend on what is beside them."""
    start = 0
    while start < len(text):
        border = _BORDER.search(text, start + BLOCK)
        end = border.end() if border else len(text)
        yield start, end
        start = end
