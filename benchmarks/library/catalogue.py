"""Catalogue: how long 100,000 books of a Calibre library take to be searched by what is known of them.

`python -m benchmarks.library.catalogue [books]`. The library is made here; words, names and tags are frequent as they are in
real ones (Zipf). Warm: nothing has changed since the last call. Cold: the first call of a program, or the first after
somebody changed the library.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from itertools import accumulate
from pathlib import Path

from benchmarks.measuring import interleaved
from benchmarks.report import Report
from citekit.adapters.catalogs.calibre.catalog import CalibreLibrary
from citekit.domain.library.books import BookFilter
from tests.calibre_made import make_tables

SYLLABLES = ["ka", "lo", "mi", "ren", "tas", "vel", "dor", "ñu", "žar", "öt", "eng", "sol", "bri", "phi", "ström"]
LANGUAGES = ["eng", "deu", "fra", "spa", "ita", "jpn", "hrv", "zho", "rus", "por"]


def words(count: int, seed: int) -> list[str]:
    """Made-up words, each once."""
    chance = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))).title()] = None
    return list(made)


def zipf(values: Sequence[str], chance: random.Random) -> Callable[[int], list[str]]:
    """Draws `k` of `values`, the nth as often as 1/n."""
    weights = list(accumulate(1 / n for n in range(1, len(values) + 1)))
    return lambda k: chance.choices(values, cum_weights=weights, k=k)


def make(folder: Path, books: int) -> None:
    """A library of `books` books, 30,000 authors and 2,000 tags for 100,000."""
    chance = random.Random(1)
    titles, names = zipf(words(20_000, 2), chance), words(8_000, 3)
    authors = [f"{chance.choice(names)} {chance.choice(names)}" for _ in range(max(10, books * 3 // 10))]
    authors, tags = list(dict.fromkeys(authors)), words(max(10, books // 50), 4)
    with closing(sqlite3.connect(folder / "metadata.db")) as connection:
        make_tables(connection)
        for table, values in (("authors", authors), ("tags", tags)):
            connection.executemany(f"INSERT INTO {table} (name) VALUES (?)", [(value,) for value in values])
        connection.executemany("INSERT INTO languages (lang_code) VALUES (?)", [(code,) for code in LANGUAGES])
        tag_numbers = zipf([str(n) for n in range(1, len(tags) + 1)], chance)
        languages = zipf([str(n) for n in range(1, len(LANGUAGES) + 1)], chance)
        for book in range(1, books + 1):
            title, when = (
                " ".join(titles(chance.randint(2, 9))),
                f"20{book % 25:02d}-01-{book % 28 + 1:02d} 00:00:00+00:00",
            )
            row = (book, title, when, "2001-01-01 00:00:00+00:00", f"a/{book}", str(book))
            connection.execute(
                "INSERT INTO books (id, title, timestamp, pubdate, path, uuid) VALUES (?, ?, ?, ?, ?, ?)", row
            )
            writers = {chance.randint(1, len(authors)) for _ in range(chance.choice((1, 1, 1, 2)))}
            _link(connection, "authors", "author", book, writers)
            _link(connection, "tags", "tag", book, set(map(int, tag_numbers(4))))
            _link(connection, "languages", "lang_code", book, {int(languages(1)[0])})
            connection.execute(
                "INSERT INTO data (book, format, uncompressed_size, name) VALUES (?, ?, 1, 'b')",
                (book, chance.choice(("EPUB", "EPUB", "PDF"))),
            )
        connection.commit()


def _link(connection: sqlite3.Connection, table: str, column: str, book: int, numbers: set[int]) -> None:
    rows = [(book, number) for number in sorted(numbers)]
    connection.executemany(f"INSERT INTO books_{table}_link (book, {column}) VALUES (?, ?)", rows)


def main(books: int = 100_000) -> None:
    """The tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, books)
        library = CalibreLibrary(folder)
        sample = library.get(books // 2)
        author, tag = sample.authors[0], sample.tags[0]
        wishes = {
            "everything": BookFilter(),
            "author, one": BookFilter(author=author[:-1].upper()),
            "author, none": BookFilter(author="no such person"),
            "title, frequent": BookFilter(title=words(20_000, 2)[0][1:]),
            "title, one": BookFilter(title=sample.title),
            "title, none": BookFilter(title="no such title"),
            "tags, a frequent and a rare one": BookFilter(tags=(words(max(10, books // 50), 4)[0], tag)),
            "tags, none": BookFilter(tags=("no such tag",)),
            "language, frequent": BookFilter(language="en"),
            "language, rare": BookFilter(language=LANGUAGES[-1]),
            "all of them": BookFilter(author=author, title=sample.title, tags=(tag,), language=sample.languages[0]),
        }
        warm: dict[str, Callable[[], object]] = {
            name: partial(library.find, wanted, 20) for name, wanted in wishes.items()
        }
        warm |= {"one book by its number": lambda: library.get(books // 2), "stats": library.stats}
        cold: dict[str, Callable[[], object]] = {
            "first search": lambda: CalibreLibrary(folder).find(wishes["author, one"], 20),
            "first book by its number": lambda: CalibreLibrary(folder).get(books // 2),
        }
        report = Report("catalogue", f"Catalogue: {books:,} books, milliseconds")
        for title, asked, rounds in (("warm, limit 20", warm, 41), ("cold", cold, 5)):
            table = report.table(title, "search", "median", "p95")
            for name, spent in interleaved(asked, rounds, least=rounds).items():
                table.row(name, spent.median, spent.p95)
        report.finish()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
