"""Keeps a key out of what is shown of an exception, where a service repeats what it was sent."""

from __future__ import annotations

import json
from contextlib import suppress


def conceal(error: BaseException, secret: str) -> None:
    """Take `secret` out of the texts of an exception, so that whoever prints it as a cause does not show it."""
    if not secret:
        return
    error.args = tuple(_hidden(part, secret) for part in error.args)
    for name, value in list(vars(error).items()):
        with suppress(AttributeError):
            setattr(error, name, _hidden(value, secret))


def _hidden(value: object, secret: str) -> object:
    if isinstance(value, str):
        return value.replace(secret, "(the key)")
    if isinstance(value, dict | list):
        with suppress(TypeError, ValueError):
            return json.loads(json.dumps(value).replace(secret, "(the key)"))
    return value
