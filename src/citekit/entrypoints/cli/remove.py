"""`citekit remove`."""

from __future__ import annotations

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session


@click.command("remove", cls=Command)
@click.argument("resource")
@pass_session
def command(session: Session, resource: str) -> None:
    """Forget the map of a resource.

    The source is not touched. Evidence that was cut out of it stays in the cache until that is pruned or cleared.
    """
    from citekit.domain.unicode_controls import printable

    session.app.maps.remove(resource)
    line = f"The map of '{printable(resource)}' is gone. Its source was not touched, and evidence cut out of it stays in the"
    session.answer({"removed": resource, "evidence_kept": True}, [f"{line} cache ('citekit cache prune' makes room)."])
