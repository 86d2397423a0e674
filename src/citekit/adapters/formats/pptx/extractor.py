"""Extracts slides of a presentation as a smaller presentation or as text."""

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

RECIPE = "5"
"""The version of the extraction. It changes whenever the same request would produce different bytes."""

_FORMS = (Form.NATIVE, Form.TEXT)
_WHOLE = "Slides are extracted whole: the region {region} is on the extracted slide."

_INERT = (
    "Some content was left out, because it could load something or run a program: external pictures or media, embedded "
    "objects, controls, or links to programs or files."
)


@frozen
class SlideExtractor:
    """An extractor of slides as a smaller presentation (NATIVE), or of their text and notes (TEXT)."""

    @property
    def identity(self) -> ExtractorIdentity:
        """The extractor's name with the versions of its recipe and of python-pptx."""
        return ExtractorIdentity("office-slides", f"{RECIPE}-{version_of('pptx', 'python-pptx')}")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """Return NATIVE (PPTX) and TEXT for slides of a presentation, and no forms for anything else."""
        return _FORMS if format.name == "pptx" and isinstance(location, Pages) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`. NATIVE evidence contains whole slides, even if `location` has a region."""
        if not isinstance(location, Pages) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(f"Slides are available in the forms native and text, but not {options.form.value}.")
        progress(0, 1, "extracting the slides")
        with opened_package(source.path) as package:
            if options.form is Form.TEXT:
                return _written(_text(driver.presentation(package), location, source.path.name), location, target)
            was_active = write_deck(package, location, target, progress)
        kind = source.format.media_type
        notes = [_WHOLE.format(region=location.region.corners)] if location.region else []
        notes += [_INERT] if was_active else []
        return Extraction(suffix=".pptx", media_type=kind, extent=Pages(location.numbers), notes=notes)


def check_inside(location: Pages, count: int) -> None:
    """Raise `LocationOutside` if `location` names a slide beyond the `count` slides of the presentation."""
    if location.clamp(Extent(pages=count)) != location:
        raise LocationOutside.beyond("slide", location.numbers[-1], "presentation", count)


def _text(deck: Any, location: Pages, name: str) -> str:
    with driver.translated(name):
        slides = list(deck.slides)
        check_inside(location, len(slides))
        size = int(deck.slide_width or 9144000), int(deck.slide_height or 6858000)
        return "\n\n".join(_slide_text(slides[number - 1], location, size) for number in location.numbers) + "\n"


def _slide_text(slide: Any, location: Pages, size: tuple[int, int]) -> str:
    """Return the text of a slide and its notes, or only of the shapes that overlap the region."""
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
