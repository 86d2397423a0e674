"""Validates the arguments of tool calls, and finds the resources that they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from citekit.domain.errors import RequestRefused, ResourceMissing
from citekit.domain.suggestions import name_meant

T = TypeVar("T")

_NAMING = ("resource_id", "resource_ids")
"""The arguments whose values are resource IDs."""


def checked(tool: str, schema: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a tool call after validating them against the tool's input schema.

    Null arguments are left out: models write null for what they do not want to set. Raise `RequestRefused` if an
    argument is unknown, missing, of the wrong type, or outside the permitted values.
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
            raise RequestRefused(f"{tool} requires the argument {name}, {_wanted(properties[name])}.")
    return arguments


def with_ids_meant(
    run: Callable[[Mapping[str, object]], T], arguments: Mapping[str, object], ids: Callable[[], Iterable[str]]
) -> T:
    """Return the result of `run`, after replacing unknown IDs that are a file name or another spelling of exactly one
    of `ids`.

    Raise `ResourceMissing` for other unknown IDs, and the errors of `run`.
    """
    try:
        return run(arguments)
    except ResourceMissing as error:
        meant = name_meant(error.resource_id, ids())
        corrected = arguments if meant is None else _renamed(arguments, error.resource_id, meant)
        if corrected == arguments:
            raise
    return with_ids_meant(run, corrected, ids)


def _renamed(arguments: Mapping[str, object], unknown: str, meant: str) -> Mapping[str, object]:
    """Return the arguments with the ID `meant` in place of `unknown`."""

    def corrected(value: object) -> object:
        match value:
            case str():
                return meant if value == unknown else value
            case list():
                return [corrected(each) for each in value]
        return value

    return {name: corrected(value) if name in _NAMING else value for name, value in arguments.items()}


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
    """Return an object in a list after validating it. A string stands for an object with its required property.

    Raise `RequestRefused` if it is neither or invalid.
    """
    required = schema["required"][0]
    if isinstance(value, str):
        return checked(name, schema, {required: value})
    if not isinstance(value, Mapping):
        raise RequestRefused(f"{name} must be an object with the string property {required}.")
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
