"""Words in the full-text index of PostgreSQL (tsvector).

The words are those of `words_of`, so PostgreSQL neither splits texts nor folds words. Each word is stored after the ID
of its space and a letter, so that no query finds rows of another space. The words of a very long text are distributed
over rows of `citekit_long`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg import Connection

LIMIT = 1_000_000
"""The maximum size in bytes of the words of one row. PostgreSQL allows 1,048,575 bytes."""

Lexeme = tuple[str, bool]
"""A letter and a word, and whether longer words that begin with the word match, too."""

Condition = Sequence[Sequence[Lexeme]]
"""Groups of lexemes. A matching row has at least one lexeme of each group."""

Key = tuple[bytes, int]
"""The ID of a resource, and the number (`at`) of one of its rows."""

_ADD = (
    "INSERT INTO citekit_long (space, resource, at, part, terms) VALUES (%s, %s, %s, %s, array_to_tsvector(%s::text[]))"
)
_REMOVE = "DELETE FROM citekit_long WHERE space = %s AND resource = %s"
_FIND = "SELECT resource, at FROM citekit_long WHERE space = %s AND terms @@ %s::tsquery"


def parts(space: int, lexemes: Iterable[str]) -> list[list[str]]:
    """Return the lexemes of a row as they are stored (see `array_to_tsvector`), in at least one part.

    Each of `lexemes` is a letter followed by a word.
    """
    made: list[list[str]] = [[]]
    size = 0
    for each in sorted({f"{space}{each}" for each in lexemes}):
        length = len(each.encode())
        if size + length > LIMIT:
            made.append([])
            size = 0
        made[-1].append(each)
        size += length
    return made


def query(space: int, condition: Condition) -> str:
    """Return the query (tsquery) for the rows that fulfill the condition."""
    groups = (" | ".join(f"'{space}{text}'{':*' * begins}" for text, begins in group) for group in condition)
    return " & ".join(f"({group})" for group in groups)


def add_long(connection: Connection, space: int, rows: Iterable[tuple[Key, Sequence[Sequence[str]]]]) -> None:
    """Store the parts of each row that has several. Rows with one part are skipped."""
    values = [(space, *key, number, part) for key, made in rows if len(made) > 1 for number, part in enumerate(made)]
    if values:
        with connection.cursor() as cursor:
            cursor.executemany(_ADD, values)


def remove_long(connection: Connection, space: int, resource: bytes) -> None:
    """Remove what `add_long` stored for a resource."""
    connection.execute(_REMOVE, (space, resource))


def long_rows(space: int, condition: Condition) -> tuple[str, list[object]]:
    """Return a query, with its values, for the keys of rows with several parts that together fulfill the condition, which
    has at least one group.
    """
    values: list[object] = [value for group in condition for value in (space, query(space, [group]))]
    return "(" + " INTERSECT ".join(_FIND for _ in condition) + ")", values
