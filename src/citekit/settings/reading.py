"""Reads single values from environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from citekit.domain.errors import RequestRefused

GIGABYTE = 1_000_000_000
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": GIGABYTE, "t": 1_000 * GIGABYTE}


DIGITS = 18
"""The maximum number of digits in an integer."""


def shown(text: str) -> str:
    """The repr of a value for an error message, shortened if it is long."""
    return repr(text) if len(text) <= 100 else f"{text[:100]!r}..."


def expanded(path: str | Path) -> Path:
    """A path with `~` and `~name` expanded. Raises `RequestRefused` if there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise RequestRefused(f"Cannot find the folder {str(path)!r}: {error}") from error


def read_size(text: str) -> int:
    """The bytes for a size such as `500M`, `10G`, or `123456`. Raises `RequestRefused`."""
    number, unit = text.strip().lower().removesuffix("b"), ""
    if number and number[-1] in _UNITS:
        number, unit = number[:-1], number[-1]
    try:
        size = int(float(number) * _UNITS[unit])
        if size > 0:
            return size
    except (ValueError, OverflowError):
        pass
    raise RequestRefused(f"{shown(text)} is not a valid size. Use a number with an optional unit, such as 500M or 10G.")


def size(environment: Mapping[str, str], name: str, least: int) -> int | None:
    """A size in bytes of at least `least`, or None if the variable is not set. Raises `RequestRefused`."""
    text = environment.get(name)
    if not text:
        return None
    found = read_size(text)
    if found < least:
        raise RequestRefused(f"{name}={shown(text)} is too small. The minimum is {least // 1000000}M.")
    return found


def count(environment: Mapping[str, str], name: str, least: int) -> int | None:
    """An integer of at least `least`, or None if the variable is not set. Raises `RequestRefused`."""
    text = environment.get(name)
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > DIGITS or int(text) < least:
        raise RequestRefused(f"{name}={shown(text)} must be an integer of at least {least}.")
    return int(text)


def number(environment: Mapping[str, str], name: str, least: float, most: float) -> float | None:
    """A number from `least` to `most`, or None if the variable is not set. Raises `RequestRefused`."""
    text = environment.get(name)
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        found = most + 1
    if not least <= found <= most:  # also False for "nan"
        raise RequestRefused(f"{name}={shown(text)} must be a number from {least:g} to {most:g}.")
    return found


def default(value: int | None, default: int) -> int:
    """`value`, or `default` if it is None."""
    return default if value is None else value


def one_of(name: str, text: str, known: Sequence[str]) -> str:
    """`text`, if it is one of `known`. Raises `RequestRefused` with `name` as the setting."""
    if text not in known:
        raise RequestRefused(f"{name}={shown(text)} must be one of: {', '.join(known)}.")
    return text


def folder(environment: Mapping[str, str], name: str) -> Path | None:
    """The absolute path of a folder, or None if the variable is not set. Raises `RequestRefused`."""
    text = environment.get(name)
    return Path(os.path.abspath(expanded(text))) if text else None  # noqa: PTH100 - links stay as they are


_SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def switch(environment: Mapping[str, str], name: str) -> bool | None:
    """True or False for 1 or 0 (or a synonym), or None if the variable is not set. Raises `RequestRefused`."""
    text = environment.get(name)
    if not text:
        return None
    if text.lower() not in _SWITCHES:
        raise RequestRefused(f"{name}={shown(text)} must be 1 or 0.")
    return _SWITCHES[text.lower()]
