"""Implements the command `citekit library list`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import click

from citekit.application.library.list_books import BookState, ListedBook
from citekit.domain.phrases import counted
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.library.options import collection as collection_option
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled
from citekit.entrypoints.library.ingest_command import ingest_again

_AGAIN = {BookState.UNFINISHED, BookState.REPLACING, BookState.CHANGED, BookState.MAPPED_AGAIN}


@click.command("list", cls=Command)
@collection_option("List only the books of this collection.")
@pass_session
def command(session: Session, /, collection: str | None) -> None:
    """List the ingested books with their state, size, and embedder.

    The state is `ready`, `unfinished` (an ingest or removal is running or was interrupted, so the book is not searched),
    `replacing` (the book is being ingested again), `changed` (the file has changed), `mapped again` (the file was
    mapped again after a change), `missing` (the file is not at its path), or `not mapped` (the map was removed or is
    damaged). `ready` is shown only with --json. Without --collection, the books of all collections are listed.
    """
    books = list(session.app.alexandria.list_books(collection))
    default = session.app.alexandria.chosen.collection
    session.answer(
        {"books": [_plain(each) for each in books], "count": len(books)}, _lines(books, default, session.home_words())
    )
    if not books:
        where = "" if collection is None else f" into {printable(collection)}"
        option = "" if collection is None else f" --collection {printable(shlex.quote(collection))}"
        session.note(
            f"No books have been ingested{where}. To ingest one, run: citekit library ingest-file FILE{option}"
            f"{session.home_words()}"
        )


def _plain(book: ListedBook) -> dict[str, object]:
    entry = book.entry
    return {
        "resource_id": entry.resource_id,
        "title": entry.title,
        "author": entry.author,
        "language": entry.language,
        "state": book.state.value,
        "collection": entry.collection,
        "embedder": entry.model,
        "chunks": entry.counts.get("chunks"),
        "words": entry.counts.get("words"),
        "format": entry.format,
        "path": entry.path,
        "ingested_at": entry.at.isoformat(),
    }


def _lines(books: Sequence[ListedBook], default: str, home: str) -> Iterator[str]:
    collections = {book.entry.collection for book in books}
    for book in books:
        entry = book.entry
        size = f"{counted(entry.counts['chunks'], 'chunk')}, " if "chunks" in entry.counts else ""
        where = f", {entry.collection}" if len(collections) > 1 else ""
        facts = printable(f"{entry.title}, {entry.author}  ({size}{entry.model}{where})")
        state = "" if book.state is BookState.READY else f"  {styled(book.state.value, fg='yellow')}"
        yield f"{printable(entry.resource_id)}  {facts}{state}"
    again = [book for book in books if book.state in _AGAIN]
    if again:
        entry = again[0].entry
        option = "" if entry.collection == default else f" --collection {shlex.quote(entry.collection)}"
        what = f"{ingest_again(entry)} --force{option}"
        yield f"To ingest {printable(entry.resource_id)} again, run: citekit library {printable(what + home)}"
