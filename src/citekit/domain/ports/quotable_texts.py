"""Defines the port that reads the texts of a file in which quotes are searched for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from citekit.domain.locations import Pages
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.source import Source


class QuotableTexts(Protocol):
    """Reads the texts of a file for quote searches. Extractors accept every location in these texts."""

    def read(self, source: Source, progress: Progress = silent) -> Sequence[Quotable]:
        """Return the text of the file, followed by variants of the text.

        The variants depend on the format: the text with hidden text, tables whose cells are apart, pages without
        running headers and footers, the source text with markup, and other subtitles or the text on the screen of a
        recording. Raise `SourceUnsupported` if the file has no text or is not in its apparent format,
        `SourceUnreadable` if it cannot be read, or `Cancelled`.
        """

    def drawn(self, source: Source, pages: Sequence[int]) -> Mapping[int, str]:
        """Return the text that is visible on pages when they are drawn, by 1-based page number.

        It has the same form as the page's text in the first text of `read`, and equals it unless that text contains
        words that the page does not show. Pages that cannot be drawn, and pages of formats other than PDF, are missing.
        Raise the same errors as `read`.
        """

    def region(self, source: Source, place: Pages) -> Quotable:
        """Return the text inside a region of a page.

        `place` is the page with its region. Raise `FormUnsupported` if the text of a region cannot be read in this
        format, `LocationOutside` if the page does not exist, and the same errors as `read`.
        """

    def version(self, source: Source) -> str:
        """Return a text that changes when `read` may return other texts for the same file content.

        It covers the version of the reader and the sidecar subtitles.
        """

    def reader_version(self) -> str:
        """Return a text that changes when `version` may change although a source has not changed.

        It identifies the version of the reader for files of all formats.
        """
