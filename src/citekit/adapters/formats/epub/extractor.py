"""Extracts chapters of a book, or characters of a chapter, as self-contained HTML, text, PDF, or an image."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from citekit.adapters.formats.pdf.evidence.picture import PAGES_LIMIT, write_picture
from citekit.adapters.libraries.mupdf.engine import Document, exclusive, translated
from citekit.adapters.system.files import writing
from citekit.domain.errors import ExtractionFailed, FormUnsupported, LocationOutside
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import BOOKS, Format
from citekit.domain.locations import Chapter, Location, Pages
from citekit.domain.ports.reader import Reader
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.superscripts import visible_text
from citekit.domain.source import Source

PAPER = (420, 595)
"""Width and height of a page in points (A5 portrait)."""

FONT_SIZE = 11

WORD_LIMIT = 20_000
"""HTML with a word of this many characters is not laid out, because the time grows with the square of the length."""

_WORD = re.compile(rf"[^\s<>]{{{WORD_LIMIT}}}")
_TAG = re.compile(r"<[^>]*>")

_NOTE = "CiteKit laid out the text on these A5 pages; they are not pages of the source."


def write_pdf(html: str, path: Path, location: Chapter, target: Path) -> Extraction:
    """Lay out the HTML document `html` on pages, and write them as a PDF to `target`.

    Error messages name the source at `path`. `location` is the reported extent. Raise `FormUnsupported` if a word is too
    long, `ExtractionFailed` if the layout fails, and `HomeUnwritable` if the file cannot be written.
    """
    with _laid_out(html, path) as document, writing(target):
        target.write_bytes(document.tobytes(garbage=3, deflate=True, use_objstms=1, no_new_id=True))
    return Extraction(suffix=".pdf", media_type="application/pdf", extent=location, notes=(_NOTE,))


def write_png(html: str, path: Path, location: Chapter, target: Path, progress: Progress) -> Extraction:
    """Lay out the HTML document `html` on pages, and write them as a single PNG image to `target`.

    Error messages name the source at `path`. `location` is the reported extent. Raise `FormUnsupported` if there are
    more than `PAGES_LIMIT` pages or a word is too long, `ExtractionFailed` if the layout fails or an image is too large,
    and `HomeUnwritable` if the file cannot be written.
    """
    with _laid_out(html, path) as document:
        if document.page_count > PAGES_LIMIT:
            raise FormUnsupported(
                f"This part takes {document.page_count} pages, but a picture can show at most {PAGES_LIMIT}. Request a "
                "smaller part, or the form html, pdf, or text."
            )
        drawn = write_picture(document, Pages.span(1, document.page_count), target, progress)
    return Extraction(suffix=".png", media_type="image/png", extent=location, notes=(_NOTE, *drawn.notes))


@contextmanager
def _laid_out(html: str, path: Path) -> Iterator[Document]:
    if _WORD.search(_TAG.sub(" ", html)):
        raise FormUnsupported(
            "The text contains a word that is too long to be laid out. Request the form html or text."
        )
    with exclusive() as pymupdf, translated(path, ExtractionFailed):
        flowing = pymupdf.open(stream=html.encode(), filetype="html")
        flowing.layout(width=PAPER[0], height=PAPER[1], fontsize=FONT_SIZE)
        document = pymupdf.open("pdf", flowing.convert_to_pdf())
        document.subset_fonts()
        yield document


CHAPTERS_LIMIT = 2000
"""Maximum number of chapters in one HTML document, PDF, or image."""

_FORMS = (Form.NATIVE, Form.HTML, Form.TEXT, Form.PDF, Form.PNG)


class EpubExtractor:
    """Extracts chapters of the books that `reader` reads. Text is UTF-8, and chapters are joined by line feeds.

    `seen` is an optional reader for the form text. Its texts are as long as those of `reader`, but contain
    superscript and subscript characters, and a mark in place of each hidden character. The marks are removed.
    """

    identity = ExtractorIdentity("epub", "5")
    _of_docx = ExtractorIdentity("epub", "6")
    """The identity for Word documents. Only their texts have changed since version 5."""

    def __init__(self, reader: Reader, seen: Reader | None = None) -> None:
        self._reader, self._seen = reader, seen or reader

    def identity_for(self, source: Source) -> ExtractorIdentity:
        """See `DependentExtractor.identity_for`. Word documents have an identity of their own."""
        return self._of_docx if source.format.name == "docx" else self.identity

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`. The forms are HTML (which is also the native form), text, PDF, and PNG."""
        return _FORMS if format.name in BOOKS and isinstance(location, Chapter) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        if not isinstance(location, Chapter) or options.form not in _FORMS:
            raise FormUnsupported(
                f"Chapters are available in the forms native, html, text, pdf, and png, but not {options.form.value}."
            )
        match options.form:
            case Form.TEXT:
                return _written(self._text(source, location), location, ".txt", "text/plain; charset=utf-8", target)
            case Form.PDF:
                return write_pdf(self._html(source, location, progress), source.path, location, target)
            case Form.PNG:
                return write_png(self._html(source, location, progress), source.path, location, target, progress)
            case _:
                return _written(self._html(source, location, progress), location, ".html", "text/html", target)

    def _text(self, source: Source, location: Chapter) -> str:
        texts = self._seen.texts(source.path, location.number, last=location.last)
        if location.chars is None:
            return visible_text("\n".join(texts))
        start, end = location.chars
        if end > len(texts[0]):
            raise LocationOutside.beyond("character", end, "chapter", len(texts[0]))
        return visible_text(texts[0][start:end])

    def _html(self, source: Source, location: Chapter, progress: Progress) -> str:
        count = location.last - location.number + 1
        if count > CHAPTERS_LIMIT:
            raise LocationOutside(
                f"At most {CHAPTERS_LIMIT} chapters can be extracted together in this form, not {count}. Request fewer "
                "chapters, or the form text."
            )
        return self._reader.html(source.path, location.number, location.chars, last=location.last, progress=progress)


def _written(content: str, location: Chapter, suffix: str, media_type: str, target: Path) -> Extraction:
    with writing(target):
        target.write_bytes(content.encode())
    return Extraction(suffix=suffix, media_type=media_type, extent=location)
