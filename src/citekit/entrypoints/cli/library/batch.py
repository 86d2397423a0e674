"""Implements the command `citekit library batch`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from citekit.domain.phrases import counted
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.errors import CommandError
from citekit.entrypoints.cli.library import preconditions
from citekit.entrypoints.cli.library.options import answer, filters, ingesting, preference
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.tables import table
from citekit.entrypoints.library import batches


@click.command("batch", cls=Command)
@click.option("--all", "everything", is_flag=True, help="Ingest all matching books, ignoring --limit.")
@filters()
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="The maximum number of matching books, including those that are skipped.",
)
@preference()
@ingesting()
@pass_session
def command(session: Session, /, everything: bool, flat: bool, **wanted: Any) -> None:
    """Ingest books from the library that match a filter.

    Books that are already in the collection are skipped, so you can repeat the command to continue an interrupted
    run.
    """
    if not everything and not any(wanted[name] for name in ("author", "title", "language")):
        raise click.UsageError("Select books with --author, --title, or --language, or all books with --all.")
    arguments = {key: value for key, value in wanted.items() if value is not None} | {"hierarchical": not flat}
    session.note_personal_home()
    with watching(session, "Ingesting") as watch:
        preconditions.to_ingest(session.app.alexandria, arguments)
        plain = batches.batch_ingest(session.app.alexandria, arguments, watch, everything=everything)
    if plain["failed"]:
        session.say(_lines(plain))
        raise CommandError(
            "SomeFailed", f"{plain['failed']} of {counted(plain['total'], 'book')} could not be ingested.", plain
        )
    answer(session, plain, lambda: _lines(plain))


def _lines(plain: Mapping[str, Any]) -> Iterator[str]:
    if not plain["results"]:
        yield "No book matches."
        return
    rows = [(str(each["id"]), each["status"], str(each["chunks"] or ""), _said(each)) for each in plain["results"]]
    yield from table(rows, ("ID", "STATUS", "CHUNKS", "TITLE"))
    yield f"{plain['succeeded']} of {counted(plain['total'], 'book')} ingested, {plain['skipped']} skipped"


def _said(book: Mapping[str, Any]) -> str:
    return f"{book['title']}: {book['error']}" if book["error"] else str(book["title"])
