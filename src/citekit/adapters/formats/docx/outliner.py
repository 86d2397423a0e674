"""Word documents: the structure of a book, and its tables and figures with a caption as nodes."""

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
"""Tables and figures of one document that become nodes."""

OPENING_LOOK, OPENING_TITLE = 2000, 80
"""Characters of a chapter without a heading that are looked at, and that become its title."""

_NO_HEADINGS = "The document has no headings: it is one chapter."


@frozen
class DocxOutliner:
    """Maps documents that `reader` reads as books."""

    reader: Reader

    def outline(self, source: Source, progress: Progress) -> Outline:
        """The headings as a tree, below them what has a caption. Raises as `Reader.read` does."""
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
    """A chapter without a heading, titled by its first words, because its name is not in the document."""
    place = draft.location
    chapter = book.chapters[place.number - 1] if isinstance(place, Chapter) else None
    if chapter is None or draft.title != chapter.name:
        return draft
    first = next((line for line in chapter.text[:OPENING_LOOK].split("\n") if line.strip()), "")
    return evolve(draft, title=one_line(first, OPENING_TITLE) or f"Chapter {chapter.number}")


def _exhibits(book: Book) -> Iterator[OutlineItem]:
    found = [(chapter, mark) for chapter in book.chapters for mark in chapter.marks if mark.kind in ("figure", "table")]
    for chapter, mark in found[:EXHIBITS_LIMIT]:
        yield OutlineItem(mark.title, mark.kind, Chapter(chapter.number, (mark.start, mark.end)))


def _with(drafts: Sequence[OutlineItem], exhibit: OutlineItem) -> Sequence[OutlineItem]:
    """The drafts with one more below the innermost that holds it; one that none holds is left out."""
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
    place = draft.location
    return (place.number, place.chars[0] if place.chars else 0) if isinstance(place, Chapter) else (0, 0)
