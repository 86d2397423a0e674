"""`citekit serve`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("serve", cls=Command, answers=False)
@pass_session
def command(session: Session) -> None:
    """Answer agents over MCP on standard input and output.

    Tools: listResources, getStructure, getNode, resolve. Maps that are made or changed meanwhile are seen at once.
    """
    from citekit.entrypoints.mcp.server import serve

    home = session.app.settings.home
    if not home.is_dir():
        session.note(f"There is no folder {home} yet: nothing is mapped there.")
    serve(session.app)
