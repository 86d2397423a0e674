"""Implements the command `citekit rename`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("rename", cls=Command)
@click.argument("resource")
@click.argument("new_id")
@pass_session
def command(session: Session, resource: str, new_id: str) -> None:
    """Give a resource another ID.

    The map, its versions, and its tags are kept, and evidence and receipts stay valid. A request with the old ID fails
    with a message that names the new one.
    """
    from citekit.domain.unicode_controls import printable

    session.app.rename(resource, new_id)
    line = f"'{printable(resource)}' is now '{printable(new_id)}'. Addresses with the old ID no longer work."
    if new_id == resource:
        line = f"'{printable(resource)}' already has this ID. Nothing was changed."
    session.answer({"renamed": resource, "resource_id": new_id}, [line])
