"""The port for a library of books on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.books import BookFilter, BookRecord, LibraryStats


class Library(Protocol):
    """A folder of books or a Calibre library. It is never changed.

    Results are stable while the library does not change, and include changes that other programs make. Every method
    raises `LibraryUnavailable` if there is no library or it cannot be read.
    """

    @property
    def place(self) -> str:
        """The folder, for messages."""

    def find(self, wanted: BookFilter, limit: int, offset: int = 0) -> Sequence[BookRecord]:
        """Return matching books, the most recently added first."""

    def get(self, book_id: int) -> BookRecord:
        """Return the book with that ID. Raises `BookMissing`."""

    def stats(self) -> LibraryStats:
        """Return the number of books, authors, formats, and languages."""
