"""The port that finds the starts of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class SentenceSplitter(Protocol):
    """Splits a text into sentences. Every character is in exactly one sentence."""

    def starts(self, text: str, language: str | None = None) -> Sequence[int]:
        """Return the start of each sentence of `text`: rising offsets, the first 0; empty for an empty text.

        `language` is an ISO 639 code of two or three letters. An unknown language uses the rules of another one.
        """
