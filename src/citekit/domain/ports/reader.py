"""The port for readers of reflowable books."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from citekit.domain.progress import Progress, silent


@frozen
class Heading:
    """An entry of a table of contents. `level` counts from 1; it points to a character of a chapter (spine item, from
    1).
    """

    level: int
    title: str
    chapter: int
    offset: int


@frozen
class Mark:
    """Markup of the characters `start` to `end` (excluded) of a chapter's text.

    `kind` is `heading` (with `level` 1 to 6), `figure` or `table` (with the caption as `title`), or a term of the EPUB
    Structural Semantics Vocabulary such as `chapter` or `preface` (without a title).
    """

    kind: str
    title: str
    start: int
    end: int
    level: int = 0


@frozen
class Landmark:
    """A landmark of a book. `type` is a term of the EPUB Structural Semantics Vocabulary."""

    type: str
    chapter: int
    offset: int


@frozen
class PageBreak:
    """The position at which the page `label` of the printed edition begins."""

    label: str
    chapter: int
    offset: int


@frozen(kw_only=True)
class BookChapter:
    """A spine item with its complete text, without markup. Newlines separate paragraphs.

    `name` is the path of the item inside the book. `marks` are in the order of their starts.
    """

    number: int
    name: str
    text: str
    marks: Sequence[Mark] = field(default=(), converter=tuple[Mark, ...], eq=False, repr=False)


@frozen(kw_only=True)
class Book:
    """A book: its metadata, its chapters in reading order, and its table of contents in reading order.

    `landmarks` are in the book's own order, `page_breaks` in reading order. `remarks` are sentences about what is
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
    """Reads a reflowable book. Chapters are in reading order, and every character of the text is in exactly one of
    them.
    """

    def read(self, path: Path) -> Book:
        """Return the complete book. Raises `SourceUnsupported` if the file is in another format or too damaged to read."""

    def texts(self, path: Path, chapter: int, *, last: int | None = None) -> Sequence[str]:
        """Return the text of one chapter, or of all up to `last`, without reading more of the book than needed.

        The texts equal those of `read`. Raises `LocationOutside` beyond the last chapter, and the same errors as
        `read`.
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
        """Return a chapter, or the characters `chars` of it, as a small self-contained HTML document.

        With `last`, the document has a section for each chapter up to that one; `chars` requires a single chapter.
        Pictures and styles are embedded. The document contains no scripts and no references to other files. The same
        bytes of a book result in the same document, whatever the file name is. Raises `LocationOutside`, and
        `FormUnsupported` if the document becomes too large.
        """
