"""The PDF extractor: extracts pages or a region of a page as a mini-PDF, an image, or text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from citekit.adapters.formats.pdf.document.document_cache import PdfMemory
from citekit.adapters.formats.pdf.document.open_documents import Use, shared
from citekit.adapters.formats.pdf.evidence.mini_pdf import check_pages_exist, protection_notes, write_mini_pdf
from citekit.adapters.formats.pdf.evidence.picture import PAGES_LIMIT, write_picture
from citekit.adapters.libraries.mupdf.engine import empty_store
from citekit.adapters.system.installed_packages import version_of
from citekit.domain.errors import ExtractionFailed, FormUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location, Pages
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.libraries.sqlite.key_value_cache import Index


RECIPE = "10"
"""Changes whenever this package makes different bytes for the same request."""


@frozen
class PyMuPdfExtractor:
    """An extractor of PDF pages as a mini-PDF (NATIVE or PDF), text (TEXT), or one image (PNG).

    `index` caches the positions of bookmarks and pages of long documents, and the text that OCR recognized; with None,
    nothing is cached. `password` opens encrypted files; their evidence is not encrypted. `ocr` reads the text of
    scanned pages.
    """

    index: Index | None = None
    password: str | None = field(default=None, repr=False)
    ocr: OcrReader | None = None

    @property
    def identity(self) -> ExtractorIdentity:
        """See `Extractor.identity`. The version contains `RECIPE`, the version of PyMuPDF, and whether OCR reads
        scanned pages.
        """
        version = f"{RECIPE}-{version_of('pymupdf', 'pymupdf', 'pymupdf-lite')}"
        return ExtractorIdentity("pymupdf-pdf", version if self.ocr is None else f"{version}+ocr")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`. PNG is possible for at most `PAGES_LIMIT` pages."""
        if format.name != "pdf" or not isinstance(location, Pages):
            return ()
        picture = (Form.PNG,) if len(location.numbers) <= PAGES_LIMIT else ()
        return (Form.NATIVE, Form.PDF, *picture, Form.TEXT)

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        if not isinstance(location, Pages) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(_no_form(location, options.form))
        progress(0, len(location.numbers), "pages")
        if options.form not in (Form.PNG, Form.TEXT):
            return write_mini_pdf(PdfMemory(source, self.index), location, target, self.password)
        with shared(source.path, Use.DRAWING, ExtractionFailed, password=self.password) as document:
            check_pages_exist(document, location)
            if options.form is Form.TEXT:
                from citekit.adapters.formats.pdf.document.scanned_pages import PageRecognizer
                from citekit.adapters.formats.pdf.evidence.page_text import write_text

                recognizer = None if self.ocr is None else PageRecognizer(self.ocr, source.size, self.index)
                made = write_text(document, location, target, progress, recognizer, options.section)
            else:
                empty_store()
                made = write_picture(document, location, target, progress)
            return evolve(made, notes=(*made.notes, *protection_notes(document)))


def _no_form(location: Location, form: Form) -> str:
    if form is Form.PNG and isinstance(location, Pages):
        return (
            f"A picture can show at most {PAGES_LIMIT} pages, not {len(location.numbers)}. Request fewer pages, or "
            "the form pdf."
        )
    return f"This part of a PDF cannot be extracted as {form.value}. Request pdf, text, or (up to {PAGES_LIMIT} pages) png."
