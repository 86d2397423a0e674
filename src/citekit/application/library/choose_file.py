"""Choose the file of a library's book that is read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from citekit.domain.formats import BOOK_SUFFIXES
from citekit.domain.library.books import BookRecord

ANY = "any"


@frozen
class Chosen:
    """The file of a book in one format (an upper-case suffix)."""

    format: str
    path: Path


def readable_formats(record: BookRecord) -> list[str]:
    """The formats of a book that can be read, in the library's order."""
    return [format for format in record.formats if f".{format.lower()}" in BOOK_SUFFIXES]


def preferred(record: BookRecord, preference: str, *, strict: bool = False) -> Chosen | None:
    """The file in the format that is preferred (`epub`, `pdf`, `any`), else, unless `strict`, in the first that can be read.

    None where there is no such file; whether it is on the disk is not looked at.
    """
    formats = readable_formats(record)
    wanted = preference.strip().upper()
    if wanted in formats:
        return Chosen(wanted, record.files[wanted])
    if not formats or (strict and wanted.lower() != ANY):
        return None
    return Chosen(formats[0], record.files[formats[0]])


def offered(records: Iterable[BookRecord], preference: str) -> list[tuple[BookRecord, Chosen]]:
    """The books that have a file in the preferred format, with it."""
    pairs = ((record, preferred(record, preference, strict=True)) for record in records)
    return [(record, chosen) for record, chosen in pairs if chosen is not None]
