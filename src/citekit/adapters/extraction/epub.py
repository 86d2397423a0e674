"""Chapters of a book, or characters of one, as a self-contained HTML document, their text, or laid out on pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from citekit.adapters.drivers.files import writing
from citekit.adapters.extraction.epub_pages import write_pdf, write_png
from citekit.domain.errors import FormUnsupported, LocationOutside
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import BOOKS, Format
from citekit.domain.locations import Chapter, Location
from citekit.domain.ports.reader import Reader
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.scripts import seen
from citekit.domain.source import Source

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
