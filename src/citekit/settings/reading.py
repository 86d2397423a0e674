"""Reads single settings from environment variables."""

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
    """Return the repr of a value, shortened if it is long, for a message."""
    return repr(text) if len(text) <= 100 else f"{text[:100]!r}..."


def expanded(path: str | Path) -> Path:
    """Return a path with `~` and `~name` expanded. Raise `RequestRefused` if that is not possible."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise RequestRefused(
            f"The home directory in the path {str(path)!r} cannot be determined. Check the user name after ~, or use an "
            "absolute path."
        ) from error


def read_size(text: str, name: str = "") -> int:
    """Return the number of bytes for a size such as `500M`, `10G`, or `123456`.

    Raise `RequestRefused` if `text` is not a valid size. `name` names the setting in the message.
    """
    number, unit = text.strip().lower().removesuffix("b"), ""
    if number and number[-1] in _UNITS:
        number, unit = number[:-1], number[-1]
    try:
        size = int(float(number) * _UNITS[unit])
        if size > 0:
            return size
    except (ValueError, OverflowError):
        pass
    what = f"{name}={shown(text)}" if name else shown(text)
    raise RequestRefused(
        f"{what} is not a valid size. Use a positive number with an optional unit, such as 500M or 10G."
    )


def size(environment: Mapping[str, str], name: str, least: int) -> int | None:
    """Return the size in bytes in an environment variable, or None without a value.

    Raise `RequestRefused` if it is not a size of at least `least` bytes.
    """
    text = environment.get(name)
    if not text:
        return None
    found = read_size(text, name)
    if found < least:
        raise RequestRefused(f"{name}={shown(text)} is too small. The minimum is {least // 1000000}M.")
    return found


def count(environment: Mapping[str, str], name: str, least: int) -> int | None:
    """Return the integer in an environment variable, or None without a value.

    Raise `RequestRefused` if it is not an integer, is less than `least`, or has more than `DIGITS` digits.
    """
    text = environment.get(name)
    if not text:
        return None
    is_whole = text.isascii() and text.isdigit()
    if is_whole and len(text) > DIGITS:
        raise RequestRefused(f"{name}={shown(text)} has more than {DIGITS} digits.")
    if not is_whole or int(text) < least:
        raise RequestRefused(f"{name}={shown(text)} must be an integer of at least {least}.")
    return int(text)


def number(environment: Mapping[str, str], name: str, least: float, most: float) -> float | None:
    """Return the number in an environment variable, or None without a value. Raise `RequestRefused` if it is not from
    `least` to `most`.
    """
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
    """Return `value`, or `default` if `value` is None."""
    return default if value is None else value


def one_of(name: str, text: str, known: Sequence[str]) -> str:
    """Return `text`. Raise `RequestRefused` if it is not in `known`. `name` names the setting in the message."""
    if text not in known:
        raise RequestRefused(f"{name}={shown(text)} must be one of: {', '.join(known)}.")
    return text


def folder(environment: Mapping[str, str], name: str) -> Path | None:
    """Return the absolute path in an environment variable, or None without a value.

    Raise `RequestRefused` if it begins with a home directory that cannot be determined.
    """
    text = environment.get(name)
    return Path(os.path.abspath(expanded(text))) if text else None  # noqa: PTH100 - links stay as they are


_SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def switch(environment: Mapping[str, str], name: str) -> bool | None:
    """Return the Boolean in an environment variable (1, 0, or a synonym), or None without a value. Raise
    `RequestRefused` for others.
    """
    text = environment.get(name)
    if not text:
        return None
    if text.lower() not in _SWITCHES:
        raise RequestRefused(f"{name}={shown(text)} must be 1 or 0.")
    return _SWITCHES[text.lower()]
