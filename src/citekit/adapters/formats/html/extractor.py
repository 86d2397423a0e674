"""Lines of HTML as a document that is safe to open, and lines of XML byte for byte.

A browser runs what HTML and XML hold: scripts, frames, forms, remote pictures, in SVG as well. So the exact bytes of such
lines (the source form; of XML the native form, too) are plain text with the suffix `.txt`, as `Resolve` names them.
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
    "Scripts, styles, forms, frames and everything that loads from elsewhere is left out: "
    "ask for the source form for the exact bytes."
)
_TEXT_ONLY = "The file is too large or nested too deep to keep its elements: this is its text."
_FORMS = (Form.NATIVE, Form.HTML)


HtmlPart = Callable[[Path, Lines, Progress], tuple[str, bool]]
"""Gives the document for some lines of an HTML file, and whether it keeps their elements."""


@frozen
class HtmlLinesExtractor:
    """Writes lines of HTML, the native form, as a self-contained document without anything that runs or loads."""

    part: HtmlPart

    identity = ExtractorIdentity("html-lines", "1")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """The native form and HTML, which are the same, for lines of an HTML file."""
        return _FORMS if format.name == "html" and isinstance(location, Lines) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write those lines to `target`; raises as the port says."""
        if not isinstance(location, Lines) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(f"Lines of HTML are cut as html, source or text, not as {options.form.value}.")
        markup, has_elements = self.part(source.path, location, progress)
        with writing(target):
            target.write_bytes(markup.encode("utf-8", "replace"))
        notes = (_NOTE,) if has_elements else (_NOTE, _TEXT_ONLY)
        return Extraction(suffix=".html", media_type="text/html", extent=location, notes=notes)


@frozen
class XmlLinesExtractor:
    """Cuts lines of XML byte for byte, as `text` does; a kind of its own because its evidence has another media type."""

    text: TextExtractor

    identity = ExtractorIdentity("xml-lines", "1")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """The native form of lines of an XML file."""
        return (Form.NATIVE,) if format.name == "xml" and isinstance(location, Lines) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write those lines to `target`; raises as the port says."""
        if options.form not in self.forms(source.format, location):
            raise FormUnsupported(f"Lines of XML are cut as they are, not as {options.form.value}.")
        return self.text.extract(source, location, evolve(options, form=Form.SOURCE), target, progress)
