"""Implements the command `citekit import` (also `citekit adapt`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citekit.entrypoints.cli.command import Command
from citekit.entrypoints.cli.session import Session, pass_session
from citekit.entrypoints.cli.terminal import styled

if TYPE_CHECKING:
    from citekit.application.import_map import ImportedMap


@click.command("import", cls=Command)
@click.argument("data", metavar="FILE")
@click.option(
    "--adapter",
    "-a",
    "name",
    required=True,
    metavar="NAME|FILE.py",
    help="The adapter that reads the data: graphrag, llamaindex, generic, or the path of a Python file.",
)
@click.option("--id", "wanted_id", metavar="ID", help="The resource ID (default: from the data or the file name).")
@click.option(
    "--source",
    metavar="PATH",
    help="The file that the structure describes. For graphrag and llamaindex, CiteKit looks for the passages in it.",
)
@click.option(
    "--bbox",
    type=click.Choice(["xyxy", "xywh"]),
    help="For generic: whether the four numbers of a box are its corners (xyxy) or a corner and its size "
    "(xywh). Default: xyxy.",
)
@click.option("--output", "-o", metavar="PATH", help="Write the map to this file instead of storing it.")
@click.option(
    "--force", is_flag=True, help="Replace an existing map with the same ID; with -o, replace an existing file."
)
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
    """Turn the structure that another program produced into a map.

    FILE is a file or a folder: GraphRAG tables (Parquet or JSON); LlamaIndex nodes, docstore, or persisted index;
    JSON similar to a CiteKit map; or any data that a Python file with a function adapt(data, **kwargs) can read.
    With --source, CiteKit validates every location against that file. For GraphRAG and LlamaIndex, it also looks for
    the passages in the file, and a passage that is not found gets a virtual location.

    `citekit adapt` is another name for this command.
    """
    from citekit.wire.locations import BoxOrder

    if bbox is not None and name != "generic":
        raise click.UsageError("--bbox works only with --adapter generic. The other adapters have a fixed box format.")
    adapter = session.app.adapter_called(name, BoxOrder(bbox or "xyxy"))
    wanted: dict[str, Any] = {"wanted_id": wanted_id, "source": None if source is None else Path(source)}
    if output is None:
        session.note_personal_home()
        made = session.app.adapt(Path(data), adapter, force=force, **wanted)
        place = str(session.app.settings.home / session.app.maps.expected_at(made.resource_map.resource_id))
    else:
        made = session.app.adapt.made(Path(data), adapter, **wanted)
        read = [path for path in (Path(data), wanted["source"]) if path is not None]
        place = str(_written(made, output, read, force=force))
    session.answer(_plain(made, place), _lines(made, place, stored=output is None))


def _written(made: ImportedMap, output: str, read: Sequence[Path], *, force: bool) -> Path:
    """Write the map to the file `output` and return its path. Only users who can read everything in `read` can read it.

    Raise `FaultyAnswer` if JSON cannot represent the map, and the errors of `copy_evidence`.
    """
    import tempfile

    from citekit.domain.errors import FaultyAnswer
    from citekit.entrypoints.cli.output_files import copy_evidence
    from citekit.wire.maps import to_json

    try:
        text = to_json(made.resource_map)
        content = text.encode()
    except (ValueError, TypeError) as error:
        raise FaultyAnswer("The map cannot be written as JSON", [f"$: {error}"]) from error
    with tempfile.TemporaryDirectory(prefix="citekit-adapt-") as folder:
        path = Path(folder) / f"{made.resource_map.resource_id[:60]}.json"
        path.write_bytes(content)
        path.chmod(_common_mode(read) & 0o444 | 0o200)
        return copy_evidence(path, output, read, force=force)


def _common_mode(paths: Sequence[Path]) -> int:
    """Return the permission bits that these paths, and the entries of folders among them, share."""
    mode = 0o777
    for path in paths:
        for each in (path, *(path.iterdir() if path.is_dir() else ())):
            mode &= each.stat().st_mode if each.exists() else mode
    return mode


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
    from citekit.domain.phrases import counted
    from citekit.domain.unicode_controls import printable

    resource_map = made.resource_map
    facts = (
        f"{resource_map.modality}, {counted(resource_map.node_count, 'node')}, {made.located} with a location in a file"
    )
    yield f"{styled(printable(resource_map.resource_id), bold=True)}  {printable(resource_map.title)}  ({facts})"
    for note in _notes(made):
        yield f"  {printable(note)}"
    if not stored:
        yield f"Written to {printable(place)}"
