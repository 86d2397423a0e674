"""The format handler for Word documents (DOCX)."""

from __future__ import annotations

from citekit.adapters.formats.epub.handler import BookHandler
from citekit.adapters.formats.handler import Services
from citekit.adapters.formats.shared.outline import Outliner
from citekit.domain.formats import Format


class DocxHandler(BookHandler):
    """Handles Word documents, which have chapters like a book, plus tables and figures."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.docx.outliner import DocxOutliner

        return DocxOutliner(services.reader)


HANDLER = DocxHandler()
