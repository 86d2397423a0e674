"""Validates the arguments of a tool call against the input schema of the tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.domain.errors import RequestRefused


def checked(tool: str, schema: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a tool call after validating them against the tool's input schema.

    Arguments that are null are left out, because models write null for arguments that they do not want to set. Raise
    `RequestRefused` if an argument is unknown, missing, or of the wrong type.
    """
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    arguments = {name: value for name, value in (given or {}).items() if value is not None}
    for name, value in arguments.items():
        if name not in properties:
            known = ", ".join(properties) or "none"
            raise RequestRefused(f"{name[:80]!r} is not an argument of {tool}. Valid arguments: {known}.")
        arguments[name] = _value(name, properties[name], value)
    for name in schema.get("required", ()):
        if name not in arguments:
            raise RequestRefused(f"{tool} requires the argument {name}, a string.")
    return arguments


def _value(name: str, schema: Mapping[str, Any], value: object) -> object:
    match schema["type"], value:
        case "string", str() if value in schema.get("enum", (value,)):
            return value
        case "boolean", bool():
            return value
        case "integer", bool():
            pass
        case "integer", int() if _in_range(schema, value):
            return value
        case "integer", float() if value.is_integer() and _in_range(schema, int(value)):
            return int(value)
        case "array", list() if "properties" in schema["items"]:
            return [_object(f"{name}[{at}]", schema["items"], each) for at, each in enumerate(value)]
        case "array", _ if "properties" in schema["items"]:
            pass
        case "array", str():
            return [value]
        case "array", list() if all(isinstance(each, str) for each in value):
            return value
    shown = repr(value)
    raise RequestRefused(f"{name} must be {_wanted(schema)}, not {shown if len(shown) <= 60 else shown[:60] + '...'}.")


def _object(name: str, schema: Mapping[str, Any], value: object) -> dict[str, Any]:
    """An object in a list. A string stands for an object with only its required property."""
    required = schema["required"][0]
    if isinstance(value, str):
        return checked(name, schema, {required: value})
    if not isinstance(value, Mapping):
        raise RequestRefused(f"{name} must be an object with the string {required}.")
    return checked(name, schema, value)


def _wanted(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if schema["type"] == "integer":
        least, most = schema["minimum"], schema.get("maximum")
        return f"an integer of at least {least}" if most is None else f"an integer from {least} to {most}"
    if schema["type"] == "array" and "properties" in schema["items"]:
        return "a list of objects"
    return {"string": "a string", "boolean": "true or false", "array": "a list of strings"}[schema["type"]]


def _in_range(schema: Mapping[str, Any], value: int) -> bool:
    return bool(schema["minimum"] <= value <= schema.get("maximum", value))
