"""Implements the command `citekit serve`, which runs the MCP server."""

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
    help="The tools to offer: citekit, alexandria, or both, separated by a comma (default: "
    "$CITEKIT_TOOLS, or what is configured).",
)
@pass_session
def command(session: Session, /, tools: str | None) -> None:
    """Serve agents over MCP on standard input and output.

    Tools: listResources, findText, readText, getStructure, getNode, resolve, verifyQuote, and ingest. If a library is
    configured or a book was ingested, the library tools (alexandria_query and so on) are also available. Maps that are
    created or changed while the server runs are visible immediately.
    """
    from citekit.entrypoints.mcp.server import serve

    app = session.app if tools is None else _offering(session.app, tools)
    home = app.settings.home
    if not home.is_dir():
        session.note(f"The folder {home} does not exist yet, so no files are mapped.")
    serve(app)


def _offering(app: Container, tools: str) -> Container:
    """Return the use cases for the same home folder with the toolsets in `tools`, a comma-separated list."""
    from attrs import evolve

    from citekit.container import bootstrap
    from citekit.settings import read_toolsets

    chosen = evolve(app.settings.library, tools=read_toolsets("--tools", tools))
    return bootstrap(evolve(app.settings, library=chosen))
