"""The format handler for PDF documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.adapters.formats.handler import NativeHandler, Services
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.ports.extractor import Extractor

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.outline import Outliner
    from citekit.domain.ports.text_reader import TextReader


class PdfHandler(NativeHandler):
    """A format handler that outlines, reads, and extracts PDF pages with PyMuPDF."""

    def outliner(self, format: Format, services: Services) -> Outliner:  # noqa: ARG002
        """See `FormatHandler.outliner`."""
        from citekit.adapters.formats.pdf.outline.outliner import PdfOutliner

        return PdfOutliner(services.index, services.password, services.ocr_reader, services.read_pages)

    def measure(self, path: Path, services: Services) -> Extent:
        """See `FormatHandler.measure`. The extent is the number of pages."""
        from citekit.adapters.libraries.mupdf.engine import opened

        with opened(path, password=services.password) as document:
            return Extent(pages=document.page_count)

    def text_reader(self, services: Services, *, marked: bool) -> TextReader:
        """See `FormatHandler.text_reader`. Only the reader for quotes (`marked`) opens files that need a password."""
        from citekit.adapters.formats.pdf.text_reader import PyMuPdfTextReader
        from citekit.adapters.libraries.mupdf.engine import UNLOCK

        if not marked:
            return PyMuPdfTextReader(locked=UNLOCK, ocr=services.ocr_reader, index=services.index)
        return PyMuPdfTextReader(
            joining=False,
            as_seen=True,
            password=services.password,
            ocr=services.ocr_reader,
            index=services.index,
            known=services.read_pages,
        )

    def extractors(self) -> Mapping[str, Callable[[Services], Extractor]]:
        """See `FormatHandler.extractors`."""
        return {"pages": _pages}


def _pages(services: Services) -> Extractor:
    from citekit.adapters.formats.pdf.evidence.extractor import PyMuPdfExtractor

    return PyMuPdfExtractor(services.index, services.password, services.ocr_reader)


HANDLER = PdfHandler()
