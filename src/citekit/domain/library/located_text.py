"""Defines the interface of texts with the location of each of their characters."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.locations import Location


class LocatedText(Protocol):
    """A text with the location of each of its characters in a file: the text of a document, or a transcript."""

    @property
    def text(self) -> str:
        """The complete text."""

    def locate(self, start: int, end: int) -> Location:
        """Return the location of `text[start:end]` in the file.

        Raise `LocationOutside` if the range is not in the text.
        """

    def span_of(self, location: Location) -> tuple[int, int] | None:
        """Return the character offsets (start, end) of a location in this text.

        Return None if the location is outside the text or of a kind that does not fit it.
        """
