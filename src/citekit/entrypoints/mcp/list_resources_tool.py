"""Implements the MCP tool `listResources`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from attrs import evolve
from mcp_types import Tool, ToolAnnotations

from citekit.application.list_resources import ListedResource, ResourceList
from citekit.container import Container
from citekit.domain.phrases import counted
from citekit.domain.unicode_controls import printable
from citekit.entrypoints.mcp import schemas
from citekit.entrypoints.mcp.answers import Answer

_STRING: Mapping[str, Any] = {"type": "string"}

RESOURCES: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "resources": {"type": "array", "items": _STRING, "description": "Resource ids, sorted."},
        "details": {
            "type": "array",
            "description": "With query or cursor: details of the resources on this page, in the same order.",
            "items": {
                "type": "object",
                "properties": {
                    "id": _STRING,
                    "title": _STRING,
                    "type": _STRING,
                    "size": {**_STRING, "description": "The extent, such as 105 pages."},
                    "source_path": _STRING,
                    "tags": {"type": "array", "items": _STRING, "description": "The user's tags."},
                    "problem": {**_STRING, "description": "Why the other fields are missing."},
                },
                "required": ["id"],
            },
        },
        "total": {"type": "integer", "description": "With query or cursor: the number of resources on all pages."},
        "next_cursor": {**_STRING, "description": "The cursor of the next page, if there is one."},
    },
    "required": ["resources"],
}

LIST_RESOURCES = Tool(
    name="listResources",
    title="List mapped files",
    description="Lists the ids of all mapped files; with query, ids, titles, sizes, and paths of matches.",
    input_schema=schemas.inputs(
        {
            "query": schemas.text("Words in the id, title, tags, or path; empty: all."),
            "cursor": schemas.text("The previous answer's next_cursor."),
        }
    ),
    output_schema=dict(RESOURCES),
    annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
)

TITLE_LIMIT = 120
"""The maximum number of characters of a title in the text."""

_DAMAGED = "The map of this resource cannot be read. For the reason, call getStructure."


def ids_answer(ids: Sequence[str]) -> Answer:
    """Return the result in the form of the specification: only IDs."""
    return Answer.of({"resources": list(ids)})


def list_resources(app: Container, arguments: Mapping[str, Any], shown: Callable[[str], str] | None = None) -> Answer:
    """Run `listResources` with a query or a cursor. `shown` converts paths for remote clients."""
    found = app.list_resources(arguments.get("query", ""), arguments.get("cursor"))
    if shown is not None:
        found = evolve(found, resources=[_with_path(each, shown) for each in found.resources])
    plain: dict[str, Any] = {
        "resources": [each.resource_id for each in found.resources],
        "details": [_details(each) for each in found.resources],
        "total": found.total,
    }
    if found.next_cursor is not None:
        plain["next_cursor"] = found.next_cursor
    return Answer.of(plain, summary="\n".join(_lines(found)))


def _with_path(listed: ListedResource, shown: Callable[[str], str]) -> ListedResource:
    card = listed.card
    return listed if card is None else evolve(listed, card=card._replace(source_path=shown(card.source_path)))


def _details(listed: ListedResource) -> dict[str, Any]:
    card = listed.card
    if card is None:
        return {"id": listed.resource_id, "problem": _DAMAGED}
    size = {"size": card.size} if card.size else {}
    tags = {"tags": list(listed.tags)} if listed.tags else {}
    known = {"id": listed.resource_id, "title": card.title, "type": card.type}
    return {**known, **size, "source_path": card.source_path, **tags}


def _lines(found: ResourceList) -> Iterator[str]:
    """Yield a line with the number of resources, and one for each. Paths are relative to the folder, if any, in the
    first line.
    """
    folder = _common_folder(found.resources)
    below = f", paths below {printable(folder)}" if folder else ""
    yield f"{counted(found.total, 'resource')}{below if found.resources else ''}"
    for each in found.resources:
        yield f"{printable(each.resource_id)}: {_facts(each, folder)}"
    if found.next_cursor is not None:
        yield f"More: cursor {printable(found.next_cursor)}"


def _facts(listed: ListedResource, folder: str) -> str:
    card = listed.card
    if card is None:
        return _DAMAGED
    path = card.source_path
    if folder:
        path = os.path.relpath(path, folder)
    title = " ".join(card.title.split())
    title = title if len(title) <= TITLE_LIMIT else f"{title[: TITLE_LIMIT - 3].rstrip()}..."
    tags = f" [{', '.join(listed.tags)}]" if listed.tags else ""
    return f"{title} ({', '.join(filter(None, (card.type, card.size)))}) {printable(path)}{printable(tags)}"


def _common_folder(listed: Sequence[ListedResource]) -> str:
    """Return the deepest folder below the root that contains all files, or an empty text."""
    folders = [str(PurePath(each.card.source_path).parent) for each in listed if each.card is not None]
    if not folders or not all(map(os.path.isabs, folders)):
        return ""
    try:
        common = os.path.commonpath(folders)
    except ValueError:
        return ""
    return "" if PurePath(common).parent == PurePath(common) else common
