"""Defines the port that finds the starts of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class SentenceSplitter(Protocol):
    """A component that splits a text into sentences."""

    def starts(self, text: str, language: str | None = None) -> Sequence[int]:
        """Return the offset at which each sentence of `text` begins, in ascending order.

        The first offset is 0; an empty text has none. `language` is an ISO 639 code of two or three letters. For an
        unknown language, the rules of another language are used. Raise `DriverMissing` if the required extra is not
        installed.
        """
