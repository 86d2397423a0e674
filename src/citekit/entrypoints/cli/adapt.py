"""`citekit adapt`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled

if TYPE_CHECKING:
    from citekit.application.import_map import ImportedMap


@click.command("adapt", cls=Command)
@click.argument("data", metavar="FILE")
@click.option(
    "--adapter",
    "-a",
    "name",
    required=True,
    metavar="NAME|FILE.py",
    help="Who reads it: graphrag, llamaindex, generic, or a Python file.",
)
@click.option("--id", "wanted_id", metavar="ID", help="The id of the resource (default: from the data or its name).")
@click.option("--source", metavar="PATH", help="The file that the structure is of, to tell lines and pages in it.")
@click.option(
    "--bbox",
    type=click.Choice(["xyxy", "xywh"]),
    help="For generic: what the four numbers of a box mean (default: xyxy, its corners).",
)
@click.option("--output", "-o", metavar="PATH", help="Write the map to this file, and do not store it.")
@click.option("--force", is_flag=True, help="Replace another map of that id, or with -o another file.")
@pass_session
def command(
    session: Session,
    data: str,
    name: str,
    wanted_id: str | None,
    source: str | None,
    bbox: str | None,
    output: str | None,
    force: bool,
) -> None:
    """Turn the structure that another program found into a map.

    FILE is a file or a folder: GraphRAG's tables (Parquet or JSON), LlamaIndex's nodes, docstore or persisted index, JSON
    close to a map of ours, or whatever a Python file with a function adapt(data, **kwargs) reads. With --source, passages
    are looked for in that file, and every place is checked against it; what is not found keeps a virtual place.
    """
    from citekit.wire.locations import BoxOrder

    if bbox is not None and name != "generic":
        raise click.UsageError("--bbox is for --adapter generic: the others know what their boxes mean.")
    adapter = session.app.adapter_called(name, BoxOrder(bbox or "xyxy"))
    wanted: dict[str, Any] = {"wanted_id": wanted_id, "source": None if source is None else Path(source)}
    if output is None:
        made = session.app.adapt(Path(data), adapter, force=force, **wanted)
        place = str(session.app.settings.home / session.app.maps.expected_at(made.resource_map.resource_id))
    else:
        made = session.app.adapt.made(Path(data), adapter, **wanted)
        place = str(_written(made, output, force))
    session.answer(_plain(made, place), _lines(made, place, stored=output is None))


def _written(made: ImportedMap, output: str, force: bool) -> Path:
    """Write the map to a file of its own. Raises `RequestRefused`, `HomeUnwritable`, `FaultyAnswer`."""
    import tempfile

    from citekit.domain.errors import FaultyAnswer
    from citekit.entrypoints.cli.output_files import copy_evidence
    from citekit.wire.maps import to_json

    try:
        text = to_json(made.resource_map)
        content = text.encode()
    except (ValueError, TypeError) as error:
        raise FaultyAnswer("the map", [f"$: JSON cannot hold it: {error}"]) from error
    with tempfile.TemporaryDirectory(prefix="citekit-adapt-") as folder:
        path = Path(folder) / f"{made.resource_map.resource_id[:60]}.json"
        path.write_bytes(content)
        return copy_evidence(path, output, path, force=force)


def _plain(made: ImportedMap, place: str) -> dict[str, Any]:
    resource_map = made.resource_map
    return {
        "resource_id": resource_map.resource_id,
        "type": resource_map.modality.value,
        "title": resource_map.title,
        "source_path": resource_map.source_path,
        "nodes": resource_map.node_count,
        "located": made.located,
        "notes": _notes(made),
        "map": place,
    }


def _notes(made: ImportedMap) -> list[str]:
    notes = made.resource_map.metadata.get("notes")
    return [str(note) for note in notes] if isinstance(notes, list) else []


def _lines(made: ImportedMap, place: str, *, stored: bool) -> Iterator[str]:
    from citekit.domain.unicode_controls import printable
    from citekit.entrypoints.cli.formatting import counted

    resource_map = made.resource_map
    facts = (
        f"{resource_map.modality}, {counted(resource_map.node_count, 'node')}, {made.located} with a place in a file"
    )
    yield f"{styled(printable(resource_map.resource_id), bold=True)}  {printable(resource_map.title)}  ({facts})"
    for note in _notes(made):
        yield f"  {printable(note)}"
    if not stored:
        yield f"Written to {printable(place)}"
