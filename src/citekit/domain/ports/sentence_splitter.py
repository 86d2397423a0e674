"""Finds where sentences begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class SentenceSplitter(Protocol):
    """Every character is in exactly one sentence. Knows no more of the text than its language."""

    def starts(self, text: str, language: str | None = None) -> Sequence[int]:
        """Where each sentence of `text` begins: rising offsets, the first 0; empty for an empty text.

        `language` is an ISO 639 code of two or three letters; another language's rules are used for one that is unknown.
        """
