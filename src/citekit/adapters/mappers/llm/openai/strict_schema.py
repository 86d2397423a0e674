"""Converts JSON Schemas to OpenAI's strict structured outputs, and checks answers against them.

In strict mode (OpenAI, "Structured model outputs", supported schemas), every object has `additionalProperties: false`
and requires all its properties, an optional value is a union with null, and few other keywords are supported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_STRUCTURE = frozenset({"type", "properties", "items", "enum", "const", "anyOf", "description"})
_BOUNDS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
)
_KNOWN = _STRUCTURE | _BOUNDS | {"pattern", "format"}

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n?```", re.DOTALL | re.IGNORECASE)


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `schema` in strict mode: optional properties become nullable, and unsupported keywords are removed."""
    kept = {name: _strict_value(value) for name, value in schema.items() if name in _KNOWN and name != "properties"}
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        needed = set(schema.get("required", ()))
        kept["properties"] = {
            name: strict(value) if name in needed else _nullable(strict(value)) for name, value in properties.items()
        }
    if "properties" in kept or schema.get("type") == "object":
        kept.setdefault("properties", {})
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept


def may_match(text: str, schema: Mapping[str, Any]) -> bool:
    """Return whether `text` may be an answer that matches `schema`: an object with the required top-level properties.

    Malformed text that starts with `{` passes, because `answers` may recover nodes from it.
    """
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return text.startswith("{")
    return isinstance(answer, dict) and set(schema.get("required", ())) <= answer.keys()


def without_wrapping(text: str) -> str:
    """Return a model's answer without the thoughts and the code fence that may surround it."""
    answer = _THOUGHTS.sub("", text).strip()
    fenced = _FENCED.search(answer)
    return fenced[1].strip() if fenced and not answer.startswith("{") else answer


def _strict_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return strict(value)
    if isinstance(value, list | tuple):
        return [strict(item) if isinstance(item, Mapping) else item for item in value]
    return value


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if kind is None:
        options = schema.get("anyOf", [schema])
        return {"anyOf": options if {"type": "null"} in options else [*options, {"type": "null"}]}
    kinds = list(kind) if isinstance(kind, list | tuple) else [kind]
    nullable = {**schema, "type": kinds if "null" in kinds else [*kinds, "null"]}
    if "enum" in schema and None not in schema["enum"]:
        nullable["enum"] = [*schema["enum"], None]
    return nullable
