"""Implements the command `citekit find`, which searches the text of mapped files."""

from __future__ import annotations

from pathlib import Path

import click

from citekit.application.find_text import CONTEXT_LIMIT, HIT_LIMIT, LIMIT
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, resources_option, roots_option
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.found_text import found_lines
from citekit.wire.found_text import to_plain


@click.command("find", cls=Command)
@click.argument("words", nargs=-1, required=True)
@resources_option()
@click.option("--regex", is_flag=True, help="Treat WORDS as a regular expression that matches inside one line.")
@click.option(
    "--limit",
    type=click.IntRange(1, HIT_LIMIT),
    default=LIMIT,
    show_default=True,
    help="The maximum number of matches.",
)
@click.option(
    "--context",
    "context_lines",
    type=click.IntRange(0, CONTEXT_LIMIT),
    default=0,
    show_default=True,
    help="The number of lines to show before and after each match.",
)
@roots_option()
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
