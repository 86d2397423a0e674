"""Extracts lines of HTML as a document that is safe to open, and lines of XML without any change.

Browsers run scripts, submit forms, and load frames and remote images in HTML and XML (including SVG). `Resolve`
therefore saves exact copies (the source form, and for XML also the native form) as plain text with the suffix `.txt`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve, frozen

from citekit.adapters.formats.shared.line_extractor import TextExtractor
from citekit.adapters.system.files import writing
from citekit.domain.errors import FormUnsupported
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Lines, Location
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

_NOTE = (
    "Scripts, styles, forms, frames, and everything that is loaded from elsewhere are omitted; "
    "request the source form for the exact bytes."
)
_TEXT_ONLY = "The file could not be parsed completely, so its elements are omitted, and only the text is included."
_FORMS = (Form.NATIVE, Form.HTML)


HtmlPart = Callable[[Path, Lines, Progress], tuple[str, bool]]
"""Returns the document for some lines of an HTML file, and whether it includes their elements."""


@frozen
class HtmlLinesExtractor:
    """Extracts lines of HTML as a self-contained document in which nothing is executed or loaded."""

    part: HtmlPart

    identity = ExtractorIdentity("html-lines", "1")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`. Lines of HTML files have the native form and HTML, which are identical."""
        return _FORMS if format.name == "html" and isinstance(location, Lines) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`. The result is an HTML document that is safe to open."""
        if not isinstance(location, Lines) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(
                f"Lines of HTML are available in the forms native, html, source, and text, but not {options.form.value}."
            )
        markup, has_elements = self.part(source.path, location, progress)
        with writing(target):
            target.write_bytes(markup.encode("utf-8", "replace"))
        notes = (_NOTE,) if has_elements else (_NOTE, _TEXT_ONLY)
        return Extraction(suffix=".html", media_type="text/html", extent=location, notes=notes)


@frozen
class XmlLinesExtractor:
    """Extracts exact copies of lines of XML using the extractor `text`."""

    text: TextExtractor

    identity = ExtractorIdentity("xml-lines", "1")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """See `Extractor.forms`. Lines of XML files have the native form."""
        return (Form.NATIVE,) if format.name == "xml" and isinstance(location, Lines) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`. The lines are copied byte for byte."""
        if options.form not in self.forms(source.format, location):
            raise FormUnsupported(
                f"Lines of XML are available in the forms native, source, and text, but not {options.form.value}."
            )
        return self.text.extract(source, location, evolve(options, form=Form.SOURCE), target, progress)
