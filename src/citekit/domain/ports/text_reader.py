"""Defines the port that reads the complete text of a document."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


class TextReader(Protocol):
    """A component that extracts the text of a document in reading order, without duplicates."""

    def supports(self, format: Format) -> bool:
        """Return whether the component can read files in the given format."""

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """Return the text without markup. It is empty if the document has none, such as a scan.

        Raise `SourceUnsupported` if the file is protected or not in its apparent format, `SourceUnreadable` if it
        cannot be read, or `Cancelled`.
        """

    def facts(self, source: Source) -> BookFacts:
        """Return the metadata in the file. Raise the same errors as `read`."""
