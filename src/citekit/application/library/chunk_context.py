"""Provides the text around a chunk in its chapter, up to a maximum length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Piece(Protocol):
    """A chunk of a chapter."""

    @property
    def text(self) -> str:
        """The text of the chunk."""

    @property
    def sequence(self) -> int:
        """The position of the chunk in its chapter. Later chunks have larger numbers."""


def surroundings(family: Sequence[Piece], sequence: int, room: int) -> tuple[str, bool]:
    """Return the text around a chunk in its chapter, and whether any chunk of the chapter was left out.

    `family` are the chunks of the chapter in order, and `sequence` identifies the chunk. The text consists of complete
    chunks joined by line feeds. It always includes the identified chunk. Neighboring chunks are added from near to far,
    alternating between the two sides, as long as the total is at most `room` characters.
    """
    here = next((place for place, piece in enumerate(family) if piece.sequence == sequence), 0)
    first = last = here
    size = len(family[here].text) if family else 0
    while first > 0 or last < len(family) - 1:
        before = len(family[first - 1].text) + 1 if first > 0 else None
        after = len(family[last + 1].text) + 1 if last < len(family) - 1 else None
        earlier = before is not None and (after is None or here - first <= last - here)
        step = before if earlier else after
        if step is None or size + step > room:
            break
        first, last, size = (first - 1, last, size + step) if earlier else (first, last + 1, size + step)
    return "\n".join(piece.text for piece in family[first : last + 1]), last - first + 1 < len(family)
