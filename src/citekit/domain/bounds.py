"""How far a resource reaches: what a location inside it is measured against."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Bounds:
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
