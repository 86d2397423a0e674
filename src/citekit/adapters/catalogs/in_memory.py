"""Makes book records in memory available as a book catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from citekit.adapters.catalogs.book_search import BookTable
from citekit.domain.errors import BookMissing
from citekit.domain.library.books import BookFilter, BookRecord, LibraryStats


class MemoryLibrary:
    """A `Library` of book records in memory. Books are listed from the last added to the first."""

    def __init__(self, books: Iterable[BookRecord] = (), place: str = "memory") -> None:
        self.place = place
        self._books: dict[int, BookRecord] = {}
        self._catalog = BookTable(())
        self.add(*books)

    def add(self, *books: BookRecord) -> None:
        """Add these books. A book replaces the earlier book with the same ID, at the same position in the order."""
        self._books = {**self._books, **{book.id: book for book in books}}
        self._catalog = BookTable.of(reversed(self._books.values()))

    def find(self, wanted: BookFilter, limit: int, offset: int = 0) -> Sequence[BookRecord]:
        """See `Library.find`."""
        return [self._books[book] for book in self._catalog.find(wanted, limit, offset)]

    def get(self, book_id: int) -> BookRecord:
        """See `Library.get`."""
        try:
            return self._books[book_id]
        except KeyError:
            raise BookMissing(book_id) from None

    def stats(self) -> LibraryStats:
        """See `Library.stats`."""
        return stats_of(self._books.values())


def stats_of(books: Iterable[BookRecord]) -> LibraryStats:
    """Count these books and their authors, and the books in each format and language."""
    count, authors, formats, languages = 0, set[str](), Counter[str](), Counter[str]()
    for book in books:
        count += 1
        authors.update(book.authors)
        formats.update(book.formats)
        languages.update(set(book.languages))
    return LibraryStats(
        books=count, authors=len(authors), formats=by_frequency(formats), languages=by_frequency(languages)
    )


def by_frequency(counts: Counter[str]) -> dict[str, int]:
    """Return the counts as a dict, from largest to smallest; equal counts are sorted by name."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
