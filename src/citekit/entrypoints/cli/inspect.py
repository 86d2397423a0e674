"""Implements the command `citekit inspect`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.domain.node import Node
    from citekit.domain.resource_map import ResourceMap


@click.command("inspect", cls=Command)
@click.argument("part", nargs=-1, required=True, metavar="RESOURCE NODE")
@click.option(
    "--resource", "-res", metavar="RESOURCE", help="The resource. With this option, the argument is only the node."
)
@pass_session
def command(session: Session, part: tuple[str, ...], resource: str | None) -> None:
    """Show one node of a map.

    Prints its location, address, summary, parent, and children. Extracts nothing. RESOURCE.NODE as one word works if it
    matches exactly one node.
    """
    from citekit.entrypoints.cli.part_arguments import named_node

    name = named_node(session.app.maps, part, resource)
    resource_map = session.app.maps.get(name.resource_id)
    node = resource_map.find(name.node_id)
    session.answer(_plain(resource_map, node), _lines(resource_map, node))


def _plain(resource_map: ResourceMap, node: Node) -> dict[str, object]:
    from citekit.domain.address import Address
    from citekit.wire.maps import to_plain_node

    above = resource_map.parent(node.id)
    return {
        **to_plain_node(node, depth=0),
        "resource_id": resource_map.resource_id,
        "address": str(Address(resource_map.resource_id, node.location)),
        "parent": above.id if above else None,
    }


def _lines(resource_map: ResourceMap, node: Node) -> Iterator[str]:
    from citekit.domain.address import Address
    from citekit.entrypoints.cli.formatting import place
    from citekit.entrypoints.cli.tables import node_line, pairs

    above = resource_map.parent(node.id)
    yield node_line(node)
    facts = [
        ("resource", f"{resource_map.resource_id} ({resource_map.modality})"),
        ("type", node.type),
        ("where", place(node.location)),
        ("address", str(Address(resource_map.resource_id, node.location))),
        ("summary", node.summary or ""),
        ("parent", above.id if above else ""),
    ]
    yield from pairs((name, value) for name, value in facts if value)
    for child in node.children:
        yield f"  - {node_line(child)}"
