"""Reads all of the text of a document."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


class TextReader(Protocol):
    """All of the text is covered, once, in reading order; every place of it is one that the extractors accept."""

    def supports(self, format: Format) -> bool:
        """Whether it can read files of that format."""

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """The text, without markup. An empty text where there is none to read, as in a scan.

        Raises `SourceUnsupported` for a file that is not what it seems, or is protected, `SourceUnreadable`, `Cancelled`.
        """

    def facts(self, source: Source) -> BookFacts:
        """What the file says of itself; cheap next to `read`. Raises as `read` does."""
