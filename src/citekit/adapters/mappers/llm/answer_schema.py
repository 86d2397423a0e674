"""The JSON Schema of an answer, derived from that of a map: flat, without references, every field required.

The tree has levels instead of `children`, because structured outputs of services take no recursive schema. A range has
a first and a last number, because a list of all its pages costs output, which is scarce.
"""

from __future__ import annotations

from typing import Any

from citekit.adapters.mappers.llm.location_codec import LocationCodec
from citekit.wire.schema import MAP_SCHEMA, NODE_SCHEMA


def answer_schema(codec: LocationCodec, types: str) -> dict[str, Any]:
    """The JSON Schema of an answer with locations of `codec`; `types` are suggestions for the types of nodes."""
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
