"""Implements the command `citekit remove`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("remove", cls=Command)
@click.argument("resource")
@pass_session
def command(session: Session, resource: str) -> None:
    """Delete the map of a resource, its tags, and its text in the search indexes.

    The source file does not change. Evidence that was extracted from it stays in the cache until the cache is pruned or
    cleared.
    """
    from citekit.domain.unicode_controls import printable

    session.app.remove(resource)
    line = (
        f"Deleted the map and the tags of '{printable(resource)}'. The source file was not changed. Evidence that was "
        "extracted from it stays in the cache. To free space, run: citekit cache prune --limit SIZE"
        f"{session.home_words()}"
    )
    session.answer({"removed": resource, "evidence_kept": True}, [line])
