"""Implements the command `citekit versions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citekit.domain.resource_map import ResourceMap


@click.command("versions", cls=Command)
@click.argument("resource")
@click.option(
    "--use", metavar="MAPPER", help="Switch to this version. Give its mapper, mapper:model, or its full name."
)
@pass_session
def command(session: Session, resource: str, use: str | None) -> None:
    """List the versions of a map that different mappers made, or switch to another.

    The version in use is first. This command maps nothing and sends nothing: when another mapper maps the same,
    unchanged file, the earlier map is kept.
    """
    store = session.app.maps
    if use is not None:
        store.put(_chosen(store.editions(resource), resource, use))
    found = store.editions(resource)
    names = [str(each.mapper) if each.mapper else "unknown" for each in found]
    rows = [
        {
            "mapper": name,
            "nodes": each.node_count,
            "created_at": each.created_at.isoformat(),
            "in_use": each is found[0],
        }
        for name, each in zip(names, found, strict=True)
    ]
    session.answer({"resource": resource, "editions": rows}, [_line(row) for row in rows])


def _line(row: Mapping[str, object]) -> str:
    nodes = f"{row['nodes']} node{'' if row['nodes'] == 1 else 's'}"
    return f"{'*' if row['in_use'] else ' '} {row['mapper']}  {nodes}, created {row['created_at']}"


def _chosen(known: Sequence[ResourceMap], resource: str, use: str) -> ResourceMap:
    from citekit.domain.errors import RequestRefused

    wanted = f"{use.removesuffix('.py')}:"
    fitting = [
        each
        for each in known
        if each.mapper and f"{each.mapper}:".removeprefix("custom:").startswith(wanted.removeprefix("custom:"))
    ]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(str(each.mapper) for each in known if each.mapper) or "none with a known mapper"
    reason = "matches more than one version" if fitting else "matches no version"
    raise RequestRefused(f"'{use}' {reason} of '{resource}'. Available versions: {names}.")
