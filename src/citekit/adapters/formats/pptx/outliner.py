"""Outlines presentations: sections, slides as pages, and tables, charts, and images as regions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from citekit.adapters.formats.pptx import presentation as driver
from citekit.adapters.formats.pptx.shapes import SlideShape, shapes
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.adapters.formats.shared.titles import is_confirmed, may_be_title, words_of, written_title
from citekit.adapters.libraries.office_package import opened_package
from citekit.domain.errors import SourceUnsupported
from citekit.domain.extent import Extent
from citekit.domain.locations import Pages
from citekit.domain.progress import Progress
from citekit.domain.source import Source
from citekit.domain.vocabulary import CHAPTER, NUMBER, PART, SECTION, any_of

if TYPE_CHECKING:
    from pptx.slide import Slide

NAMED_SLIDES = 20
"""The maximum number of slides with hidden text that a note lists."""

CONFIRMING_SLIDES = 2
"""The number of slides, from the first, that can confirm the title in the core properties."""

LEAST_AREA, LEAST_UNNAMED_AREA = 0.01, 0.08
"""The minimum fractions of a slide that an image must cover to become a node.

The first is for an image with a description or text. The second is for other images, which are often icons or clip art.
"""

LEAST_HEADERS, SLIDES_OF_HEADER = 2, 3
"""Section headers hold the slides after them only if at least `LEAST_HEADERS` headers are followed by other slides, and
if there are at least `SLIDES_OF_HEADER` slides for each header.
"""

HEADER_TEXTS, HEADER_LENGTH = 3, 200
"""The maximum number of texts, and of their characters, on a slide that is a section header because it prints the
number of a chapter.
"""

_LABEL = re.compile(
    rf"(?:{any_of(CHAPTER, PART, SECTION)})\s+(?:\d{{1,2}}|[ivxlc]{{1,7}}|[a-h]|{any_of(NUMBER)})[.:]?", re.IGNORECASE
)
"""Matches a text that is only the number of a chapter (`Chapter 3`)."""


@frozen
class PptxOutliner:
    """An outliner for presentations. A slide is a page; images, tables, and charts are its regions."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. Also raise `SourceUnsupported` if the file has no slides or more than `SLIDES_LIMIT`."""
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
    if not 0 < len(slides) <= driver.SLIDES_LIMIT:
        raise SourceUnsupported(
            f"{source.path.name} has {len(slides)} slides; a presentation must have 1 to {driver.SLIDES_LIMIT} to be mapped."
        )
    size = driver.slide_size(deck)
    repeated = driver.repeated_texts(slides, size)
    outline_items: list[OutlineItem] = []
    headers: list[bool] = []
    for number, slide in enumerate(slides, 1):
        progress(number - 1, len(slides), "reading the slides")
        label = _label(slide, size)
        outline_items.append(_labeled(_slide(slide, number, size, repeated), label))
        headers.append(bool(label) or driver.is_section_header(slide))
    hidden = [number for number, slide in enumerate(slides, 1) if driver.is_hidden(slide)]
    said = {"hidden_slides": hidden} if hidden else {}
    about = deck.core_properties if _has_core(deck) else None
    return Outline(
        title=_title(about.title if about else "", slides, size, repeated) or None,
        extent=Extent(pages=len(slides)),
        items=tuple(_sectioned(outline_items, headers, ids, named)),
        facts={"slide_size_emu": list(size), **said, **({"author": about.author} if about and about.author else {})},
        notes=("Pages are slides in presentation order, including hidden slides.", *_hidden_text_notes(slides, size)),
    )


def _hidden_text_notes(slides: Sequence[Any], size: tuple[int, int]) -> Iterator[str]:
    """Yield a note if slides contain hidden text."""
    words = {
        number: sum(len(each.text.split()) for each in shapes(slide, *size) if each.hidden)
        for number, slide in enumerate(slides, 1)
    }
    numbers = [number for number, count in words.items() if count]
    if numbers:
        named = ", ".join(map(str, numbers[:NAMED_SLIDES])) + (", and others" if len(numbers) > NAMED_SLIDES else "")
        count = sum(words.values())
        yield (
            f"Hidden text was found ({'slide' if len(numbers) == 1 else 'slides'} {named}): "
            f"{'1 word is' if count == 1 else f'{count} words are'} outside the slide, not legible, or in hidden or "
            "covered shapes. Titles and summaries leave this text out."
        )


def _has_core(deck: Any) -> bool:
    """Return whether the file has core properties; otherwise python-pptx would create some with today's date."""
    return any(each.reltype.endswith("/core-properties") for each in deck.part.package._rels.values())


