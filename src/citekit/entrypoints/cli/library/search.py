"""Implements the command `citekit library search`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from citekit.domain.progress import silent
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.library.options import answer, filters
from citekit.entrypoints.cli.library.text_wrapping import clipped
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.tables import table
from citekit.entrypoints.library import catalog


@click.command("search", cls=Command)
@filters()
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TEXT",
    help="Match part of a tag. Can be repeated; a book must match all tags.",
)
@click.option(
    "--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="The maximum number of books."
)
@pass_session
def command(session: Session, /, tags: tuple[str, ...], **wanted: Any) -> None:
    """Find books by author, title, language, and tags.

    The most recently added books are first; in a folder, those whose files changed last.
    """
    plain = catalog.search(session.app.alexandria, {**wanted, "tags": ",".join(tags)}, silent)
    answer(session, plain, lambda: book_table(plain["books"]))
    if not plain["books"]:
        session.note("No book matches.")


def book_table(books: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table with one row per book, if any."""
    if books:
        rows = [
            (
                str(book["id"]),
                clipped(book["author"], 40),
                book["language"] or "",
                " ".join(book["formats"]),
                book["title"],
            )
            for book in books
        ]
        yield from table(rows, ("ID", "AUTHOR", "LANGUAGE", "FORMATS", "TITLE"))
