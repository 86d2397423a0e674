"""Searches books in memory by title, author, language, and tag, using a table of normalized text."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from citekit.domain.library.books import BookFilter, BookRecord
from citekit.domain.library.folding import folded
from citekit.domain.library.languages import iso_639_3

_SEPARATOR = "\x1f"
"""The ASCII unit separator, which encloses each language and tag so that no match spans two."""

_BIGGEST = 2**63 - 1
"""The largest integer in SQLite."""


class Card(NamedTuple):
    """The searchable fields of a book in normalized form. `book` is the ID of the book."""

    book: int
    title: str
    authors: str
    languages: str
    tags: str


def card(book: int, title: str, authors: Iterable[str], languages: Iterable[str], tags: Iterable[str]) -> Card:
    """Return the searchable fields of a book, normalized so that case does not matter."""
    names, subjects = folded(_written(" & ".join(authors))), enclosed(folded(_written(tag)) for tag in tags)
    return Card(
        book, folded(_written(title)), names, enclosed(_written(iso_639_3(each)) for each in languages), subjects
    )


def enclosed(words: Iterable[str]) -> str:
    """Join the words with separators, also at both ends, so that a search can match whole words."""
    inner = _SEPARATOR.join(word.replace(_SEPARATOR, " ") for word in words)
    return f"{_SEPARATOR}{inner}{_SEPARATOR}"


class BookTable:
    """A searchable table of book cards. Results have the order in which the cards were added.

    Search terms have no wildcards.
    """

    def __init__(self, cards: Iterable[Card]) -> None:
        self._lock = threading.Lock()
        self._cards = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._cards.execute("CREATE TABLE cards (place INTEGER PRIMARY KEY, book, title, authors, languages, tags)")
        self._cards.execute("BEGIN")
        insert = "INSERT INTO cards (book, title, authors, languages, tags) VALUES (?, ?, ?, ?, ?)"
        self._cards.executemany(insert, cards)
        self._cards.execute("COMMIT")

    @classmethod
    def of(cls, books: Iterable[BookRecord]) -> BookTable:
        """Return a table of `books` in the same order."""
        return cls(card(book.id, book.title, book.authors, book.languages, book.tags) for book in books)

    def find(self, wanted: BookFilter, limit: int, offset: int = 0) -> Sequence[int]:
        """Return the IDs of at most `limit` books that match `wanted`, after the first `offset`."""
        conditions, values = _conditions(wanted)
        bounds = (min(max(limit, 0), _BIGGEST), min(max(offset, 0), _BIGGEST))
        statement = f"SELECT book FROM cards {conditions} ORDER BY place LIMIT ? OFFSET ?"  # noqa: S608 - of constants
        with self._lock:
            return [book for (book,) in self._cards.execute(statement, (*values, *bounds))]


def _conditions(wanted: BookFilter) -> tuple[str, list[str]]:
    """Return the SQL WHERE clause for `wanted` and its parameter values."""
    asked = [("authors", _part(wanted.author)), ("title", _part(wanted.title))]
    if wanted.language is not None and wanted.language.strip():
        asked.append(("languages", enclosed([_written(iso_639_3(wanted.language))])))
    asked.extend(("tags", _part(tag).replace(_SEPARATOR, " ")) for tag in wanted.tags)
    given = [(column, text) for column, text in asked if text]
    clause = " AND ".join(f"instr({column}, ?)" for column, _ in given)
    return (f"WHERE {clause}" if clause else ""), [text for _, text in given]


def _part(text: str | None) -> str:
    return folded(_written(text)) if text is not None and text.strip() else ""


def _written(text: str) -> str:
    """Return `text` with each unpaired surrogate, which a database cannot store, replaced by a question mark."""
    return text.encode("utf-8", "replace").decode()
