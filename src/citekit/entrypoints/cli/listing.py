"""Implements the command `citekit list`."""

# ruff: noqa: PTH112, PTH113, PTH118, PTH119 - importing pathlib would add 3 ms to the start

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from citekit.application.recorded_paths import written_places
from citekit.entrypoints.cli.command import Command, tag_option
from citekit.entrypoints.cli.session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citekit.container.fast_listing import HomeSnapshot
    from citekit.domain.map_card import MapCard
    from citekit.domain.resource_map import ResourceMap


@click.command("list", cls=Command)
@click.argument("resource", required=False)
@tag_option("List only resources with this tag.")
@pass_session
def command(session: Session, resource: str | None, tag: str | None) -> None:
    """List the mapped resources, or the nodes of one resource.

    The state of a source is `unchanged`, `changed` (since it was mapped), `missing` (not at its path), or `unknown`
    (the map does not record the original state). A map that cannot be read is `damaged`.
    """
    if resource is None:
        _resources(session, None if tag is None else session.app.tag.tagged(tag))
    elif tag is not None:
        raise click.UsageError("--tag selects resources, so it cannot be combined with RESOURCE.")
    else:
        _nodes(session, session.app.maps.get(resource))


def _resources(session: Session, chosen: Sequence[str] | None) -> None:
    from citekit.container.fast_listing import home_snapshot
    from citekit.domain.phrases import counted
    from citekit.entrypoints.cli.tables import table

    with home_snapshot(session.chosen_home) as snapshot:
        rows = [_resource(session, snapshot, resource_id) for resource_id in chosen or _ids(session, snapshot)]

    def lines() -> Iterator[str]:
        if not rows:
            store = os.environ.get("CITEKIT_STORE")
            missing = "" if os.path.isdir(snapshot.home) else ", which does not exist"
            where = f"{store} (CITEKIT_STORE)" if store else f"{snapshot.home} ({session.why_home}){missing}"
            yield f"There are no maps yet in {where}. To map a file, run: citekit ingest PATH{session.home_words()}"
            return
        cells = [
            (row["resource_id"], row["type"] or "", str(row["nodes"] or ""), row["source"], row["title"] or "")
            for row in rows
        ]
        yield from table(cells, ("ID", "TYPE", "NODES", "SOURCE", "TITLE"))

    session.answer({"resources": rows}, lines())
    damaged = [row for row in rows if "error" in row]
    if damaged:
        session.note(
            f"{counted(len(damaged), 'map')} cannot be read. For the reason, run: citekit doctor{session.home_words()}"
        )


def _ids(session: Session, snapshot: HomeSnapshot) -> Sequence[str]:
    return tuple(snapshot.maps) if snapshot.maps is not None else session.app.maps.ids()


def _resource(session: Session, snapshot: HomeSnapshot, resource_id: str) -> dict[str, Any]:
    found = snapshot.maps.get(resource_id) if snapshot.maps is not None else None
    if found is None:
        from citekit.domain.errors import CiteKitError

        try:
            found = session.app.maps.card(resource_id)
        except CiteKitError as error:
            none = dict.fromkeys(("type", "title", "nodes", "source_path"))
            return {"resource_id": resource_id, **none, "source": "damaged", "error": str(error)}
    return {
        "resource_id": resource_id,
        "type": found.type,
        "title": found.title,
        "nodes": found.nodes,
        "source_path": found.source_path,
        "source": _state(session, snapshot, found),
    }


def _state(session: Session, snapshot: HomeSnapshot, card: MapCard) -> str:
    """Return the state of a map's source file: `unchanged`, `changed`, `missing`, or `unknown`.

    Only the paths from `written_places` are compared. If none exists, a file with the same name in the home counts as
    changed.
    """
    if not card.source_path or card.source_hash is None:
        return "unknown"
    places = written_places(card.source_path, snapshot.home)
    beside = os.path.join(snapshot.home, os.path.basename(places[0]))
    there = next((place for place in places if os.path.isfile(place)), None)
    if there is None:
        return "changed" if os.path.isfile(beside) else "missing"
    return "unchanged" if (snapshot.digest(there) or _digest(session, there)) == card.source_hash else "changed"


def _digest(session: Session, path: str) -> str | None:
    from pathlib import Path

    found = session.app.sources.digest(Path(path))
    return None if found is None else found.hex


def _nodes(session: Session, resource_map: ResourceMap) -> None:
    from citekit.domain.address import Address
    from citekit.entrypoints.cli.formatting import place
    from citekit.entrypoints.cli.tables import table
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
