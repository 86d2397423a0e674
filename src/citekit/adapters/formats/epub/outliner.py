"""Outlines reflowable books (EPUB, MOBI, FB2) by the table of contents and the headings below its entries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from citekit.adapters.formats.epub.outline_items import toc_outline_items
from citekit.adapters.formats.shared.outline import Outline
from citekit.adapters.formats.shared.titles import is_mistake, may_be_title
from citekit.domain.extent import Extent
from citekit.domain.ports.reader import Book, Reader
from citekit.domain.progress import Progress
from citekit.domain.source import Source
from citekit.domain.vocabulary import CHAPTER, PART, SECTION, any_of

__all__ = ["EpubOutliner", "toc_outline_items"]

FIGURES_LIMIT = 1000
"""Maximum number of captions listed in the metadata."""

LANDMARKS_LIMIT = 100
"""Maximum number of landmarks listed in the metadata."""

PAGES_LIMIT = 5000
"""Maximum number of printed pages listed in the metadata."""

HEADINGS = 4
"""The number of headings, from the first, among which the title of a book without one is searched."""

_NUMBERED = re.compile(rf"(?:{any_of(CHAPTER, PART, SECTION)})\b|\W*\d", re.IGNORECASE)
"""Matches the headings of numbered parts of a book."""

_NO_CONTENTS = "The book has no usable table of contents, so its nodes are its headings and its chapters."


class EpubOutliner:
    """Outlines the reflowable books that `reader` reads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. Chapters that no table of contents entry refers to become nodes, too.

        Captions, landmarks, and pages of the printed edition are metadata, so that each character belongs to only one
        node without children.
        """
        progress(0, 1, "reading the book")
        book = self._reader.read(source.path)
        lengths = tuple(len(chapter.text) for chapter in book.chapters)
        return Outline(
            title=_title(book),
            extent=Extent(chapters=lengths),
            items=toc_outline_items(book),
            facts={
                "chapter_count": len(lengths),
                "chapter_lengths": list(lengths),
                "language": book.language,
                "authors": list(book.authors),
                "identifier": book.identifier,
                **_facts("figures", islice(_captions(book), FIGURES_LIMIT)),
                **_facts("page_breaks", islice(_page_breaks(book), PAGES_LIMIT)),
                **_facts("landmarks", islice(_landmarks(book), LANDMARKS_LIMIT)),
            },
            notes=(*book.remarks, *(() if book.contents else (_NO_CONTENTS,))),
        )


def _title(book: Book) -> str | None:
    """Return the title in the metadata of a book. If it is missing or a placeholder, return the first of the first
    `HEADINGS` headings that may be the title, or None.
    """
    if book.title and not is_mistake(book.title):
        return book.title
    first = islice(
        (mark.title for chapter in book.chapters for mark in chapter.marks if mark.kind == "heading"), HEADINGS
    )
    return next((title for title in first if may_be_title(title) and not _NUMBERED.match(title)), None)


def _facts(name: str, found: Iterator[dict[str, object]]) -> dict[str, object]:
    listed = list(found)
    return {name: listed} if listed else {}


def _captions(book: Book) -> Iterator[dict[str, object]]:
    """Yield the title, the chapter, and the character range of each figure and table that has a caption."""
    for chapter in book.chapters:
        for mark in chapter.marks:
            if mark.kind in ("figure", "table"):
                chars = [mark.start, mark.end]
                yield {"type": mark.kind, "title": mark.title, "chapter": chapter.number, "chars": chars}


def _landmarks(book: Book) -> Iterator[dict[str, object]]:
    for each in book.landmarks:
        yield {"type": each.type, "chapter": each.chapter, "character": each.offset}


def _page_breaks(book: Book) -> Iterator[dict[str, object]]:
    for each in book.page_breaks:
        yield {"label": each.label, "chapter": each.chapter, "character": each.offset}
