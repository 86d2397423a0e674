"""`create_agent_context` of citekit 0.2."""

from __future__ import annotations

import json
from collections.abc import Sequence

from citekit.compat.models import ResourceMap


def create_agent_context(maps: Sequence[ResourceMap], format: str = "markdown") -> str:
    """The top-level nodes of maps as one text for a model: `markdown`, or `json`."""
    if format == "json":
        return json.dumps([_summary(resource_map) for resource_map in maps], indent=2)
    lines = ["# Available Resources Index", ""]
    for each in maps:
        lines.append(f"## {each.title} (ID: {each.resource_id}, Type: {each.type})")
        lines.extend(f"- **{node.id}**: {node.title} - {node.summary or ''}" for node in each.nodes)
        lines.append("")
    return "\n".join(lines).strip()


def _summary(resource_map: ResourceMap) -> dict[str, object]:
    nodes = [{"id": node.id, "title": node.title, "summary": node.summary} for node in resource_map.nodes]
    return {"id": resource_map.resource_id, "title": resource_map.title, "type": resource_map.type, "nodes": nodes}
