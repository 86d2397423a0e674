"""Slides of a presentation as a smaller presentation, or as their text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from citekit.adapters.formats.pptx import presentation as driver
from citekit.adapters.formats.pptx.deck import write_deck
from citekit.adapters.formats.pptx.shapes import shapes
from citekit.adapters.libraries.office_package import opened_package
from citekit.adapters.system.files import writing
from citekit.adapters.system.installed_packages import version_of
from citekit.domain.errors import FormUnsupported, LocationOutside
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.extent import Extent
from citekit.domain.formats import Format
from citekit.domain.locations import Location, Pages
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

RECIPE = "2"
"""Changes whenever this package would make other bytes of the same request."""

_FORMS = (Form.NATIVE, Form.TEXT)
_WHOLE = "A slide is not cut into pieces: the region {region} is on the slide that is given as a whole."


@frozen
class SlideExtractor:
    """Slides as a presentation that holds only them and what they show (NATIVE), or as their text and notes (TEXT)."""

    @property
    def identity(self) -> ExtractorIdentity:
        """The recipe, and the library that tells the text."""
        return ExtractorIdentity("office-slides", f"{RECIPE}-{version_of('pptx', 'python-pptx')}")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """PPTX and text of any slides of a presentation."""
        return _FORMS if format.name == "pptx" and isinstance(location, Pages) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write those slides to `target`; see the port for what is raised."""
        if not isinstance(location, Pages) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(f"Slides are cut as pptx (native) or text, not as {options.form.value}.")
        progress(0, 1, "cutting slides")
        with opened_package(source.path) as package:
            if options.form is Form.TEXT:
                return _written(_text(driver.presentation(package), location, source.path.name), location, target)
            write_deck(package, location, target, progress)
        kind = source.format.media_type
        notes = () if location.region is None else (_WHOLE.format(region=location.region.corners),)
        return Extraction(suffix=".pptx", media_type=kind, extent=Pages(location.numbers), notes=notes)


def check_inside(location: Pages, count: int) -> None:
    """Raises `LocationOutside` where some of the slides do not exist."""
    if location.clamp(Extent(pages=count)) != location:
        raise LocationOutside(f"slide {location.numbers[-1]} is beyond the end: the presentation has {count} slides")


def _text(deck: Any, location: Pages, name: str) -> str:
    with driver.translated(name):
        slides = list(deck.slides)
        check_inside(location, len(slides))
        size = int(deck.slide_width or 9144000), int(deck.slide_height or 6858000)
        return "\n\n".join(_slide_text(slides[number - 1], location, size) for number in location.numbers) + "\n"


def _slide_text(slide: Any, location: Pages, size: tuple[int, int]) -> str:
    """The text of a slide with its notes, or of what overlaps the region without them."""
    found = shapes(slide, *size, as_seen=True)
    region = location.region
    if region is not None:
        return "\n".join(
            each.text or each.title
            for each in found
            if each.box and each.box.overlaps(region) and (each.text or each.title)
        )
    notes = driver.notes_text(slide, as_seen=True)
    words = [each.text or each.title for each in found if each.text or each.title]
    return "\n".join([*words, *(["", f"Notes: {notes}"] if notes else [])])


def _written(text: str, location: Pages, target: Path) -> Extraction:
    with writing(target):
        target.write_bytes(text.encode())
    return Extraction(suffix=".txt", media_type="text/plain; charset=utf-8", extent=location)
