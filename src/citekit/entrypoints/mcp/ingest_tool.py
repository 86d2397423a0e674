"""Implements the MCP tool `ingest`, which maps a file without a model."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mcp_types import Tool, ToolAnnotations

from citekit.container import Container
from citekit.domain.errors import RequestRefused, SourceUnreadable
from citekit.domain.map_card import MapCard
from citekit.domain.phrases import counted
from citekit.domain.progress import Progress
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.mcp import schemas
from citekit.entrypoints.mcp.answers import Answer

SIZE_LIMIT = 4 * 1024**3
"""The maximum size in bytes of a file that an agent can map."""

INGESTED: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "resource_id": {"type": "string"},
        "title": {"type": "string"},
        "type": {"type": "string"},
        "size": {"type": "string", "description": "The extent, such as 105 pages."},
        "nodes": {"type": "integer", "description": "The number of nodes in the map."},
        "mapped_now": {"type": "boolean", "description": "False if the file was already mapped and is unchanged."},
    },
    "required": ["resource_id", "title", "type", "nodes", "mapped_now"],
}

INGEST = Tool(
    name="ingest",
    title="Map a file",
    description="Maps a local file for other tools. Can take minutes unless already mapped.",
    input_schema=schemas.inputs({"path": schemas.text("Absolute, or relative to the home.")}, ("path",)),
    output_schema=dict(INGESTED),
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)


def ingest(
    app: Container, arguments: Mapping[str, Any], progress: Progress, *, find: Callable[[str], Path] | None = None
) -> Answer:
    """Run the tool `ingest`. `find` converts the path that a client gave, by default relative to the home.

    Raise `RequestRefused` for a URL, an empty path, or a file that is too large, `SourceUnreadable` for a folder,
    `PathNotAllowed`, and the errors of `find` and `Ingest`.
    """
    path = find(arguments["path"]) if find else _local_path(arguments["path"], app.settings.home)
    real = app.mappable_folders.check(path)
    home = app.settings.home.absolute()
    command = f"citekit ingest {shlex.quote(str(path))} --home {shlex.quote(str(home))}"
    advice = (
        "Ask the operator of the server to map it." if find else f"Ask the user to map it with this command: {command}"
    )
    _check_size(real, path, advice)
    done = app.ingest_for_agents(real, progress=progress)
    card = done.card
    plain: dict[str, Any] = {"resource_id": card.resource_id, "title": card.title, "type": card.type}
    if card.size:
        plain["size"] = card.size
    plain.update(nodes=card.nodes, mapped_now=done.mapped_now)
    return Answer.of(plain, summary=_line(card, mapped_now=done.mapped_now))


def _local_path(text: str, home: Path) -> Path:
    if "://" in text:
        raise RequestRefused("ingest maps local files only. Give the path of a file, not a URL.")
    if not text.strip():
        raise RequestRefused("The path is empty. Give the path of a file.")
    return home / text


def _check_size(real: Path, path: Path, advice: str) -> None:
    try:
        size = real.stat().st_size
    except OSError:
        return  # reading the file reports what is wrong with it
    if real.is_dir():
        raise SourceUnreadable(f"{path} is a folder. Give the path of one file.")
    if size > SIZE_LIMIT:
        raise RequestRefused(
            f"{path} has {size:,} bytes. An agent can map files of up to {SIZE_LIMIT:,} bytes. {advice}"
        )


def _line(card: MapCard, *, mapped_now: bool) -> str:
    facts = ", ".join(filter(None, (card.type, card.size, counted(card.nodes, "node"))))
    how = "mapped now" if mapped_now else "already mapped and unchanged"
    return f"{printable(card.resource_id)}: {' '.join(card.title.split())} ({facts}), {how}"
