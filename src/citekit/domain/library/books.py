"""Defines the metadata of books."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from attrs import field, frozen


@frozen(kw_only=True)
class BookFacts:
    """The bibliographic metadata in a file. Unknown values are None or empty.

    `language` is a language code. `identifiers` maps schemes, such as `isbn`, to identifiers.
    """

    title: str | None = None
    authors: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    language: str | None = None
    identifiers: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class BookRecord:
    """A book in a library. Unknown values are None or empty.

    `languages` are ISO 639-3 codes. `rating` is in stars from 0 to 5. `files` has the path of the file for each format,
    by uppercase suffix (`EPUB`); a listed file may not exist. `comments` is HTML. `custom` has the values of columns
    that the user added, by label.
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
        """The uppercase suffixes of the files, such as `EPUB`."""
        return tuple(self.files)

    @property
    def author(self) -> str:
        """The names of the authors, joined by ` & `."""
        return " & ".join(self.authors)

    @property
    def isbn(self) -> str | None:
        """The ISBN, or None if it is unknown."""
        return self.identifiers.get("isbn")


@frozen(kw_only=True)
class BookFilter:
    """Conditions for books. A book must meet all conditions that are set.

    `author`, `title`, and each of `tags` match a part of the author, of the title, and of a tag, ignoring case.
    `language` must be one of the book's languages.
    """

    author: str | None = None
    title: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = field(default=(), converter=tuple[str, ...])


@frozen(kw_only=True)
class LibraryStats:
    """The numbers of books and authors in a library, and the number of books by format and by language.

    Formats are uppercase suffixes, and languages are ISO 639-3 codes, the most frequent first.
    """

    books: int
    authors: int
    formats: Mapping[str, int]
    languages: Mapping[str, int]
