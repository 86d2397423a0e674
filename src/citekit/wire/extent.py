"""Converts extents to and from plain data with the same names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from citekit.domain.extent import Extent
from citekit.domain.numbers import WHOLE_LIMIT


def to_plain(extent: Extent) -> dict[str, Any]:
    """Return an extent as plain data, without fields that are None."""
    plain = {"pages": extent.pages, "lines": extent.lines, "seconds": extent.seconds}
    lists = {
        "size": extent.size and list(extent.size),
        "chapters": None if extent.chapters is None else list(extent.chapters),
        "sheets": None if extent.sheets is None else [list(sheet) for sheet in extent.sheets],
    }
    return {name: value for name, value in {**plain, **lists}.items() if value is not None}


def from_plain(data: object) -> Extent | None:
    """Convert plain data in the form of `to_plain` to an extent. Return None for other data."""
    if not isinstance(data, Mapping) or not set(data) <= _FIELDS:
        return None
    try:
        return Extent(
            pages=_whole(data.get("pages")),
            lines=_whole(data.get("lines")),
            seconds=_seconds(data.get("seconds")),
            size=_size(data.get("size")),
            chapters=_chapters(data.get("chapters")),
            sheets=_sheets(data.get("sheets")),
        )
    except (TypeError, ValueError, OverflowError):
        return None


_FIELDS = {"pages", "lines", "seconds", "size", "chapters", "sheets"}


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= WHOLE_LIMIT:
        raise TypeError(value)
    return value


def _whole(value: object) -> int | None:
    return None if value is None else _count(value)


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
        raise TypeError(value)
    return float(value)


def _size(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    width, height = value
    return _count(width), _count(height)


def _chapters(value: Any) -> tuple[int, ...] | None:
    return None if value is None else tuple(_count(length) for length in value)


def _sheets(value: Any) -> tuple[tuple[str, int, int], ...] | None:
    if value is None:
        return None
    found = []
    for name, rows, columns in value:
        if not isinstance(name, str):
            raise TypeError(name)
        found.append((name, _count(rows), _count(columns)))
    return tuple(found)
