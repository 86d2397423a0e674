"""Sentences by one regular expression: no abbreviations, no languages, nothing to install."""

from __future__ import annotations

import re
from collections.abc import Sequence
from heapq import merge

from citekit.adapters.splitting.paragraphs import after_space, paragraph_starts

_END = re.compile(
    r"""(?<=[.!?…؟।॥])\s+|(?<=[.!?…؟।॥]["'”’»)\]])\s+|(?<=[。！？])(?![。！？」』”’）])\s*|(?<=[。！？][」』”’）])\s*"""
)


class RegularExpressionSplitter:
    """A sentence ends at a full stop, a question or an exclamation mark before white space, and at every blank line."""

    def starts(self, text: str, language: str | None = None) -> Sequence[int]:  # noqa: ARG002 the rules are those of no language
        """Where sentences begin, in characters."""
        if not text:
            return ()
        return after_space(text, merge((found.end() for found in _END.finditer(text)), paragraph_starts(text)))
