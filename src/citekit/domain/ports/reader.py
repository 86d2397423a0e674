"""Defines the port for readers of reflowable books."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from citekit.domain.progress import Progress, silent


@frozen
class Heading:
    """An entry of a book's table of contents.

    `level` and `chapter` count from 1. The entry points to the character `offset`, from 0, of the chapter.
    """

    level: int
    title: str
    chapter: int
    offset: int


@frozen
class Mark:
    """The role of a range of a chapter's text, from character `start` up to, but not including, `end`.

    `kind` is `heading` (with a `level` from 1 to 6), `figure` or `table` (with the caption as `title`), or a term of
    the EPUB Structural Semantics Vocabulary such as `chapter` or `preface` (without a title).
    """

    kind: str
    title: str
    start: int
    end: int
    level: int = 0


@frozen
class Landmark:
    """A landmark of a book, such as the start of the main text, at the character `offset` of a chapter.

    `type` is a term of the EPUB Structural Semantics Vocabulary. Chapters count from 1.
    """

    type: str
    chapter: int
    offset: int


@frozen
class PageBreak:
    """The position in a book at which the page `label` of the printed edition begins.

    It is the character `offset` of a chapter. Chapters count from 1.
    """

    label: str
    chapter: int
    offset: int


@frozen(kw_only=True)
class BookChapter:
    """A chapter of a book with its complete text, without markup. Line feeds separate paragraphs.

    `number` counts from 1. `name` is the path of the chapter inside the book. `marks` are sorted by their starts.
    """

    number: int
    name: str
    text: str
    marks: Sequence[Mark] = field(default=(), converter=tuple[Mark, ...], eq=False, repr=False)


@frozen(kw_only=True)
class Book:
    """A reflowable book. `contents` is its table of contents.

    Except for `landmarks`, the sequences are in reading order. `remarks` are sentences about content that is missing or
    was repaired.
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
    """A reader of reflowable books."""

    def read(self, path: Path) -> Book:
        """Return the complete book.

        Raise `SourceUnsupported` if the file is in another format, encrypted, too large, or too damaged to read, or
        `SourceUnreadable` if it cannot be read.
        """

    def texts(self, path: Path, chapter: int, *, last: int | None = None) -> Sequence[str]:
        """Return the text of `chapter`, or of all chapters from `chapter` to `last`, counted from 1.

        The texts equal those of `read`. Raise `LocationOutside` if a chapter is beyond the last one, and the same
        errors as `read`.
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
        """Return a chapter, or the range of characters `chars` in it, as a self-contained HTML document.

        With `last`, the document has a section for each chapter from `chapter` to `last`; `chars` requires a single
        chapter. Pictures and styles are embedded. The document contains no scripts and no references to other files,
        and does not depend on the name of the book's file. Raise `LocationOutside` if the chapter or the characters do
        not exist, `FormUnsupported` if the document becomes too large, or the same errors as `read`.
        """
