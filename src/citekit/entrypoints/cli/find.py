"""`citekit find`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import FOLDER, Command, password_option
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("find", cls=Command)
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--resource",
    "-res",
    "resources",
    multiple=True,
    metavar="RESOURCE",
    help="Search only this resource. Can be repeated.",
)
@click.option("--regex", is_flag=True, help="Treat WORDS as a regular expression that matches inside one line.")
@click.option(
    "--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="The maximum number of matches."
)
@click.option(
    "--context",
    "context_lines",
    type=click.IntRange(0, 20),
    default=0,
    show_default=True,
    help="The number of lines to show before and after each match.",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=FOLDER,
    metavar="DIR",
    help="Look for moved sources in this folder. Can be repeated.",
)
@password_option("a source PDF")
@pass_session
def command(
    session: Session,
    words: tuple[str, ...],
    resources: tuple[str, ...],
    regex: bool,
    limit: int,
    context_lines: int,
    roots: tuple[str, ...],
    password: str | None,
) -> None:
    """Find words in the text of mapped files.

    Shows the matching lines with the address of their page, lines, or time: headings and captions first, then lines
    that contain all WORDS, then adjacent lines, then pages. Case and accents are ignored. Put a phrase in quotation
    marks inside the argument: citekit find '"net sales" 2023'. The text of a file that was not searched before is read
    first, which can take seconds.
    """
    from pathlib import Path

    from citekit.domain.unicode_controls import printable
    from citekit.entrypoints.found_text import found_lines
    from citekit.wire.found_text import to_plain

    query = " ".join(words)
    with watching(session, "Searching") as watch:
        found = session.app_with(password=password).find_text(
            query,
            resources,
            regex=regex,
            limit=limit,
            context_lines=context_lines,
            roots=[Path(root) for root in roots],
            progress=watch,
        )
    session.answer({"query": query, **to_plain(found)}, (printable(line) for line in found_lines(found)))
