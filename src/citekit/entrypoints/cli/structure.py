"""Implements the command `citekit structure`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled

if TYPE_CHECKING:
    from citekit.application.structure import Structure


@click.command("structure", cls=Command)
@click.argument("resource", required=False)
@click.option(
    "--resource", "-res", "named", metavar="RESOURCE", help="The resource, as an option instead of an argument."
)
@click.option("--node", metavar="ID", help="Show only this node and its descendants.")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show N levels. Level 1 is the top level or, with --node, the children of that node.",
)
@click.option("--chunks", is_flag=True, help="Also show the chunks of the library.")
@pass_session
def command(
    session: Session, resource: str | None, named: str | None, node: str | None, depth: int | None, chunks: bool
) -> None:
    """Show a map as a tree of node IDs, locations, and titles.

    With --json, prints the map in its stored form, which can be stored as a map again. The chunks of the library are
    left out unless you add --chunks.
    """
    if (resource is None) is (named is None):
        raise click.UsageError("Name exactly one resource.")
    found = session.app.structure(
        str(resource or named), node_id=node, depth=depth, include_chunks=chunks, limit=sys.maxsize
    )
    session.answer(_plain(found) if session.as_json else {}, _lines(found))


def _plain(found: Structure) -> dict[str, object]:
    from attrs import evolve

    from citekit.wire.maps import to_plain_map

    return to_plain_map(found.outline if found.whole else evolve(found.outline, nodes=found.nodes))


def _lines(found: Structure) -> Iterator[str]:
    from citekit.domain.phrases import counted
    from citekit.domain.unicode_controls import printable
    from citekit.entrypoints.cli.tables import tree

    resource_map = found.outline
    title = styled(printable(resource_map.title), bold=True)
    count = counted(resource_map.node_count, "node")
    shown = count if found.total == resource_map.node_count else f"{found.total} of {count}"
    yield f"{title}  ({resource_map.modality}, {shown})"
    yield from tree(found.nodes)
