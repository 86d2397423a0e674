"""Presentations: sections of the deck, slides as pages, and what stands on a slide with its region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import evolve, frozen

from citekit.adapters.formats.pptx import presentation as driver
from citekit.adapters.formats.pptx.shapes import Placed, shapes
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.adapters.libraries.office_package import opened_package
from citekit.domain.errors import SourceUnsupported
from citekit.domain.extent import Extent
from citekit.domain.locations import Pages
from citekit.domain.locations.pages import PAGES_LIMIT
from citekit.domain.progress import Progress
from citekit.domain.source import Source

LEAST_AREA = 0.01
"""Part of a slide that a picture must cover to be a node of its own: smaller ones are logos and bullets."""


@frozen
class PptxOutliner:
    """Maps presentations. A slide is a page; a picture, table or chart on it is a node with a region of that page."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """The slides, below the sections that the deck has. Raises `SourceUnsupported`, `SourceUnreadable`."""
        progress(0, 1, "reading the slides")
        with opened_package(source.path) as package:
            deck = driver.presentation(package)
            with driver.translated(source.path.name):
                slides = list(deck.slides)
                ids = driver.slide_ids(deck)
                named = driver.sections(package)
                return _outline(source, deck, slides, ids, named, progress)


def _outline(
    source: Source,
    deck: Any,
    slides: Sequence[Any],
    ids: Sequence[int],
    named: Sequence[tuple[str, list[int]]],
    progress: Progress,
) -> Outline:
    if not 0 < len(slides) <= PAGES_LIMIT:
        raise SourceUnsupported(f"{source.path.name} is a presentation of {len(slides)} slides: nothing can be mapped.")
    size = int(deck.slide_width or 9144000), int(deck.slide_height or 6858000)
    drafts = []
    for number, slide in enumerate(slides, 1):
        progress(number - 1, len(slides), "reading the slides")
        drafts.append(_slide(slide, number, size))
    hidden = [number for number, slide in enumerate(slides, 1) if driver.is_hidden(slide)]
    said = {"hidden_slides": hidden} if hidden else {}
    about = deck.core_properties if _has_core(deck) else None
    return Outline(
        title=(about.title or None) if about else None,
        bounds=Extent(pages=len(slides)),
        items=tuple(_sectioned(drafts, ids, named)),
        facts={"slide_size_emu": list(size), **said, **({"author": about.author} if about and about.author else {})},
        notes=("Pages are slides, in the order of the deck, hidden ones included.",),
    )


def _has_core(deck: Any) -> bool:
    """Whether the file says something of itself; python-pptx would make it up, with today's date."""
    return any(each.reltype.endswith("/core-properties") for each in deck.part.package._rels.values())


def _sectioned(
    drafts: Sequence[OutlineItem], ids: Sequence[int], named: Sequence[tuple[str, list[int]]]
) -> Iterator[OutlineItem]:
    """The slides below their sections; slides without a section are next to them. Sections hold neighbouring slides."""
    section_of = {slide: place for place, (_, slides) in enumerate(named) for slide in slides}
    places = [section_of.get(each) for each in ids] if len(ids) == len(drafts) else [None] * len(drafts)
    at = 0
    while at < len(drafts):
        end = at + 1
        while end < len(drafts) and places[end] == places[at]:
            end += 1
        place = places[at]
        if place is None:
            yield from drafts[at:end]
        else:
            title = named[place][0] or drafts[at].title
            yield OutlineItem(title, "section", Pages.span(at + 1, end), children=drafts[at:end])
        at = end


def _slide(slide: Any, number: int, size: tuple[int, int]) -> OutlineItem:
    title = driver.title_of(slide)
    found = shapes(slide, *size, as_seen=True)
    words = " ".join(" ".join(each.text.split()) for each in found if each.kind == "text")
    notes = " ".join(driver.notes_text(slide, as_seen=True).split())
    body = words.removeprefix(title).strip()
    told = ("Hidden slide.", body[:180] if notes else body, f"Notes: {notes}" if notes else "")
    return OutlineItem(
        title or f"Slide {number}",
        "slide",
        Pages((number,)),
        " ".join(filter(None, told if driver.is_hidden(slide) else told[1:])) or None,
        tuple(_exhibits(found, number)),
    )


def _exhibits(found: Sequence[Placed], number: int) -> Iterator[OutlineItem]:
    """A draft for every picture, table and chart; those without a title of their own are titled by their kind."""
    for shape in found:
        if shape.kind in ("text", "running") or shape.box is None:
            continue
        x1, y1, x2, y2 = shape.box.corners
        if shape.kind != "figure" or (x2 - x1) * (y2 - y1) >= LEAST_AREA:
            draft = OutlineItem(shape.title or shape.kind.capitalize(), shape.kind, Pages((number,), shape.box))
            yield evolve(draft, summary=" ".join(shape.text.split()) or None)
