"""Outlines Word documents: the headings, and the tables and figures that have captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from citekit.adapters.formats.epub.outliner import contents_drafts
from citekit.adapters.formats.shared.outline import Outline, OutlineItem, one_line
from citekit.domain.extent import Extent
from citekit.domain.locations import Chapter
from citekit.domain.ports.reader import Book, Reader
from citekit.domain.progress import Progress
from citekit.domain.source import Source

EXHIBITS_LIMIT = 2000
"""Maximum number of tables and figures in a document that become nodes."""

OPENING_LOOK, OPENING_TITLE = 2000, 80
"""Characters to search for the first line of a chapter without a heading, and maximum length of the title made of it."""

_NO_HEADINGS = "The document has no headings, so it is one chapter."


@frozen
class DocxOutliner:
    """Outlines the documents that `reader` reads as books."""

    reader: Reader

    def outline(self, source: Source, progress: Progress) -> Outline:
        """Return the tree of headings with captioned tables and figures below them. Raises the same errors as
        `Reader.read`.
        """
        progress(0, 1, "reading the document")
        book = self.reader.read(source.path)
        lengths = tuple(len(chapter.text) for chapter in book.chapters)
        drafts: Sequence[OutlineItem] = [_named(draft, book) for draft in contents_drafts(book)]
        for exhibit in _exhibits(book):
            drafts = _with(drafts, exhibit)
        return Outline(
            title=book.title,
            bounds=Extent(chapters=lengths),
            items=drafts,
            facts={
                "chapter_count": len(lengths),
                "chapter_lengths": list(lengths),
                "language": book.language,
                "authors": list(book.authors),
            },
            notes=() if book.contents else (_NO_HEADINGS,),
        )


def _named(draft: OutlineItem, book: Book) -> OutlineItem:
    """Replace the generated title of a chapter without a heading by the first words of the chapter."""
    location = draft.location
    chapter = book.chapters[location.number - 1] if isinstance(location, Chapter) else None
    if chapter is None or draft.title != chapter.name:
        return draft
    first = next((line for line in chapter.text[:OPENING_LOOK].split("\n") if line.strip()), "")
    return evolve(draft, title=one_line(first, OPENING_TITLE) or f"Chapter {chapter.number}")


def _exhibits(book: Book) -> Iterator[OutlineItem]:
    found = [(chapter, mark) for chapter in book.chapters for mark in chapter.marks if mark.kind in ("figure", "table")]
    for chapter, mark in found[:EXHIBITS_LIMIT]:
        yield OutlineItem(mark.title, mark.kind, Chapter(chapter.number, (mark.start, mark.end)))


def _with(drafts: Sequence[OutlineItem], exhibit: OutlineItem) -> Sequence[OutlineItem]:
    """Insert `exhibit` below the innermost item that contains it; without such an item, return the items unchanged."""
    for at, draft in enumerate(drafts):
        if draft.type not in ("figure", "table") and _holds(draft, exhibit):
            deeper = _with(draft.children, exhibit)
            children = deeper if deeper is not draft.children else _in_order((*draft.children, exhibit))
            return (*drafts[:at], evolve(draft, children=children), *drafts[at + 1 :])
    return drafts


def _holds(draft: OutlineItem, exhibit: OutlineItem) -> bool:
    return draft.location.contains(exhibit.location)


def _in_order(drafts: Sequence[OutlineItem]) -> Sequence[OutlineItem]:
    return tuple(sorted(drafts, key=_begins))


def _begins(draft: OutlineItem) -> tuple[int, int]:
    location = draft.location
    return (location.number, location.chars[0] if location.chars else 0) if isinstance(location, Chapter) else (0, 0)
