"""The text of any file, by the first reader that can."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from citekit.domain.errors import SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.ports.text_reader import TextReader
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


@frozen
class AnyTextReader:
    """Asks its readers in turn."""

    readers: Sequence[TextReader] = field(converter=tuple[TextReader, ...])

    def supports(self, format: Format) -> bool:
        """Whether one of them can read that format."""
        return any(reader.supports(format) for reader in self.readers)

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """See `TextReader.read`; `SourceUnsupported` also for a format that none of them reads."""
        return self._reader(source).read(source, progress)

    def facts(self, source: Source) -> BookFacts:
        """See `TextReader.facts`."""
        return self._reader(source).facts(source)

    def _reader(self, source: Source) -> TextReader:
        found = next((reader for reader in self.readers if reader.supports(source.format)), None)
        if found is None:
            raise SourceUnsupported(
                f"{source.path.name} is {source.format.name}: only documents, books and texts hold text to read."
            )
        return found
