"""Defines the port that reads the texts of a file in which quotes are searched for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from citekit.domain.locations import Pages
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.source import Source


class QuotableTexts(Protocol):
    """Reads the texts of a file for quote searches."""

    def read(self, source: Source, progress: Progress = silent) -> Sequence[Quotable]:
        """Return the text of the file, followed by variants of the text.

        The variants depend on the format; for example, they have hidden text, no running headers and footers, or source
        text with markup. Raise `SourceUnsupported` if the file has no text or is not in its apparent format,
        `SourceUnreadable` if it cannot be read, or `Cancelled`.
        """

    def drawn(self, source: Source, pages: Sequence[int]) -> Mapping[int, str]:
        """Return the text that is visible on pages when they are drawn, by 1-based page number.

        It equals the page's text in the first text of `read` unless that text contains words that the page does not
        show. Pages that cannot be drawn, and pages of formats other than PDF, are missing. Raise the same errors as
        `read`.
        """

    def region(self, source: Source, place: Pages) -> Quotable:
        """Return the text inside the region of the page `place`.

        Raise `FormUnsupported` if the text of a region cannot be read in this format, `LocationOutside` if the page
        does not exist, and the same errors as `read`.
        """

    def version(self, source: Source) -> str:
        """Return a text that changes when `read` may return other texts for the same file content."""

    def reader_version(self) -> str:
        """Return a text that changes when `version` may change for an unchanged source."""