def _sectioned(
    outline_items: Sequence[OutlineItem],
    headers: Sequence[bool],
    ids: Sequence[int],
    named: Sequence[tuple[str, list[int]]],
) -> Iterator[OutlineItem]:
    """Yield the slides, with adjacent slides of the same section below an item for the section.

    `headers` says which slides are section headers.
    """
    section_of = {slide: section for section, (_, slides) in enumerate(named) for slide in slides}
    slide_sections = (
        [section_of.get(each) for each in ids] if len(ids) == len(outline_items) else [None] * len(outline_items)
    )
    at = 0
    while at < len(outline_items):
        end = at + 1
        while end < len(outline_items) and slide_sections[end] == slide_sections[at]:
            end += 1
        section = slide_sections[at]
        slides = tuple(_headed(outline_items[at:end], headers[at:end], at + 1))
        if section is None:
            yield from slides
        else:
            title = named[section][0] or outline_items[at].title
            yield OutlineItem(title, "section", Pages.span(at + 1, end), children=slides)
        at = end


def _headed(outline_items: Sequence[OutlineItem], headers: Sequence[bool], first: int) -> Iterator[OutlineItem]:
    """Yield adjacent slides, the first of which is slide `first`, with those that follow a section header below it."""
    count = len(outline_items)
    begins = [at for at, is_header in enumerate(headers) if is_header]
    holders = [at for at in begins if at + 1 < count and not headers[at + 1]]
    if len(holders) < LEAST_HEADERS or len(begins) * SLIDES_OF_HEADER > count:
        yield from outline_items
        return
    yield from outline_items[: begins[0]]
    for at, end in pairwise((*begins, count)):
        header = outline_items[at]
        if end == at + 1:
            yield header
        else:
            children = (*header.children, *outline_items[at + 1 : end])
            yield evolve(header, type="section", location=Pages.span(first + at, first + end - 1), children=children)


def _label(slide: Slide, size: tuple[int, int]) -> str:
    """Return the number of a chapter (`Chapter 3`) that a slide with little else prints, or ""."""
    found = [each for each in shapes(slide, *size, as_seen=True) if not each.hidden and each.kind != "running"]
    texts = [" ".join(each.text.split()) for each in found if each.text.strip()]
    if len(texts) > HEADER_TEXTS or sum(map(len, texts)) > HEADER_LENGTH:
        return ""
    return next((text.rstrip(".:") for text in texts if _LABEL.fullmatch(text)), "")


def _labeled(outline_item: OutlineItem, label: str) -> OutlineItem:
    """Return the outline item of a slide with the number of its chapter at the beginning of its title."""
    title = outline_item.title
    return outline_item if not label or title.startswith(label) else evolve(outline_item, title=f"{label}: {title}")


def _title(written: str, slides: Sequence[Slide], size: tuple[int, int], repeated: Set[str]) -> str:
    """Return the title in the core properties if the first slides confirm it, or else the title of the first slide if
    that looks like a title, or else the title in the core properties.

    The title of the first slide is its largest text, or else its largest text that is not in `repeated`.
    """
    title = written_title(written)
    shown = [each for slide in slides[:CONFIRMING_SLIDES] for each in shapes(slide, *size) if not each.hidden]
    if title and is_confirmed(title, {word for each in shown for word in words_of(each.text)}):
        return title
    printed = (driver.title_of(slides[0], size), driver.title_of(slides[0], size, repeated))
    return next(filter(may_be_title, printed), title)


def _slide(slide: Slide, number: int, size: tuple[int, int], repeated: Set[str]) -> OutlineItem:
    title = driver.title_of(slide, size, repeated)
    found = [each for each in shapes(slide, *size, as_seen=True) if not each.hidden]
    texts = [" ".join(each.text.split()) for each in found if each.kind == "text" and each.largest not in repeated]
    words = " ".join(texts)
    notes = " ".join(driver.notes_text(slide, as_seen=True).split())
    body = " ".join(words.replace(title, "", 1).split())
    parts = ("Hidden slide.", body[:180] if notes else body, f"Notes: {notes}" if notes else "")
    return OutlineItem(
        title or f"Slide {number}",
        "slide",
        Pages((number,)),
        " ".join(filter(None, parts if driver.is_hidden(slide) else parts[1:])) or None,
        tuple(_exhibits(found, number)),
    )


def _exhibits(found: Sequence[SlideShape], number: int) -> Iterator[OutlineItem]:
    """Yield an outline item for each table, chart, and sufficiently large image on slide `number`."""
    for shape in found:
        if shape.kind in ("text", "running") or shape.box is None:
            continue
        x1, y1, x2, y2 = shape.box.corners
        least = LEAST_AREA if shape.title or shape.text.strip() else LEAST_UNNAMED_AREA
        if shape.kind != "figure" or (x2 - x1) * (y2 - y1) >= least:
            outline_item = OutlineItem(shape.title or shape.kind.capitalize(), shape.kind, Pages((number,), shape.box))
            yield evolve(outline_item, summary=" ".join(shape.text.split()) or None)
