"""Defines the port that reads the data that the library needs from a file."""

from __future__ import annotations

from typing import Protocol

from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.located_text import LocatedText
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


class LibraryReader(Protocol):
    """Reads the text and the metadata of files in the library. A `TextReader` is a `LibraryReader` for documents."""

    def supports(self, format: Format) -> bool:
        """Return whether files of the format can be in the library."""

    def read(self, source: Source, progress: Progress = silent) -> LocatedText:
        """Return the text of a document, or the transcript of a recording.

        Raise `SourceUnsupported` if the file is protected, not in its apparent format, or a recording without words,
        `SourceUnreadable` if it cannot be read, or `Cancelled`.
        """

    def facts(self, source: Source) -> BookFacts:
        """Return the metadata in the file. Raise the same errors as `read`."""
