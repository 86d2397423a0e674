"""A sentence splitter that needs no library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from heapq import merge

from citekit.adapters.search.sentence_splitters import after_space, paragraph_starts

_END = re.compile(
    r"""(?<=[.!?…؟।॥])\s+|(?<=[.!?…؟।॥]["'”’»)\]])\s+|(?<=[。！？])(?![。！？」』”’）])\s*|(?<=[。！？][」』”’）])\s*"""
)


class RegularExpressionSplitter:
    """Splits a text at a period, question mark, or exclamation mark before white space, and at blank lines."""

    def starts(self, text: str, language: str | None = None) -> Sequence[int]:
        """Return the character offset of each sentence in `text`. The language has no effect."""
        if not text:
            return ()
        return after_space(text, merge((found.end() for found in _END.finditer(text)), paragraph_starts(text)))
