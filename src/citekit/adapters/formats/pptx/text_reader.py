"""Reads the text of presentations slide by slide."""

from __future__ import annotations

from typing import Any

from citekit.adapters.formats.pptx import presentation as driver
from citekit.adapters.formats.pptx.shapes import shapes
from citekit.adapters.formats.shared.office_metadata import core_facts
from citekit.adapters.libraries.office_package import opened_package
from citekit.domain.errors import SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.hidden import with_hidden
from citekit.domain.quotes.superscripts import CUT
from citekit.domain.source import Source


class SlidesTextReader:
    """Reads presentations.

    Each slide, including hidden ones, is a unit; its speaker notes follow the text on the slide. With `as_seen`, the
    complete text of a slide that hides some of it follows the visible text (see `domain.quotes.hidden`), raised and
    lowered numbers become superscripts and subscripts, and `CUT` replaces the heading of the notes.
    """

    def __init__(self, *, as_seen: bool = False) -> None:
        self._as_seen = as_seen
        self._parted = [CUT] if as_seen else [""]
        self._label = "" if as_seen else "Notes: "

    def supports(self, format: Format) -> bool:
        """Return whether `format` is PPTX."""
        return format.name == "pptx"

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """See `TextReader.read`. Also raise `SourceUnsupported` if there are more than `SLIDES_LIMIT` slides."""
        with opened_package(source.path) as package:
            deck = driver.presentation(package)
            with driver.translated(source.path.name):
                slides = list(deck.slides)
                if len(slides) > driver.SLIDES_LIMIT:
                    raise SourceUnsupported(
                        f"{source.path.name} has more than {driver.SLIDES_LIMIT} slides; split it into smaller presentations."
                    )
                size = driver.slide_size(deck)
                texts = []
                for number, slide in enumerate(slides):
                    progress(number, len(slides), "reading slides")
                    texts.append(self._text(slide, size))
        return ExtractedText.joined(UnitKind.PAGE, texts, "\n\n")

    def facts(self, source: Source) -> BookFacts:
        """See `TextReader.facts`. The facts are the title, authors, and language in the core properties."""
        return core_facts(source.path)

    def _text(self, slide: Any, size: tuple[int, int]) -> str:
        notes = driver.notes_text(slide, as_seen=self._as_seen)
        below = [*self._parted, f"{self._label}{notes}"] if notes else []
        found = [each for each in shapes(slide, *size, as_seen=self._as_seen) if each.text or each.title]
        whole = "\n".join([*(each.text or each.title for each in found), *below])
        if not self._as_seen:
            return whole
        shown = [] if driver.is_hidden(slide) else [each.seen for each in found if each.seen]
        return with_hidden("\n".join([*shown, *below]), whole)
