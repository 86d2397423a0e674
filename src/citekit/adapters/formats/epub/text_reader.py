"""Reads the text of reflowable books chapter by chapter."""

from __future__ import annotations

from citekit.adapters.formats.handler import BookReader
from citekit.domain.formats import BOOKS, Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source


class FlowingTextReader:
    """Reads the text of the reflowable books that `books` reads. Each chapter is one unit of the extracted text."""

    def __init__(self, books: BookReader) -> None:
        self._books = books

    def supports(self, format: Format) -> bool:
        """See `TextReader.supports`. The formats are reflowable books (EPUB, MOBI, FB2, and DOCX) and mail."""
        return format.name in BOOKS

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """Return the chapters, separated by blank lines. See `TextReader.read`."""
        progress(0, 1, "reading the book")
        chapters = self._books.read(source.path).chapters
        return ExtractedText.joined(UnitKind.CHAPTER, (chapter.text for chapter in chapters), "\n\n")

    def facts(self, source: Source) -> BookFacts:
        """See `TextReader.facts`."""
        return self._books.facts(source.path)
