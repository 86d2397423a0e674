"""The extractor of PDF: which form is asked for, and is the place inside the file.

The text of pages, or of a region of one page.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from citekit.adapters.formats.pdf.document.document_cache import PdfMemory
from citekit.adapters.formats.pdf.document.open_documents import Use, shared
from citekit.adapters.formats.pdf.document.text import text_as_seen
from citekit.adapters.formats.pdf.evidence.mini_pdf import check_inside, protection_notes, write_mini
from citekit.adapters.formats.pdf.evidence.picture import PAGES_LIMIT, write_picture
from citekit.adapters.formats.pdf.evidence.region import shown_area
from citekit.adapters.libraries.mupdf.engine import Document, empty_store
from citekit.adapters.system.installed_packages import version_of
from citekit.domain.errors import ExtractionFailed, FormUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location, Pages
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

if TYPE_CHECKING:
    from citekit.adapters.libraries.sqlite.key_value_cache import Index


def write_text(document: Document, location: Pages, target: Path, progress: Progress) -> Extraction:
    """Write the text as UTF-8, blocks parted by an empty line, pages by a form feed; it may be empty (a scan).

    Numbers that stand higher or lower than their line are superscripts and subscripts.
    """
    empty = True
    with target.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
        for position, number in enumerate(location.numbers):
            page = document[number - 1]
            area = None if location.region is None else shown_area(page, location.region)
            text = text_as_seen(page, area)
            empty = empty and not text
            stream.write(f"\f{text}" if position else text)
            progress(position + 1, len(location.numbers), "pages")
    notes = ("There is no text here: the page is a scan or a drawing.",) if empty else ()
    return Extraction(suffix=".txt", media_type="text/plain; charset=utf-8", extent=location, notes=notes)


RECIPE = "10"
"""Changes whenever this package would make other bytes of the same request."""


@frozen
class PyMuPdfExtractor:
    """Pages as a mini-PDF (NATIVE and PDF), as text, or, where they are not too many, as one picture (PNG).

    `index` remembers where the bookmarks and pages of long documents lie; None reads that of each document anew.
    `password` opens encrypted files; evidence of them is not encrypted, and does not depend on the password.
    """

    index: Index | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def identity(self) -> ExtractorIdentity:
        """The recipe and PyMuPDF: either changes the bytes."""
        return ExtractorIdentity("pymupdf-pdf", f"{RECIPE}-{version_of('pymupdf', 'pymupdf', 'pymupdf-lite')}")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """PDF and TEXT of any pages of a PDF, PNG of at most `PAGES_LIMIT`."""
        if format.name != "pdf" or not isinstance(location, Pages):
            return ()
        picture = (Form.PNG,) if len(location.numbers) <= PAGES_LIMIT else ()
        return (Form.NATIVE, Form.PDF, *picture, Form.TEXT)

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write those pages to `target`; see the port for what is raised."""
        if not isinstance(location, Pages) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(_no_form(location, options.form))
        progress(0, len(location.numbers), "pages")
        if options.form not in (Form.PNG, Form.TEXT):
            return write_mini(PdfMemory(source, self.index), location, target, self.password)
        with shared(source.path, Use.DRAWING, ExtractionFailed, password=self.password) as document:
            check_inside(document, location)
            if options.form is Form.TEXT:
                made = write_text(document, location, target, progress)
            else:
                empty_store()
                made = write_picture(document, location, target, progress)
            return evolve(made, notes=(*made.notes, *protection_notes(document)))


def _no_form(location: Location, form: Form) -> str:
    if form is Form.PNG and isinstance(location, Pages):
        return f"A picture shows at most {PAGES_LIMIT} pages, not {len(location.numbers)}: ask for fewer, or for a PDF."
    return f"Such a place of a PDF cannot be had as {form.value}: ask for pdf, text or png."
