"""The text of a file in which titles are looked for, by the way its places are counted."""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.drivers.text_file import open_text
from citekit.adapters.mapping.model.chapters import ChapterScale
from citekit.adapters.mapping.model.nearby import (
    CuesNearby,
    Marks,
    Nearby,
    PagesNearby,
    RowsNearby,
    markup_line,
)
from citekit.adapters.mapping.model.pieces import View
from citekit.adapters.mapping.model.scales import Scale
from citekit.adapters.mapping.model.title_words import text_line
from citekit.adapters.mapping.model.view_media import cues_of
from citekit.domain.ports.reader import Book
from citekit.domain.resource_map import ResourceMap

_MARKUP = frozenset({"html", "xml", "svg", "notebook", "json", "jsonl"})
"""Formats whose lines hold tags or escapes next to words."""

_SPOKEN = frozenset({"subtitles", "log"})
"""Texts whose parts have no headings: a title is made of the words of all of the part."""


def text_nearby(view: View, pages: Sequence[Sequence[str]], book: Book | None) -> Nearby | None:
    """The text of the file that `view` shows; None if it has none. `pages` are the lines of its pages, if it has pages."""
    marks = Marks([(float(place), text_line(title)) for title, place in marks_of(view.local, view.scale)])
    if book is not None and isinstance(view.scale, ChapterScale):
        return RowsNearby(rows=[text_line(text) for text in _paragraphs(book, view.scale)], marks=marks)
    if view.scale.unit == "page":
        return PagesNearby(pages=[[text_line(line) for line in page] for page in pages], marks=marks)
    if view.scale.unit == "line":
        as_line = markup_line if view.source.format.name in _MARKUP else text_line
        rows = [as_line(line) for line in open_text(view.source.path, view.progress).lines(view.progress)]
        return RowsNearby(rows=rows, marks=marks, whole=view.source.format.name in _SPOKEN)
    if view.scale.unit == "second":
        cues = [(cue.start, text_line(cue.text)) for cue in cues_of(view)]
        return CuesNearby(cues=cues, marks=marks) if cues else None
    return None


def marks_of(known: ResourceMap, scale: Scale) -> list[tuple[str, int]]:
    """The titles of the local map with the page, line, paragraph, or second where they begin."""
    places = ((node.title, scale.placed(node.location)) for node in known.walk())
    return [(title, int(place[0])) for title, place in places if place is not None]


def _paragraphs(book: Book, scale: ChapterScale) -> list[str]:
    return [
        chapter.text[start:end]
        for chapter, places in zip(book.chapters, scale.paragraphs, strict=True)
        for start, end in places
    ]
