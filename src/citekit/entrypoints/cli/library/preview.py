"""Implements the command `citekit library preview`."""

from __future__ import annotations

from typing import Any

import click

from citekit.domain.progress import silent
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.library.options import answer, filters
from citekit.entrypoints.cli.library.text_wrapping import clipped
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.tables import table
from citekit.entrypoints.library import catalog


@click.command("preview", cls=Command)
@filters()
@click.option(
    "--format",
    "format_filter",
    default="epub",
    show_default=True,
    metavar="FORMAT",
    help="List only books that are available in this format: epub, pdf, ..., or any.",
)
@click.option("--limit", type=click.IntRange(1, 50), default=20, show_default=True, help="The maximum number of books.")
@pass_session
def command(session: Session, /, **wanted: Any) -> None:
    """List the books that can be ingested, and the file that would be used for each."""
    plain = catalog.preview(session.app.alexandria, wanted, silent)
    rows = [
        (str(book["id"]), book["selected_format"], clipped(book["title"], 50), book["file_path"])
        for book in plain["books"]
    ]
    answer(session, plain, lambda: table(rows, ("ID", "FORMAT", "TITLE", "FILE")) if rows else ())
    if not rows:
        among = wanted["format_filter"]
        session.note(
            "No book matches."
            if among == "any"
            else f"No book in the format {printable(among)} matches. To see all formats, use --format any."
        )
