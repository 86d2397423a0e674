"""Implements the command `citekit library book`."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from citekit.domain.progress import silent
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.library.options import answer
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.tables import pairs
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.library import catalog


@click.command("book", cls=Command)
@click.argument("book_id", type=int, metavar="ID")
@pass_session
def command(session: Session, /, book_id: int) -> None:
    """Show the details of one book.

    Prints all metadata in the catalog, and the files of the book.
    """
    plain = catalog.book(session.app.alexandria, {"book_id": book_id}, silent)
    answer(session, plain, lambda: _lines(plain["book"]))


def _lines(book: Mapping[str, Any]) -> Iterator[str]:
    yield styled(printable(book["title"]), bold=True)
    series = f"{book['series']} #{book['series_index']:g}" if book["series"] else ""
    facts = [
        ("author", book["author"]),
        ("series", series),
        ("publisher", book["publisher"] or ""),
        ("published", book["pubdate"] or ""),
        ("languages", ", ".join(book["languages"])),
        ("tags", ", ".join(book["tags"])),
        ("rating", f"{book['rating']:g} of 5" if book["rating"] is not None else ""),
        *((scheme, value) for scheme, value in book["identifiers"].items()),
        *((f"#{label}", _said(value)) for label, value in book["custom"].items()),
        *((format, path) for format, path in book["files"].items()),
        ("about", _flat(book["comments"] or "")),
    ]
    yield from pairs((name, value) for name, value in facts if value)


def _said(value: object) -> str:
    """Return the value of a custom column as text."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_said(each) for each in value)
    return str(value)


def _flat(markup: str) -> str:
    """Return a book's comments, which Calibre stores as HTML, as one line of text."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())
