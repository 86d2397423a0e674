"""Chapters of a book, or characters of one, as a self-contained HTML document or as their text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from citekit.domain.errors import ExtractionFailed, FormUnsupported, LocationOutside
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Chapter, Location
from citekit.domain.ports.reader import Reader
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

CHAPTERS_LIMIT = 2000
"""Chapters of one document."""

_BODY = re.compile(r"<body>\n?(.*)\n?</body>", re.DOTALL)
_FORMS = (Form.NATIVE, Form.HTML, Form.TEXT)


class EpubExtractor:
    """Cuts books that `reader` reads. Text is UTF-8, exactly the characters; chapters are joined by line feeds."""

    identity = ExtractorIdentity("epub", "1")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """HTML (the native form) and text for chapters of an EPUB, none for anything else."""
        return _FORMS if format.name == "epub" and isinstance(location, Chapter) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write those chapters to `target`; raises as the port says."""
        if not isinstance(location, Chapter) or options.form not in _FORMS:
            raise FormUnsupported(f"Chapters of a book are cut as HTML or text, not as {options.form.value}.")
        if options.form is Form.TEXT:
            content, suffix, media_type = self._text(source, location), ".txt", "text/plain; charset=utf-8"
        else:
            content, suffix, media_type = self._html(source, location, progress), ".html", "text/html"
        try:
            target.write_bytes(content.encode())
        except OSError as error:
            raise ExtractionFailed(f"The chapter cannot be written to {target}: {error.strerror or error}.") from error
        return Extraction(suffix=suffix, media_type=media_type, extent=location)

    def _text(self, source: Source, location: Chapter) -> str:
        chapters = self._reader.read(source.path).chapters
        if location.last > len(chapters):
            raise LocationOutside(f"chapter {location.last} is beyond the end: the book has {len(chapters)} chapters")
        texts = [chapter.text for chapter in chapters[location.number - 1 : location.last]]
        if location.chars is None:
            return "\n".join(texts)
        start, end = location.chars
        if end > len(texts[0]):
            raise LocationOutside(f"character {end} is beyond the end: the chapter has {len(texts[0])} characters")
        return texts[0][start:end]

    def _html(self, source: Source, location: Chapter, progress: Progress) -> str:
        count = location.last - location.number + 1
        if count > CHAPTERS_LIMIT:
            raise LocationOutside(f"{count} chapters are more than one document takes ({CHAPTERS_LIMIT}).")
        first = self._reader.html(source.path, location.number, location.chars)
        if count == 1:
            return first
        self._reader.html(source.path, location.last)
        bodies = []
        for number in range(location.number, location.last + 1):
            progress(number - location.number, count, "cutting chapters")
            bodies.append(f"<section>\n{_body(self._reader.html(source.path, number))}\n</section>")
        return _BODY.sub(lambda _: "<body>\n" + "\n".join(bodies) + "\n</body>", first, count=1)


def _body(document: str) -> str:
    found = _BODY.search(document)
    return found[1] if found else ""
