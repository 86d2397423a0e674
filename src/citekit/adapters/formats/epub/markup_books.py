"""Reads books in formats other than EPUB that consist of a sequence of HTML or XML chapters."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from citekit.adapters.formats.epub.chapter_marks import landmarks, marked_pages, marks
from citekit.adapters.formats.epub.reader import PICTURE_LIMIT, PICTURES_LIMIT, media_type
from citekit.adapters.formats.epub.toc import PAGES_LIMIT, Entry
from citekit.adapters.formats.epub.toc_positions import headings
from citekit.adapters.formats.xhtml.chapter_html import Page
from citekit.adapters.formats.xhtml.chapter_pages import ChapterPages, check_steps
from citekit.adapters.formats.xhtml.chapter_text import flow
from citekit.domain.errors import LocationOutside
from citekit.domain.library.books import BookFacts
from citekit.domain.ports.reader import Book, BookChapter, PageBreak
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    from lxml.etree import _Element


@frozen
class Part:
    """A chapter of a book. `root` parses its markup. Table of contents entries refer to `name`."""

    name: str
    root: Callable[[], _Element] = field(repr=False)


@frozen(kw_only=True)
class MarkupBook:
    """The content of a book file.

    `landmarks` contains a type, the name of a chapter, and a fragment for each landmark. `picture` returns the bytes
    and the declared media type of the image at an href, or None.
    """

    facts: BookFacts
    parts: Sequence[Part]
    contents: Sequence[Entry]
    landmarks: Sequence[tuple[str, str, str]] = ()
    picture: Callable[[str], tuple[bytes, str] | None] = field(default=lambda _: None, repr=False)


@frozen
class MarkupReader:
    """Reads books.

    `load` opens a book, and `said` returns only its metadata. If `as_seen` is set, superscripts, subscripts, and hidden
    text are marked.
    """

    load: Callable[[Path], MarkupBook]
    said: Callable[[Path], BookFacts]
    as_seen: bool = False

    def facts(self, path: Path) -> BookFacts:
        """Return the metadata of the book. Raise the errors of `said`."""
        return self.said(path)

    def read(self, path: Path) -> Book:
        """See `Reader.read`."""
        loaded = self.load(path)
        chapters: list[BookChapter] = []
        anchors: list[dict[str, int]] = []
        steps, pages = 0, list[PageBreak]()
        for number, part in enumerate(loaded.parts, 1):
            content = flow(part.root(), as_seen=self.as_seen)
            steps += len(content.steps)
            check_steps(steps, path.name)
            chapters.append(BookChapter(number=number, name=part.name, text=content.text, marks=marks(content)))
            anchors.append(content.anchors)
            pages.extend(islice(marked_pages(content, number), PAGES_LIMIT - len(pages)))
        facts = loaded.facts
        return Book(
            title=facts.title,
            authors=facts.authors,
            language=facts.language,
            identifier=next(iter(facts.identifiers.values()), None),
            chapters=chapters,
            contents=headings(loaded.contents, chapters, anchors),
            landmarks=tuple(landmarks(loaded.landmarks, chapters, anchors)),
            page_breaks=pages,
        )

    def texts(self, path: Path, chapter: int, *, last: int | None = None) -> list[str]:
        """See `Reader.texts`."""
        chapters = self.read(path).chapters
        for number in (chapter, last or chapter):
            if not 1 <= number <= len(chapters):
                raise LocationOutside.beyond("chapter", number, "book", len(chapters))
        return [each.text for each in chapters[chapter - 1 : last or chapter]]

    def html(
        self,
        path: Path,
        chapter: int,
        chars: tuple[int, int] | None = None,
        *,
        last: int | None = None,
        progress: Progress = silent,
    ) -> str:
        """See `Reader.html`."""
        loaded = self.load(path)
        pages = ChapterPages(
            len(loaded.parts), lambda number: flow(loaded.parts[number - 1].root()), _Pages(loaded).page
        )
        return pages.document(chapter, chars, last, progress)


@define
class _Pages:
    book: MarkupBook
    left: int = PICTURES_LIMIT

    def page(self, number: int) -> Page:
        facts = self.book.facts
        return Page(
            title=f"{facts.title}, chapter {number}" if facts.title else f"Chapter {number}",
            language=facts.language,
            number=number,
            picture=self.picture,
            same=lambda _: False,
        )

    def picture(self, href: str) -> str | None:
        """Return the image at `href` as a data URI (RFC 2397).

        Return None if it is missing, has an unknown type, or is larger than `PICTURE_LIMIT` or than the space left for
        images in the HTML document.
        """
        found = self.book.picture(href)
        if found is None or len(found[0]) > min(PICTURE_LIMIT, self.left):
            return None
        kind = media_type(*found)
        if not kind:
            return None
        self.left -= len(found[0])
        return f"data:{kind};base64,{base64.b64encode(found[0]).decode('ascii')}"
