"""Defines the extent of a resource, and converts it to metadata of a map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from citekit.domain.phrases import counted


@frozen(kw_only=True)
class Extent:
    """The extent of a resource. A field is None if it does not apply or is not known.

    `pages` and `lines` are counts. `size` is the (width, height) of an image in pixels when it is displayed upright.
    `chapters` has the number of characters of each chapter. `sheets` has the name, the last used row, and the last used
    column of each sheet.
    """

    pages: int | None = None
    lines: int | None = None
    seconds: float | None = None
    size: tuple[int, int] | None = None
    chapters: tuple[int, ...] | None = None
    sheets: tuple[tuple[str, int, int], ...] | None = None


EXTENTS = {
    "page_count": "pages",
    "line_count": "lines",
    "duration": "seconds",
    "dimensions": "size",
    "chapter_lengths": "chapters",
    "sheets": "sheets",
}
"""Keys of a map's metadata that state its extent, each with the corresponding field of `Extent`."""

_SAME_TIME = 0.001
"""Maximum difference, in seconds, between two durations that count as equal."""


def extent_metadata(extent: Extent) -> dict[str, Any]:
    """Return the metadata entries of a map that describe an extent. Unknown, empty, and zero values are left out."""
    found = {name: getattr(extent, field) for name, field in EXTENTS.items()}
    if extent.sheets is not None:
        found["sheets"] = [{"name": name, "rows": rows, "columns": columns} for name, rows, columns in extent.sheets]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items() if value}


def with_extent_metadata(metadata: Mapping[str, Any], true: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `metadata` in which the entries that describe the extent are replaced by those in `true`."""
    others = {name: value for name, value in metadata.items() if name not in EXTENTS}
    return {**others, **{name: value for name, value in true.items() if name in EXTENTS}}


def mismatches(stated: Extent, true: Extent) -> Iterator[tuple[str, Any, Any]]:
    """Yield (metadata key, stated value, true value or None) for each stated value that differs from the true value."""
    for name, field in EXTENTS.items():
        stated_value, found = getattr(stated, field), getattr(true, field)
        if stated_value is not None and not _alike(stated_value, found):
            yield name, stated_value, found


def _alike(stated_value: Any, found: Any) -> bool:
    if isinstance(stated_value, float) and isinstance(found, float):
        return abs(stated_value - found) <= _SAME_TIME
    return bool(stated_value == found)


def extent_text(extent: Extent) -> str:
    """Return the extent in words, such as `105 pages` or `12:05 minutes`, or an empty text if it is not known."""
    match extent:
        case Extent(pages=int(pages)):
            return counted(pages, "page")
        case Extent(seconds=float(seconds)):
            return _duration(round(seconds))
        case Extent(chapters=tuple(chapters)):
            return counted(len(chapters), "chapter")
        case Extent(sheets=tuple(sheets)):
            return counted(len(sheets), "sheet")
        case Extent(lines=int(lines)):
            return counted(lines, "line")
        case Extent(size=(width, height)):
            return f"{width} x {height} pixels"
    return ""


def _duration(seconds: int) -> str:
    if seconds < 60:
        return counted(seconds, "second")
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}:{rest:02} minutes"
