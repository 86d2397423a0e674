"""Implements the command `citekit library ingest`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.library.one_by_one import ingest_each
from citekit.entrypoints.cli.library.options import ingesting as how
from citekit.entrypoints.cli.library.options import preference
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.library import ingesting


@click.command("ingest", cls=Command)
@click.argument("book_ids", nargs=-1, required=True, type=int, metavar="ID...")
@preference()
@how()
@pass_session
def command(session: Session, /, book_ids: tuple[int, ...], flat: bool, **wanted: object) -> None:
    """Ingest books from the library by their IDs.

    To find the IDs, run `citekit library search`.
    """
    named = [(str(each), {**wanted, "hierarchical": not flat, "book_id": each}) for each in book_ids]
    ingest_each(session, named, ingesting.ingest)
