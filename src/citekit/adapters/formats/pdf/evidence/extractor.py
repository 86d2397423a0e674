"""The PDF extractor: extracts pages or a region of a page as a mini-PDF, an image, or text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from citekit.adapters.formats.pdf.document.document_cache import PdfMemory
from citekit.adapters.formats.pdf.document.open_documents import Use, shared
from citekit.adapters.formats.pdf.document.text import text_as_seen
from citekit.adapters.formats.pdf.evidence.mini_pdf import check_pages_exist, protection_notes, write_mini_pdf
from citekit.adapters.formats.pdf.evidence.picture import PAGES_LIMIT, write_picture
from citekit.adapters.formats.pdf.evidence.region import displayed_area
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
    """Write the text of `location` to `target` as UTF-8.

    Blocks are separated by an empty line, and pages by a form feed. Raised and lowered numbers become superscripts and
    subscripts. The file may be empty, for example for a scan; the result then has a note.
    """
    empty = True
    with target.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
        for position, number in enumerate(location.numbers):
            page = document[number - 1]
            area = None if location.region is None else displayed_area(page, location.region)
            text = text_as_seen(page, area)
            empty = empty and not text
            stream.write(f"\f{text}" if position else text)
            progress(position + 1, len(location.numbers), "pages")
    notes = ("This part contains no text: it is a scan or a drawing.",) if empty else ()
    return Extraction(suffix=".txt", media_type="text/plain; charset=utf-8", extent=location, notes=notes)


RECIPE = "10"
"""Changes whenever this package makes different bytes for the same request."""


@frozen
class PyMuPdfExtractor:
    """An extractor of PDF pages as a mini-PDF (NATIVE or PDF), text (TEXT), or one image (PNG).

    At most `PAGES_LIMIT` pages can be extracted as an image. `index` caches the positions of bookmarks and pages of
    long documents; with None, they are read each time. `password` opens encrypted files; their evidence is not
    encrypted and does not depend on the password.
    """

    index: Index | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def identity(self) -> ExtractorIdentity:
        """The extractor's name with the recipe and PyMuPDF versions, which both affect the bytes of the evidence."""
        return ExtractorIdentity("pymupdf-pdf", f"{RECIPE}-{version_of('pymupdf', 'pymupdf', 'pymupdf-lite')}")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """Return NATIVE, PDF, and TEXT for pages of a PDF, and PNG for at most `PAGES_LIMIT` pages; otherwise nothing."""
        if format.name != "pdf" or not isinstance(location, Pages):
            return ()
        picture = (Form.PNG,) if len(location.numbers) <= PAGES_LIMIT else ()
        return (Form.NATIVE, Form.PDF, *picture, Form.TEXT)

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write the pages of `location` to `target` in the form of `options`. See `Extractor.extract` for errors."""
        if not isinstance(location, Pages) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(_no_form(location, options.form))
        progress(0, len(location.numbers), "pages")
        if options.form not in (Form.PNG, Form.TEXT):
            return write_mini_pdf(PdfMemory(source, self.index), location, target, self.password)
        with shared(source.path, Use.DRAWING, ExtractionFailed, password=self.password) as document:
            check_pages_exist(document, location)
            if options.form is Form.TEXT:
                made = write_text(document, location, target, progress)
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
    return f"This part of a PDF cannot be extracted as {form.value}. Request pdf, text, or png."
