"""Reads the arguments of the library tools leniently: for example, numbers may be strings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from citekit.domain.errors import RequestRefused

LONGEST_LIST = 1000
"""The maximum number of items in a list argument."""


def read(tool: str, schema: Mapping[str, Any], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of a tool call, with defaults for missing and null ones.

    Numbers and Booleans may be written as strings. Raise `RequestRefused` if an argument is unknown, required but
    missing, or invalid.
    """
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    arguments = {name: field["default"] for name, field in properties.items() if "default" in field}
    for name, value in (given or {}).items():
        if name not in properties:
            known = ", ".join(properties) or "none"
            raise RequestRefused(f"{name[:80]!r} is not an argument of {tool}. Valid arguments: {known}.")
        if value is not None:
            arguments[name] = _value(name, properties[name], value)
    for name in schema.get("required", ()):
        if name not in arguments:
            raise RequestRefused(f"{tool} requires the argument {name}, {_WANTED[properties[name]['type']]}.")
    return arguments


_WANTED = {
    "string": "a string",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "array": f"an array of at most {LONGEST_LIST} integers",
}


def _value(name: str, schema: Mapping[str, Any], value: object) -> object:
    try:
        return _READERS[schema["type"]](value)
    except (ValueError, TypeError, OverflowError) as error:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
        is_text = schema["type"] == "string" and isinstance(value, str)
        wanted = "valid Unicode without NUL characters" if is_text else _WANTED[schema["type"]]
        raise RequestRefused(f"{name} must be {wanted}, not {shown}.") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError
    return value


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    return ("false", "true").index(_text(value).strip().lower()) == 1


def _whole(value: object) -> int:
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, int):
        return value
    number = _number(value)
    if not number.is_integer():
        raise ValueError
    return int(number)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _wholes(value: object) -> list[int]:
    if not isinstance(value, list) or len(value) > LONGEST_LIST:
        raise TypeError
    return [_whole(each) for each in value]


_READERS = {"string": _text, "boolean": _truth, "integer": _whole, "number": _number, "array": _wholes}


BOUNDS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "alexandria_query": {"limit": (1, 20), "threshold": (0.0, 1.0), "max_chars": (200, 100_000)},
    "alexandria_search": {"limit": (1, 100)},
    "alexandria_ingest_preview": {"limit": (1, 50)},
    "alexandria_batch_ingest": {"limit": (1, 50)},
}
"""The minimum and maximum of numeric arguments, by tool. Values outside are changed to the nearer one."""


def clamped(tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments with numbers limited to `BOUNDS`, and notes about changes."""
    bounds = {name: limits for name, limits in BOUNDS.get(tool, {}).items() if name in arguments}
    used = {name: min(max(arguments[name], low), high) for name, (low, high) in bounds.items()}
    notes = [
        f"{name} must be from {bounds[name][0]} to {bounds[name][1]}: {value} was used instead of {arguments[name]}."
        for name, value in used.items()
        if value != arguments[name]
    ]
    return {**arguments, **used}, notes
