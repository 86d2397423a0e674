"""The port for the texts of a file in which quotes are searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.locations import Pages
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.source import Source


class QuotableTexts(Protocol):
    """Reads the texts of a file for quote searches. Extractors accept every location in these texts."""

    def read(self, source: Source, progress: Progress = silent) -> Sequence[Quotable]:
        """Return the text of the file, then variants of it: pages without running headers and footers, and the source
        with markup.

        Raises `SourceUnsupported` for a file without text or not in its apparent format, `SourceUnreadable`, and
        `Cancelled`.
        """

    def region(self, source: Source, place: Pages) -> Quotable:
        """Return the text inside a region of a page. Raises the same errors as `read`."""

    def version(self, source: Source) -> str:
        """Return what the texts depend on in addition to the bytes of the file: the version of the reader, and the
        sidecar subtitles.
        """
