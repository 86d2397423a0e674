"""Reflowable books, by a reader of chapters."""

from __future__ import annotations

from citekit.adapters.formats.handler import BookReader
from citekit.domain.formats import BOOKS, Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


class FlowingTextReader:
    """Reads the books that `books` reads: a unit a spine item, the text of which is exactly the chapter's."""

    def __init__(self, books: BookReader) -> None:
        self._books = books

    def supports(self, format: Format) -> bool:
        """EPUB, MOBI (with AZW3) and FB2."""
        return format.name in BOOKS

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """The chapters, separated by two line feeds; see `TextReader.read`."""
        progress(0, 1, "reading the book")
        chapters = self._books.read(source.path).chapters
        return ExtractedText.joined(UnitKind.CHAPTER, (chapter.text for chapter in chapters), "\n\n")

    def facts(self, source: Source) -> BookFacts:
        """What the book says of itself, spelled as it spells it."""
        return self._books.facts(source.path)
