"""A collection of books on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.books import BookFilter, BookRecord, LibraryStats


class Library(Protocol):
    """Never writes. What is found is stable while the library is; sees changes that others make.

    Every method raises `LibraryUnavailable` where there is no library, or it cannot be read.
    """

    @property
    def place(self) -> str:
        """The folder, for messages."""

    def find(self, wanted: BookFilter, limit: int, offset: int = 0) -> Sequence[BookRecord]:
        """Books that fit, those added last first."""

    def get(self, book_id: int) -> BookRecord:
        """That book. Raises `BookMissing`."""

    def stats(self) -> LibraryStats:
        """How much there is."""
