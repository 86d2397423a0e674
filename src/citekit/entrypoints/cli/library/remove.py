"""Implements the command `citekit library remove`."""

from __future__ import annotations

from typing import Any

import click

from citekit.domain.phrases import counted
from citekit.domain.progress import silent
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.library.options import answer, collection, named_file
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.library import batches


@click.command("remove", cls=Command)
@click.argument("resource_id", required=False, metavar="[RESOURCE]")
@click.option("--book-id", type=int, metavar="ID", help="The book with this ID in the library.")
@click.option("--file", "file_path", metavar="PATH", help="The book that was ingested from this file.")
@collection()
@pass_session
def command(session: Session, /, file_path: str | None, **named: Any) -> None:
    """Remove a book from the index.

    The file of the book and the map of its chapters are kept.
    """
    if (
        len([each for each in (file_path, *named.values()) if each is not None]) - (named["collection"] is not None)
        != 1
    ):
        raise click.UsageError("Name exactly one book: with RESOURCE, --book-id, or --file.")
    path = None if file_path is None else str(named_file(file_path, "--file"))
    arguments = {key: value for key, value in {**named, "file_path": path}.items() if value is not None}
    plain = batches.remove(session.app.alexandria, arguments, silent)
    line = f"{printable(plain['title'])}: {counted(plain['chunks'], 'chunk')} removed from {plain['collection']}."
    answer(session, plain, lambda: [line])
