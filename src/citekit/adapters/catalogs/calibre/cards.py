"""Reads the searchable fields and the statistics of a Calibre library."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from citekit.adapters.catalogs.book_search import Card, enclosed
from citekit.adapters.catalogs.in_memory import by_frequency
from citekit.domain.library.books import LibraryStats
from citekit.domain.library.folding import folded
from citekit.domain.library.languages import iso_639_3

_BOOKS = "SELECT id, title FROM books ORDER BY timestamp DESC, id DESC"
_AUTHORS = "SELECT id, name FROM authors"
_LANGUAGES = "SELECT id, lang_code FROM languages"
_TAGS = "SELECT id, name FROM tags"
_IN_ORDER = "SELECT book, author FROM books_authors_link ORDER BY book, id"
_WRITERS = f"SELECT book, group_concat(author, ' ') FROM ({_IN_ORDER}) GROUP BY book"  # noqa: S608 - of constants
_SPOKEN = "SELECT book, group_concat(lang_code, ' ') FROM books_languages_link GROUP BY book"
_TAGGED = "SELECT book, group_concat(tag, ' ') FROM books_tags_link GROUP BY book"
"""The last three queries return one row per book, because SQLite concatenates IDs several times faster than Python."""

_Fold = Callable[[str], str]


def cards(connection: sqlite3.Connection) -> Iterator[Card]:
    """Yield the searchable fields of every book, most recently added first."""
    authors = _linked(connection, _AUTHORS, _WRITERS, lambda name: folded(author_name(name)), " & ".join)
    languages = _linked(connection, _LANGUAGES, _SPOKEN, iso_639_3, enclosed)
    tags = _linked(connection, _TAGS, _TAGGED, folded, enclosed)
    for book, title in connection.execute(_BOOKS):
        yield Card(book, folded(str(title or "")), authors.get(book, ""), languages.get(book, ""), tags.get(book, ""))


def author_name(stored: object) -> str:
    """Return an author's name with commas restored. Calibre stores each comma as a vertical bar."""
    return str(stored).replace("|", ",")


def stats(connection: sqlite3.Connection) -> LibraryStats:
    """Count the books and authors of the library, and the books in each format and language."""
    (books,) = connection.execute("SELECT count(*) FROM books").fetchone()
    (authors,) = connection.execute("SELECT count(DISTINCT author) FROM books_authors_link").fetchone()
    codes = (
        "SELECT languages.lang_code, count(*) FROM books_languages_link AS link"
        " JOIN languages ON languages.id = link.lang_code GROUP BY link.lang_code"
    )
    formats = _counted(connection, "SELECT format, count(*) FROM data GROUP BY format", str.upper)
    return LibraryStats(books=books, authors=authors, formats=formats, languages=_counted(connection, codes, iso_639_3))


def _counted(connection: sqlite3.Connection, question: str, fold: _Fold) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for name, count in connection.execute(question):
        counts[fold(str(name))] += count
    return by_frequency(counts)


def _linked(
    connection: sqlite3.Connection, names: str, links: str, fold: _Fold, join: Callable[[Iterable[str]], str]
) -> dict[int, str]:
    """Return the normalized names (such as authors or tags) of each book as one string, by book ID.

    `names` and `links` are SQL queries.
    """
    known = {str(number): fold(str(name)) for number, name in connection.execute(names)}
    joined: dict[str, str] = {}
    found: dict[int, str] = {}
    for book, numbers in connection.execute(links):
        text = joined.get(numbers)
        if text is None:
            text = joined[numbers] = join(known[number] for number in str(numbers).split() if number in known)
        found[book] = text
    return found
