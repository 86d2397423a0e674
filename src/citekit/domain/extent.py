"""The extent of a resource, which limits its locations, and its comparison with the metadata of a map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen


@frozen(kw_only=True)
class Extent:
    """The extent of one resource. A field is None where the resource has no such extent, or it is not known.

    `pages`, `lines`: counts. `seconds`: duration. `size`: (width, height) in pixels, upright.
    `chapters`: for every chapter, in order, the number of characters of its text.
    `sheets`: for every sheet, in order, its name, and the numbers of the last row and the last column in use.
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
"""The entries of a map's metadata that give its bounds, and the field of `Extent` that each gives."""

_SAME_TIME = 0.001
"""Seconds that two programs may tell one duration apart."""


def extent_facts(bounds: Extent) -> dict[str, Any]:
    """The entries of a map's metadata that say these bounds."""
    found = {name: getattr(bounds, field) for name, field in EXTENTS.items()}
    if bounds.sheets is not None:
        found["sheets"] = [{"name": name, "rows": rows, "columns": columns} for name, rows, columns in bounds.sheets]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items() if value}


def with_extent_facts(metadata: Mapping[str, Any], true: Mapping[str, Any]) -> dict[str, Any]:
    """`metadata` in which whatever it says of the extent of the file gives way to what `true` says of it."""
    kept = {name: value for name, value in metadata.items() if name not in EXTENTS}
    return {**kept, **{name: value for name, value in true.items() if name in EXTENTS}}


def mismatches(stated: Extent, true: Extent) -> Iterator[tuple[str, Any, Any]]:
    """(name in the metadata, what is stated, what is true or None) of every extent that is stated wrongly."""
    for name, field in EXTENTS.items():
        said, found = getattr(stated, field), getattr(true, field)
        if said is not None and not _alike(said, found):
            yield name, said, found


def _alike(said: Any, found: Any) -> bool:
    if isinstance(said, float) and isinstance(found, float):
        return abs(said - found) <= _SAME_TIME
    return bool(said == found)
