"""The port that reads the complete text of a document."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


class TextReader(Protocol):
    """Reads the text once, in reading order. Extractors accept every location in it."""

    def supports(self, format: Format) -> bool:
        """Return whether it can read files of that format."""

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """Return the text without markup; empty if there is none, such as in a scan.

        Raises `SourceUnsupported` for a file that is protected or not in its apparent format, `SourceUnreadable`, and
        `Cancelled`.
        """

    def facts(self, source: Source) -> BookFacts:
        """Return the metadata in the file; much faster than `read`. Raises the same errors as `read`."""
