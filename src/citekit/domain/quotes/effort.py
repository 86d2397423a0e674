"""Limits the work for verifying one quote, because the search runs in the server process without a time limit."""

from __future__ import annotations

from attrs import define, field

MOST = 2_000_000.0
"""Maximum work for one quote. One unit is about one microsecond on a slow processor."""

CANDIDATE = 40.0
"""Work to check one occurrence of a piece's letters."""

CHARACTER = 6.0
"""Work per character of a piece that is compared at one occurrence."""

MATCHED_CHARACTER = 40.0
"""Work per character of a match that is not exact, to name the differences."""

BLOCK_CHARACTER = 1.5
"""Work per character of a block whose letters are mapped back to its text."""

STEP = 1.0
"""Work to find one occurrence of a piece's letters, or to try one match as the neighbor of another."""

OMISSION, GAP_CHARACTER = 2500.0, 5.0
"""Work to describe one omission, and for each omitted character."""

BLOCKS = 64
"""Number of recently mapped blocks that can be used again without work."""


@define
class Effort:
    """The work that may still be spent on one quote. The same quote and text require the same work."""

    left: float = MOST
    _blocks: dict[tuple[int, int], None] = field(factory=dict, init=False)

    def spend(self, work: float) -> bool:
        """Subtract `work`. Return False if no work remains; the search must then end."""
        self.left -= work
        return self.left > 0

    def trace(self, text: int, block: int, length: int) -> None:
        """Subtract the work to map a block of `length` characters back to the text, unless it was mapped recently.

        `text` and `block` identify the text and the block in it.
        """
        if (text, block) in self._blocks:
            return
        self.left -= BLOCK_CHARACTER * length
        self._blocks[text, block] = None
        if len(self._blocks) > BLOCKS:
            del self._blocks[next(iter(self._blocks))]

    @property
    def is_spent(self) -> bool:
        """Whether no work remains, so that the search may have missed occurrences."""
        return self.left <= 0
