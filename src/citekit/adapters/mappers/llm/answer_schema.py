"""Derives the JSON Schema of a model's answer from the schema of a map.

The schema of an answer is flat, has no references, and requires every field. Nodes have levels instead of `children`,
because structured outputs of model services do not support recursive schemas. A range has a first and a last number,
because a list of all pages would need more output tokens.
"""

from __future__ import annotations

from typing import Any

from citekit.adapters.mappers.llm.location_codec import LocationCodec
from citekit.wire.schema import MAP_SCHEMA, NODE_SCHEMA


def answer_schema(codec: LocationCodec, types: str) -> dict[str, Any]:
    """Return the JSON Schema of an answer whose locations are written as `codec` defines.

    `types` is a text that suggests types of nodes to the model.
    """
    node = NODE_SCHEMA["properties"]
    fields = {
        "level": {"type": "integer", "description": "1 at the top; one more than that of the part it belongs to."},
        "title": {**node["title"], "description": "As written in the file, if the file has it."},
        "type": {**node["type"], "description": f"One word: {types}."},
        "summary": {**node["summary"], "description": "One or two sentences: what is said or shown there."},
        **codec.fields,
    }
    return _object(
        {
            "title": {**MAP_SCHEMA["properties"]["title"], "description": "The title of the whole file."},
            "nodes": {"type": "array", "items": _object(fields), "description": "In reading order."},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
