"""`citekit serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.container import Container


@click.command("serve", cls=Command, answers=False)
@click.option(
    "--tools",
    metavar="LIST",
    help="citekit, alexandria, or both parted by a comma (default: $CITEKIT_TOOLS, else what is configured).",
)
@pass_session
def command(session: Session, /, tools: str | None) -> None:
    """Answer agents over MCP on standard input and output.

    Tools: listResources, getStructure, getNode, resolve, verifyQuote; and, where a library is named or a book was
    ingested, those of the library (alexandria_query, ...). Maps that are made or changed meanwhile are seen at once.
    """
    from citekit.entrypoints.mcp.server import serve

    app = session.app if tools is None else _offering(session.app, tools)
    home = app.settings.home
    if not home.is_dir():
        session.note(f"There is no folder {home} yet: nothing is mapped there.")
    serve(app)


def _offering(app: Container, tools: str) -> Container:
    """The same home with the toolsets that a list names."""
    from attrs import evolve

    from citekit.container import bootstrap
    from citekit.settings import read_toolsets

    chosen = evolve(app.settings.library, tools=read_toolsets("--tools", tools))
    return bootstrap(evolve(app.settings, library=chosen))
