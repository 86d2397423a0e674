"""`citekit list`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from citekit.bootstrap import App
    from citekit.domain.resource_map import ResourceMap


@click.command("list", cls=Command)
@click.argument("resource", required=False)
@pass_session
def command(session: Session, resource: str | None) -> None:
    """List the mapped resources, or the nodes of one.

    The source of a map is `unchanged`, `changed` since it was mapped, `missing` from where it was, or `unknown` where
    the map does not say what it was. A map that cannot be read is `damaged`.
    """
    if resource is None:
        _resources(session)
    else:
        _nodes(session, session.app.maps.get(resource))


def _resources(session: Session) -> None:
    from citekit.entrypoints.cli.drawing import table
    from citekit.entrypoints.cli.wording import counted

    rows = [_resource(session.app, resource_id) for resource_id in session.app.maps.ids()]

    def lines() -> Iterator[str]:
        if not rows:
            home = session.app.settings.home
            where = f"in {home}" if home.is_dir() else f"in {home}, which does not exist"
            yield f"No maps yet {where}. Map a file: citekit ingest PATH"
            return
        cells = [
            (row["resource_id"], row["type"] or "", str(row["nodes"] or ""), row["source"], row["title"] or "")
            for row in rows
        ]
        yield from table(cells, ("ID", "TYPE", "NODES", "SOURCE", "TITLE"))

    session.answer({"resources": rows}, lines())
    damaged = [row for row in rows if "error" in row]
    if damaged:
        session.note(f"{counted(len(damaged), 'map')} cannot be read; 'citekit doctor' says why.")


def _resource(app: App, resource_id: str) -> dict[str, Any]:
    from citekit.domain.errors import CiteKitError

    try:
        found = app.maps.get(resource_id)
    except CiteKitError as error:
        none = dict.fromkeys(("type", "title", "nodes", "source_path"))
        return {"resource_id": resource_id, **none, "source": "damaged", "error": str(error)}
    return {
        "resource_id": resource_id,
        "type": found.modality.value,
        "title": found.title,
        "nodes": found.node_count,
        "source_path": found.source_path,
        "source": _state(app, found),
    }


def _state(app: App, resource_map: ResourceMap) -> str:
    if not resource_map.source_path or resource_map.source_digest is None:
        return "unknown"
    if app.locate.staleness(resource_map) is None:
        return "unchanged"
    written = Path(resource_map.source_path)
    home = app.settings.home
    return "changed" if any(path.is_file() for path in (home / written, home / written.name)) else "missing"


def _nodes(session: Session, resource_map: ResourceMap) -> None:
    from citekit.domain.address import Address
    from citekit.entrypoints.cli.drawing import table
    from citekit.entrypoints.cli.wording import place
    from citekit.wire.locations import to_plain

    nodes = list(resource_map.walk())
    plain = (
        [
            {
                "id": node.id,
                "title": node.title,
                "type": node.type,
                "location": to_plain(node.location),
                "address": str(Address(resource_map.resource_id, node.location)),
            }
            for node in nodes
        ]
        if session.as_json
        else []
    )
    rows = ((node.id, node.type, place(node.location), node.title) for node in nodes)
    session.answer(
        {"resource_id": resource_map.resource_id, "nodes": plain}, table(rows, ("ID", "TYPE", "WHERE", "TITLE"))
    )
