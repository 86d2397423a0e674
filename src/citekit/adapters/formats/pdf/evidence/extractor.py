"""The PDF extractor: extracts pages or a region of a page as a mini-PDF, an image, or text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from citekit.adapters.formats.pdf.document.document_cache import PdfMemory
from citekit.adapters.formats.pdf.document.open_documents import Use, shared
from citekit.adapters.formats.pdf.document.scanned_pages import PageRecognizer, RecognizedPage, is_blank_scan
from citekit.adapters.formats.pdf.document.text import text_as_seen
from citekit.adapters.formats.pdf.evidence.mini_pdf import check_pages_exist, protection_notes, write_mini_pdf
from citekit.adapters.formats.pdf.evidence.picture import PAGES_LIMIT, write_picture
from citekit.adapters.formats.pdf.evidence.region import displayed_area
from citekit.adapters.formats.shared.ocr import version_of_ocr
from citekit.adapters.libraries.mupdf.engine import Document, empty_store
from citekit.adapters.system.installed_packages import version_of
from citekit.domain.errors import ExtractionFailed, FormUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options, SectionTitles
from citekit.domain.formats import Format
from citekit.domain.locations import Box, Location, Pages
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.domain.text_search.sections import SectionCut

if TYPE_CHECKING:
    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.libraries.sqlite.key_value_cache import Index


_NAMED_PAGES = 20
"""The maximum number of pages recognized by OCR that a note lists."""


def write_text(
    document: Document,
    location: Pages,
    target: Path,
    progress: Progress,
    recognizer: PageRecognizer | None,
    section: SectionTitles | None = None,
) -> Extraction:
    """Write the text of `location` to `target` as UTF-8, or only the text of `section` on these pages.

    Blocks are separated by an empty line, and pages by a form feed. Raised and lowered numbers become superscripts and
    subscripts. `recognizer` recognizes the text of scanned pages; a note says so. The file may be empty, for example
    for a scan without `recognizer`; the result then has a note.
    """
    empty, recognized, notes = True, [], list[str]()
    cut = None if section is None else SectionCut(section, location)
    with target.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
        for position, number in enumerate(location.numbers):
            page = document[number - 1]
            area = None if location.region is None else displayed_area(page, location.region)
            text = text_as_seen(page, area)
            if not text and recognizer is not None and is_blank_scan(document, number):
                text = _recognized_text(recognizer.page(document, number), location.region)
                if text:
                    recognized.append(number)
            if cut is not None:
                text, missing = cut.of_page(number, text)
                notes += missing
            empty = empty and not text
            stream.write(f"\f{text}" if position else text)
            progress(position + 1, len(location.numbers), "pages")
    if empty:
        notes = ["This part contains no text. It may be a scan or a drawing."]
    if recognized:
        numbers = ", ".join(map(str, recognized[:_NAMED_PAGES])) + (
            ", and others" if len(recognized) > _NAMED_PAGES else ""
        )
        pages = "page" if len(recognized) == 1 else "pages"
        notes.append(f"OCR ({version_of_ocr()}) recognized the text of {pages} {numbers}. It may contain errors.")
    return Extraction(suffix=".txt", media_type="text/plain; charset=utf-8", extent=location, notes=notes)


def _recognized_text(page: RecognizedPage | None, region: Box | None) -> str:
    if page is None:
        return ""
    if region is not None:
        page = evolve(page, lines=[line for line in page.lines if _is_inside(line.box, region)])
    return f"{page.text}\n" if page.lines else ""


def _is_inside(line: Box, region: Box) -> bool:
    """Return whether the center of a line is inside a region. Both are in fractions of the displayed page."""
    x, y = (line.x1 + line.x2) / 2, (line.y1 + line.y2) / 2
    return region.x1 <= x <= region.x2 and region.y1 <= y <= region.y2


RECIPE = "10"
"""Changes whenever this package makes different bytes for the same request."""


@frozen
class PyMuPdfExtractor:
    """An extractor of PDF pages as a mini-PDF (NATIVE or PDF), text (TEXT), or one image (PNG).

    At most `PAGES_LIMIT` pages can be extracted as an image. `index` caches the positions of bookmarks and pages of
    long documents; with None, they are read each time. `password` opens encrypted files; their evidence is not
    encrypted and does not depend on the password. `ocr` reads the text of scanned pages.
    """

    index: Index | None = None
    password: str | None = field(default=None, repr=False)
    ocr: OcrReader | None = None

    @property
    def identity(self) -> ExtractorIdentity:
        """The extractor's name with everything that affects the bytes of the evidence.

        These are the versions of the recipe and of PyMuPDF, and whether OCR reads scanned pages.
        """
        version = f"{RECIPE}-{version_of('pymupdf', 'pymupdf', 'pymupdf-lite')}"
        return ExtractorIdentity("pymupdf-pdf", version if self.ocr is None else f"{version}+ocr")

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
    return f"This part of a PDF cannot be extracted as {form.value}. Request pdf, text, or png."
