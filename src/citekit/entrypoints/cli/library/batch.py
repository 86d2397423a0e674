"""`citekit library batch`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from citekit.entrypoints.alexandria import batching
from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.drawing import table
from citekit.entrypoints.cli.library.answering import answer, filters, ingesting, preference
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.watching import watching


@click.command("batch", cls=Command)
@click.option("--all", "everything", is_flag=True, help="All books of the library.")
@filters()
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="How many books at most.")
@preference()
@ingesting()
@pass_session
def command(session: Session, /, everything: bool, flat: bool, **wanted: Any) -> None:
    """Ingest many books of the library.

    Those that are in the collection already are skipped, so that what was interrupted goes on when called again.
    """
    arguments = {key: value for key, value in wanted.items() if value is not None} | {"hierarchical": not flat}
    with watching(session, "Ingesting") as watch:
        plain = batching.batch_ingest(session.app.alexandria, arguments, watch, everything=everything)
    answer(session, plain, lambda: _lines(plain))


def _lines(plain: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (str(each["id"]), each["status"], str(each["chunks"] or ""), each["title"], each["error"] or "")
        for each in plain["results"]
    ]
    if rows:
        yield from table(rows, ("ID", "STATUS", "CHUNKS", "TITLE", ""))
    yield plain["summary"]
