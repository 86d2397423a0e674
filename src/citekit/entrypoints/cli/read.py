"""Implements the command `citekit read`."""

from __future__ import annotations

from pathlib import Path

import click

from citekit.domain.text_search.limits import CHARS_LEAST, CHARS_LIMIT, MAX_CHARS
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.cli.command import Command, password_option, roots_option
from citekit.entrypoints.cli.progress import watching
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.read_text import read_lines
from citekit.wire.read_text import to_plain


@click.command("read", cls=Command)
@click.argument("resource")
@click.argument("part", required=False, metavar="[NODE | ADDRESS]")
@click.option(
    "--max-chars",
    type=click.IntRange(CHARS_LEAST, CHARS_LIMIT),
    default=MAX_CHARS,
    show_default=True,
    help="The maximum number of characters of text.",
)
@click.option("--cursor", metavar="CURSOR", help="Continue the text of an earlier answer that was cut.")
@roots_option()
@password_option("a source PDF")
@pass_session
def command(
    session: Session,
    resource: str,
    part: str | None,
    max_chars: int,
    cursor: str | None,
    roots: tuple[str, ...],
    password: str | None,
) -> None:
    """Print the text of a part of a file, without extracting it.

    The part is a node, an address (citekit read doc://book#pages=12), or, without one, the whole file. Table cells are
    separated by |, headings marked with ##, and locations given by lines such as [page 12]. A node that begins in the
    middle of a page is read from its heading to the next one. A long text is cut at a line; --cursor continues it.
    """
    with watching(session, "Reading") as watch:
        found = session.app_with(password=password).read_text(
            resource,
            part,
            max_chars=max_chars,
            cursor=cursor,
            roots=[Path(root) for root in roots],
            progress=watch,
        )
    session.answer(to_plain(found), (printable(line) for line in read_lines(found, "  ")))
