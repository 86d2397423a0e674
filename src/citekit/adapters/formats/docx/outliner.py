"""Outlines Word documents by their headings, and by the tables and figures that have captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from citekit.adapters.formats.docx.annotations import notes_of
from citekit.adapters.formats.epub.outliner import toc_outline_items
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, one_line
from citekit.domain.extent import Extent
from citekit.domain.locations import Chapter
from citekit.domain.ports.reader import Book, Reader
from citekit.domain.progress import Progress
from citekit.domain.source import Source

EXHIBITS_LIMIT = 2000
"""Maximum number of tables and figures in a document that become nodes."""

OPENING_LOOK, OPENING_TITLE = 2000, 80
"""The number of characters in which a chapter without a heading is searched for its first line, and of the title made
from it.
"""

_NO_HEADINGS = "The document has no headings, so it is one chapter."


@frozen
class DocxOutliner:
    """Outlines Word documents, which `reader` reads as books."""

    reader: Reader

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. Captioned tables and figures are children of their sections."""
        progress(0, 1, "reading the document")
        book = self.reader.read(source.path)
        lengths = tuple(len(chapter.text) for chapter in book.chapters)
        found = [_named(each, book) for each in toc_outline_items(book)]
        outline_items: Sequence[OutlineItem] = [each for each in found if not _is_empty(each, book)] or found
        for exhibit in _exhibits(book):
            outline_items = _with(outline_items, exhibit)
        return Outline(
            title=book.title,
            extent=Extent(chapters=lengths),
            items=outline_items,
            facts={
                "chapter_count": len(lengths),
                "chapter_lengths": list(lengths),
                "language": book.language,
                "authors": list(book.authors),
            },
            notes=(*(() if book.contents else (_NO_HEADINGS,)), *notes_of(source.path)),
        )


def _named(outline_item: OutlineItem, book: Book) -> OutlineItem:
    """Return the item. If it was not made from a heading, its title is the first line of its chapter, or `Opening`."""
    location = outline_item.location
    chapter = book.chapters[location.number - 1] if isinstance(location, Chapter) else None
    if chapter is None or outline_item.title != chapter.name:
        return outline_item
    first = next((line for line in chapter.text[:OPENING_LOOK].split("\n") if line.strip()), "")
    return evolve(outline_item, title=one_line(first, OPENING_TITLE) or "Opening")


def _is_empty(outline_item: OutlineItem, book: Book) -> bool:
    """Return whether an item is a chapter without text, such as a picture before the first heading."""
    location = outline_item.location
    return (
        isinstance(location, Chapter)
        and location.chars is None
        and not any(chapter.text.strip() for chapter in book.chapters[location.number - 1 : location.last])
    )


def _exhibits(book: Book) -> Iterator[OutlineItem]:
    found = [(chapter, mark) for chapter in book.chapters for mark in chapter.marks if mark.kind in ("figure", "table")]
    for chapter, mark in found[:EXHIBITS_LIMIT]:
        yield OutlineItem(mark.title, mark.kind, Chapter(chapter.number, (mark.start, mark.end)))


def _with(outline_items: Sequence[OutlineItem], exhibit: OutlineItem) -> Sequence[OutlineItem]:
    """Return the outline items with `exhibit` added to the innermost item that contains it, if any."""
    for at, outline_item in enumerate(outline_items):
        if outline_item.type not in ("figure", "table") and _holds(outline_item, exhibit):
            deeper = _with(outline_item.children, exhibit)
            children = deeper if deeper is not outline_item.children else _in_order((*outline_item.children, exhibit))
            return (*outline_items[:at], evolve(outline_item, children=children), *outline_items[at + 1 :])
    return outline_items


def _holds(outline_item: OutlineItem, exhibit: OutlineItem) -> bool:
    return outline_item.location.contains(exhibit.location)


def _in_order(outline_items: Sequence[OutlineItem]) -> Sequence[OutlineItem]:
    return tuple(sorted(outline_items, key=_begins))


def _begins(outline_item: OutlineItem) -> tuple[int, int]:
    location = outline_item.location
    return (location.number, location.chars[0] if location.chars else 0) if isinstance(location, Chapter) else (0, 0)
