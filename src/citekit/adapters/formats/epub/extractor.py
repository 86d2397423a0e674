"""Extracts chapters of a book, or characters of one, as a self-contained HTML document, as text, or laid out on pages.

A reflowable book has pages only in evidence that is a PDF or an image.
"""

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
from citekit.domain.quotes.superscripts import seen
from citekit.domain.source import Source

PAPER = (420, 595)
"""Width and height in points: A5, upright."""

FONT_SIZE = 11

WORD_LIMIT = 20_000
"""Characters, as HTML writes them, of the longest word that is laid out: the time of it grows with their square."""

_WORD = re.compile(rf"[^\s<>]{{{WORD_LIMIT}}}")
_TAG = re.compile(r"<[^>]*>")

_NOTE = "The book has no pages of its own: these were laid out for this file, on A5."


def write_pdf(html: str, location: Chapter, target: Path) -> Extraction:
    """Write the document `html` as a PDF."""
    with _laid_out(html, target) as document, writing(target):
        target.write_bytes(document.tobytes(garbage=3, deflate=True, use_objstms=1, no_new_id=True))
    return Extraction(suffix=".pdf", media_type="application/pdf", extent=location, notes=(_NOTE,))


def write_png(html: str, location: Chapter, target: Path, progress: Progress) -> Extraction:
    """Write the document `html` as one picture. Raises `FormUnsupported` where it takes too many pages."""
    with _laid_out(html, target) as document:
        if document.page_count > PAGES_LIMIT:
            raise FormUnsupported(
                f"Chapter {location.number} takes {document.page_count} pages and a picture shows at most {PAGES_LIMIT}: "
                "ask for some of its characters, or for html, pdf or text."
            )
        drawn = write_picture(document, Pages.span(1, document.page_count), target, progress)
    return Extraction(suffix=".png", media_type="image/png", extent=location, notes=(_NOTE, *drawn.notes))


@contextmanager
def _laid_out(html: str, target: Path) -> Iterator[Document]:
    if _WORD.search(_TAG.sub(" ", html)):
        raise FormUnsupported("There is a word in it that fits on no page: ask for html or text.")
    with exclusive() as pymupdf, translated(target, ExtractionFailed):
        flowing = pymupdf.open(stream=html.encode(), filetype="html")
        flowing.layout(width=PAPER[0], height=PAPER[1], fontsize=FONT_SIZE)
        document = pymupdf.open("pdf", flowing.convert_to_pdf())
        document.subset_fonts()
        yield document


CHAPTERS_LIMIT = 2000
"""Chapters of one document."""

_FORMS = (Form.NATIVE, Form.HTML, Form.TEXT, Form.PDF, Form.PNG)


class EpubExtractor:
    """Cuts books that `reader` reads. Text is UTF-8, chapters are joined by line feeds.

    `seen` reads the same characters at the same places, those that stand higher or lower as superscripts and subscripts,
    and `UNSEEN` for those that nobody sees: what is left without the latter is the text. Without `seen`, text is exactly
    the characters of `reader`.
    """

    identity = ExtractorIdentity("epub", "5")

    def __init__(self, reader: Reader, seen: Reader | None = None) -> None:
        self._reader, self._seen = reader, seen or reader

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """HTML (the native form), text, PDF and PNG for chapters of an EPUB, MOBI or FB2, none for anything else."""
        return _FORMS if format.name in BOOKS and isinstance(location, Chapter) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write those chapters to `target`; raises as the port says."""
        if not isinstance(location, Chapter) or options.form not in _FORMS:
            raise FormUnsupported(f"Chapters of a book are cut as html, text, pdf or png, not as {options.form.value}.")
        match options.form:
            case Form.TEXT:
                return _written(self._text(source, location), location, ".txt", "text/plain; charset=utf-8", target)
            case Form.PDF:
                return write_pdf(self._html(source, location, progress), location, target)
            case Form.PNG:
                return write_png(self._html(source, location, progress), location, target, progress)
            case _:
                return _written(self._html(source, location, progress), location, ".html", "text/html", target)

    def _text(self, source: Source, location: Chapter) -> str:
        texts = self._seen.texts(source.path, location.number, last=location.last)
        if location.chars is None:
            return seen("\n".join(texts))
        start, end = location.chars
        if end > len(texts[0]):
            raise LocationOutside(f"character {end} is beyond the end: the chapter has {len(texts[0])} characters")
        return seen(texts[0][start:end])

    def _html(self, source: Source, location: Chapter, progress: Progress) -> str:
        count = location.last - location.number + 1
        if count > CHAPTERS_LIMIT:
            raise LocationOutside(f"{count} chapters are more than one document takes ({CHAPTERS_LIMIT}).")
        return self._reader.html(source.path, location.number, location.chars, last=location.last, progress=progress)


def _written(content: str, location: Chapter, suffix: str, media_type: str, target: Path) -> Extraction:
    with writing(target):
        target.write_bytes(content.encode())
    return Extraction(suffix=suffix, media_type=media_type, extent=location)
