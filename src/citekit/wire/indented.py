"""Writes indented JSON faster than the standard library, which passes each token through nested generators.

The text is the same as that of `json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)`.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import Any

_STEP = "  "


class _ForeignError(Exception):
    """Raised for a value that only the standard library can write."""


def indented(plain: Any) -> str:
    """Return plain data as indented JSON text.

    Raise `ValueError`, `TypeError`, or `RecursionError` in the same cases as `json.dumps`.
    """
    try:
        return _value(plain, "\n")
    except (_ForeignError, RecursionError):  # json.dumps needs fewer frames per level
        return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)


def _value(value: Any, line: str) -> str:
    """Return the JSON text of `value`. `line` is the line break and indentation before each further line."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is int:
        return int.__repr__(value)
    if kind is dict:
        return _object(value, line)
    if kind is list:
        return _array(value, line)
    return _rare(value)


def _object(value: dict[Any, Any], line: str) -> str:
    if not value:
        return "{}"
    below = line + _STEP
    parts = [f"{_key(key)}: {_value(each, below)}" for key, each in value.items()]
    return f"{{{below}{f',{below}'.join(parts)}{line}}}"


def _array(value: list[Any], line: str) -> str:
    if not value:
        return "[]"
    below = line + _STEP
    return f"[{below}{f',{below}'.join([_value(each, below) for each in value])}{line}]"


def _key(key: Any) -> str:
    if type(key) is not str:
        raise _ForeignError
    return encode_basestring(key)


def _rare(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if type(value) is float and value - value == 0:  # finite
        return float.__repr__(value)
    raise _ForeignError
