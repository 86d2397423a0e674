"""Gives the texts of a file in which quotes are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.locations import Pages
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.source import Source


class QuotableTexts(Protocol):
    """Every place of a text is one that the extractors accept."""

    def read(self, source: Source, progress: Progress = silent) -> Sequence[Quotable]:
        """The text of the file, then the same text in other ways to read it: pages without running heads, markup.

        Raises `SourceUnsupported` for a file without text, or that is not what it seems; `SourceUnreadable`, `Cancelled`.
        """

    def region(self, source: Source, place: Pages) -> Quotable:
        """The text inside a region of one page. Raises as `read` does."""

    def version(self, source: Source) -> str:
        """What the texts depend on beside the bytes of the file: who reads it, and the subtitles beside it."""
