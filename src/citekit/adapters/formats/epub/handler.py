"""The format handler for reflowable books, and the base of the handlers for Word documents and mail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from citekit.adapters.formats.handler import NativeHandler, Services
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor
from citekit.domain.ports.text_reader import TextReader


class BookHandler(NativeHandler):
    """Handles books by chapter. A location is one or more chapters, or a range of characters in one."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.epub.outliner import EpubOutliner

        return EpubOutliner(services.reader)

    def measure(self, path: Path, services: Services) -> Extent:
        """See `FormatHandler.measure`. The extent is the number of characters of each chapter."""
        return Extent(chapters=tuple(len(chapter.text) for chapter in services.reader.read(path).chapters))

    def text_reader(self, services: Services, *, marked: bool) -> TextReader:
        """See `FormatHandler.text_reader`."""
        from citekit.adapters.formats.epub.text_reader import FlowingTextReader

        return FlowingTextReader(services.books(marked=marked))

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"chapters": _chapters}


def _chapters(services: Services) -> Extractor:
    from citekit.adapters.formats.epub.extractor import EpubExtractor

    return EpubExtractor(services.reader, services.marked_reader)


HANDLER = BookHandler()
