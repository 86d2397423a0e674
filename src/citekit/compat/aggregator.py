"""Provides `create_agent_context` of citekit 0.2."""

from __future__ import annotations

import json
from collections.abc import Sequence

from citekit.application.agent_context import agent_context
from citekit.compat.models import ResourceMap, domain_map
from citekit.domain.resource_map import ResourceMap as DomainMap


def create_agent_context(
    maps: Sequence[ResourceMap | DomainMap], format: str = "markdown", budget: int | None = None
) -> str:
    """Return one text that describes `maps` to a language model. `format` is "markdown" or "json".

    Without a budget, the text lists the top-level nodes in the format of citekit 0.2. With a budget in tokens, it is
    the text of `citekit.application.agent_context`, and the errors of that function are raised.
    """
    if budget is not None:
        known = [each if isinstance(each, DomainMap) else domain_map(each) for each in maps]
        return agent_context(known, format=format, budget=budget).text
    return _as_in_0_2(maps, format)


def _as_in_0_2(maps: Sequence[ResourceMap | DomainMap], format: str) -> str:
    if format == "json":
        return json.dumps([_summary(resource_map) for resource_map in maps], indent=2)
    lines = ["# Available Resources Index", ""]
    for each in maps:
        lines.append(f"## {each.title} (ID: {each.resource_id}, Type: {_type(each)})")
        lines.extend(f"- **{node.id}**: {node.title} - {node.summary or ''}" for node in each.nodes)
        lines.append("")
    return "\n".join(lines).strip()


def _type(resource_map: ResourceMap | DomainMap) -> str:
    return resource_map.modality.value if isinstance(resource_map, DomainMap) else resource_map.type


def _summary(resource_map: ResourceMap | DomainMap) -> dict[str, object]:
    nodes = [{"id": node.id, "title": node.title, "summary": node.summary} for node in resource_map.nodes]
    return {"id": resource_map.resource_id, "title": resource_map.title, "type": _type(resource_map), "nodes": nodes}
