"""Defines the port for a library of books on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.books import BookFilter, BookRecord, LibraryStats


class Library(Protocol):
    """A folder of books or a Calibre library, which is only read.

    Results include changes that other programs make. The methods raise `LibraryUnavailable` if the library does not
    exist or cannot be read.
    """

    @property
    def place(self) -> str:
        """The path of the library folder, for messages."""

    def find(self, wanted: BookFilter, limit: int, offset: int = 0) -> Sequence[BookRecord]:
        """Return at most `limit` books that match `wanted`, most recently added or changed first, after the first
        `offset` books.
        """

    def get(self, book_id: int) -> BookRecord:
        """Return the book with the given ID. Raise `BookMissing` if the book does not exist."""

    def stats(self) -> LibraryStats:
        """Return the numbers of books and authors, and the number of books by format and by language."""
