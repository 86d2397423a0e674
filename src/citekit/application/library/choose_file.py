"""Chooses which file of a library book to read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from citekit.domain.formats import BOOK_SUFFIXES
from citekit.domain.library.books import BookRecord

ANY = "any"


@frozen
class Chosen:
    """A file of a book, with its format as an upper-case suffix."""

    format: str
    path: Path


def readable_formats(record: BookRecord) -> list[str]:
    """Return the readable formats of a book, in the order of the library."""
    return [format for format in record.formats if f".{format.lower()}" in BOOK_SUFFIXES]


def preferred(record: BookRecord, preference: str, *, strict: bool = False) -> Chosen | None:
    """Return the file in the preferred format, such as `epub`, or else the file in the first readable format.

    If `strict`, another format is returned only for the preference `any`. Return None if there is no such file. The
    returned file may not exist.
    """
    formats = readable_formats(record)
    wanted = preference.strip().upper()
    if wanted in formats:
        return Chosen(wanted, record.files[wanted])
    if not formats or (strict and wanted.lower() != ANY):
        return None
    return Chosen(formats[0], record.files[formats[0]])


def offered(records: Iterable[BookRecord], preference: str) -> list[tuple[BookRecord, Chosen]]:
    """Return the books that are available in the preferred format, with that file."""
    pairs = ((record, preferred(record, preference, strict=True)) for record in records)
    return [(record, chosen) for record, chosen in pairs if chosen is not None]
