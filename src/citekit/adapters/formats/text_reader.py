"""Reads the text of any file through the handler of its format."""

from __future__ import annotations

from attrs import frozen

from citekit.adapters.formats.handler import Services
from citekit.adapters.formats.registry import handler_of
from citekit.domain.errors import SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.ports.text_reader import TextReader
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


@frozen
class FormatTextReader:
    """Reads files with the text readers of their formats' handlers. For `marked`, see `FormatHandler.text_reader`."""

    services: Services
    marked: bool = False

    def supports(self, format: Format) -> bool:
        """Return whether files of `format` contain text that can be read.

        Raise `SourceUnsupported` if no handler of the format is installed.
        """
        return self._reader(format) is not None

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """See `TextReader.read`. Also raise `SourceUnsupported` for a format without text."""
        return self._reader_of(source).read(source, progress)

    def facts(self, source: Source) -> BookFacts:
        """See `TextReader.facts`. Also raise `SourceUnsupported` for a format without text."""
        return self._reader_of(source).facts(source)

    def _reader_of(self, source: Source) -> TextReader:
        found = self._reader(source.format)
        if found is None:
            raise SourceUnsupported(
                f"CiteKit cannot read text from files like {source.path.name} ({source.format.name}). Use a document, a "
                "book, or a text file."
            )
        return found

    def _reader(self, format: Format) -> TextReader | None:
        reader = handler_of(format).text_reader(self.services, marked=self.marked)
        return reader if reader is not None and reader.supports(format) else None
