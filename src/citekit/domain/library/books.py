"""The metadata of a book."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from attrs import field, frozen


@frozen(kw_only=True)
class BookFacts:
    """What a file says of itself. `language` is an ISO 639 code in lower case, `identifiers` are by scheme (`isbn`)."""

    title: str | None = None
    authors: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    language: str | None = None
    identifiers: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class BookRecord:
    """A book of a library.

    `languages` are ISO 639-3 codes, `rating` is in stars from 0 to 5, `formats` are upper-case suffixes (`EPUB`), the
    files of which are in `files`; a file that is listed may be missing from the disk. `comments` is HTML. `custom` are the
    user's own columns by label. What is not known is None or empty.
    """

    id: int
    title: str
    authors: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    languages: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    tags: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    series: str | None = None
    series_index: float | None = None
    identifiers: Mapping[str, str] = field(factory=dict)
    publisher: str | None = None
    pubdate: date | None = None
    rating: float | None = None
    files: Mapping[str, Path] = field(factory=dict)
    comments: str | None = None
    custom: Mapping[str, Any] = field(factory=dict)
    cover: Path | None = None
    uuid: str | None = None

    @property
    def formats(self) -> tuple[str, ...]:
        """The upper-case suffixes of its files."""
        return tuple(self.files)

    @property
    def author(self) -> str:
        """The authors as one text, in order."""
        return " & ".join(self.authors)

    @property
    def isbn(self) -> str | None:
        """The ISBN among its identifiers."""
        return self.identifiers.get("isbn")


@frozen(kw_only=True)
class BookFilter:
    """Which books are wanted: all that is given must fit.

    `author` and `title` are found inside, whatever the case; a language is equal; each of `tags` is found inside one of the
    book's tags, whatever the case.
    """

    author: str | None = None
    title: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = field(default=(), converter=tuple[str, ...])


@frozen(kw_only=True)
class LibraryStats:
    """How much there is: books by format (upper case) and by language (ISO 639-3), the most frequent first."""

    books: int
    authors: int
    formats: Mapping[str, int]
    languages: Mapping[str, int]
