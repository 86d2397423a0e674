"""How much work may go into looking for one quote: the search runs in the server itself, where nothing else ends it."""

from __future__ import annotations

from attrs import define, field

MOST = 2_000_000.0
"""Work for one quote, in units of about one microsecond of a slow processor."""

CANDIDATE = 40.0
"""Work of checking one place at which the letters of a piece are found."""

CHARACTER = 6.0
"""Work per character of a piece that is compared at one place."""

MATCHED_CHARACTER = 40.0
"""Work per character of a place that has the same words but not the same characters: the differences are named."""

BLOCK_CHARACTER = 1.5
"""Work per character of a block whose letters are traced back to its text."""

STEP = 1.0
"""Work of trying one match as the neighbor of another."""

OMISSION, GAP_CHARACTER = 2500.0, 5.0
"""Work of describing one omission, and of each character that is left out."""

BLOCKS = 64
"""Blocks that are traced back only once while the search stays near them."""


@define
class Effort:
    """What remains of the work that one quote may take. The same quote in the same text always takes the same work."""

    left: float = MOST
    _blocks: dict[tuple[int, int], None] = field(factory=dict, init=False)

    def spend(self, work: float) -> bool:
        """Take `work` from what remains. False if nothing remains: the search then ends with what it has found."""
        self.left -= work
        return self.left > 0

    def trace(self, text: int, block: int, length: int) -> None:
        """Take the work of tracing back a block of `length` characters, unless it was traced a moment ago."""
        if (text, block) in self._blocks:
            return
        self.left -= BLOCK_CHARACTER * length
        self._blocks[text, block] = None
        if len(self._blocks) > BLOCKS:
            del self._blocks[next(iter(self._blocks))]

    @property
    def is_spent(self) -> bool:
        """Whether places may be left that were not looked at."""
        return self.left <= 0
