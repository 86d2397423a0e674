"""Metadata of books."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from attrs import field, frozen


@frozen(kw_only=True)
class BookFacts:
    """The metadata in a file. `language` is a lowercase ISO 639 code; `identifiers` are by scheme (`isbn`)."""

    title: str | None = None
    authors: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    language: str | None = None
    identifiers: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class BookRecord:
    """A book of a library.

    `languages` are ISO 639-3 codes. `rating` is in stars from 0 to 5. `formats` are uppercase suffixes (`EPUB`), and
    `files` has the file of each; a listed file may not exist. `comments` is HTML. `custom` has the user's own columns
    by label. Unknown values are None or empty.
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
        """The uppercase suffixes of its files."""
        return tuple(self.files)

    @property
    def author(self) -> str:
        """The authors as one text, in order."""
        return " & ".join(self.authors)

    @property
    def isbn(self) -> str | None:
        """The ISBN among its identifiers, or None."""
        return self.identifiers.get("isbn")


@frozen(kw_only=True)
class BookFilter:
    """Conditions for books, all of which must match.

    `author` and `title` match as substrings, ignoring case. `language` matches exactly. Each of `tags` matches as a
    substring of one of the book's tags, ignoring case.
    """

    author: str | None = None
    title: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = field(default=(), converter=tuple[str, ...])


@frozen(kw_only=True)
class LibraryStats:
    """The size of a library: books by format (uppercase) and by language (ISO 639-3), the most frequent first."""

    books: int
    authors: int
    formats: Mapping[str, int]
    languages: Mapping[str, int]
