"""Reads a reflowable book chapter by chapter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from citekit.domain.progress import Progress, silent


@frozen
class Heading:
    """An entry of a book's table of contents: `level` from 1, the chapter (spine item, from 1) and character it points to."""

    level: int
    title: str
    chapter: int
    offset: int


@frozen
class Mark:
    """What the markup says of the characters `start` to `end` (excluded) of a chapter's text.

    `kind` is `heading` (of `level` 1 to 6), `figure` or `table` (`title` is the caption), or a term of the EPUB Structural
    Semantics Vocabulary such as `chapter` or `preface` (no title).
    """

    kind: str
    title: str
    start: int
    end: int
    level: int = 0


@frozen
class Landmark:
    """A place that the book names by its use: `type` is a term of the EPUB Structural Semantics Vocabulary."""

    type: str
    chapter: int
    offset: int


@frozen
class PageBreak:
    """Where the page `label` of the printed edition begins."""

    label: str
    chapter: int
    offset: int


@frozen(kw_only=True)
class BookChapter:
    """One spine item: all of its text once, without markup, paragraphs separated by newlines.

    `name` is the path of the item inside the book; `marks` come in the order of their starts.
    """

    number: int
    name: str
    text: str
    marks: Sequence[Mark] = field(default=(), converter=tuple[Mark, ...], eq=False, repr=False)


@frozen(kw_only=True)
class Book:
    """A book's facts, chapters in reading order, and contents in reading order.

    `landmarks` in the book's own order; `page_breaks` in reading order; `remarks` are sentences about what is
    missing or was repaired.
    """

    title: str | None
    authors: Sequence[str] = field(converter=tuple[str, ...])
    language: str | None
    identifier: str | None
    chapters: Sequence[BookChapter] = field(converter=tuple[BookChapter, ...])
    contents: Sequence[Heading] = field(converter=tuple[Heading, ...])
    landmarks: Sequence[Landmark] = field(default=(), converter=tuple[Landmark, ...])
    page_breaks: Sequence[PageBreak] = field(default=(), converter=tuple[PageBreak, ...])
    remarks: Sequence[str] = field(default=(), converter=tuple[str, ...])


class Reader(Protocol):
    """Chapters come in reading order; every character of the book's text is in exactly one of them."""

    def read(self, path: Path) -> Book:
        """The whole book. Raises `SourceUnsupported` where the file is no such book or is damaged beyond reading."""

    def texts(self, path: Path, chapter: int, *, last: int | None = None) -> Sequence[str]:
        """The text of one chapter, or of all up to `last`, as `read` gives it; no more of the book is read than is needed.

        Raises `LocationOutside` beyond the last chapter, and as `read` does.
        """

    def html(
        self,
        path: Path,
        chapter: int,
        chars: tuple[int, int] | None = None,
        *,
        last: int | None = None,
        progress: Progress = silent,
    ) -> str:
        """One chapter, or the part of it with those characters, as a small self-contained HTML document.

        With `last`, all chapters up to that one, a section each; `chars` is for a single chapter only. Pictures and
        styles are inside the document; there is no script and no reference to anything outside. The same bytes of a
        book give the same document, whatever the file is called.
        Raises `LocationOutside`, and `FormUnsupported` where the document becomes too large.
        """
