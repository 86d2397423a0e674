"""Converts locations to and from plain data.

The data is a flat object with `modality` and only the fields of that modality: `pages` (with `bbox` if it is exactly
one page), `chapter` (a number, or [first, last]) with `chars`, `sheet` (a name) with `cells` (`A1:F20`), `lines`,
`start` and `end`, `bbox`, or `virtual_address`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

from citekit.domain.errors import LocationMalformed
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from citekit.domain.numbers import exact, real
from citekit.domain.rectangles import box_of_size

LOCATION_FIELDS = ("pages", "chapter", "chars", "sheet", "cells", "lines", "start", "end", "bbox", "virtual_address")
"""The fields of a location except `modality`."""


class BoxOrder(StrEnum):
    """The meaning of the four numbers of a `bbox`: two corners, which CiteKit writes, or a corner and a size."""

    CORNERS = "xyxy"
    SIZE = "xywh"


def to_plain(location: Location) -> dict[str, Any]:
    """Return a location as plain data, without fields that have no value."""
    plain: dict[str, Any] = {"modality": location.modality.value}
    match location:
        case Pages(numbers=numbers, region=region):
            plain["pages"] = list(numbers)
            if region is not None:
                plain["bbox"] = list(region.corners)
        case Chapter(number=number, last=last, chars=chars):
            plain["chapter"] = number if number == last else [number, last]
            if chars is not None:
                plain["chars"] = list(chars)
        case Cells(sheet=sheet, range=cells):
            plain["sheet"] = sheet
            if cells is not None:
                plain["cells"] = cells
        case Lines(first=first, last=last):
            plain["lines"] = [first, last]
        case TimeSpan(start=start, end=end):
            plain["start"] = start
            if end is not None:
                plain["end"] = end
        case Box():
            plain["bbox"] = list(location.corners)
        case Virtual(virtual_address=address):
            plain["virtual_address"] = address
    return plain


def from_plain(data: Mapping[str, Any], box_order: BoxOrder = BoxOrder.CORNERS) -> Location:
    """Convert plain data without nulls to a location. Raise `LocationMalformed` if it is not valid."""
    modality = modality_of(data.get("modality"))
    if modality is None:
        raise LocationMalformed(f"modality: must be one of {', '.join(Modality)}, not {data.get('modality')!r}")
    match modality:
        case Modality.DOCUMENT:
            return _document(data, box_order)
        case Modality.TEXT:
            return Lines(*_wholes(data, "lines", 2))
        case Modality.VIDEO | Modality.AUDIO:
            end = data.get("end")
            return TimeSpan(_number(data, "start"), None if end is None else _number(data, "end"), modality)
        case Modality.IMAGE:
            return _box(data, box_order)
        case Modality.VIRTUAL:
            address = data.get("virtual_address")
            if not isinstance(address, str):
                raise LocationMalformed("virtual_address: must be a string")
            return Virtual(address)


def modality_of(word: object) -> Modality | None:
    """Return the modality with that name (`pdf` means document), or None."""
    return _BY_NAME.get(word) if isinstance(word, str) else None


_BY_NAME = {"pdf": Modality.DOCUMENT, **{modality.value: modality for modality in Modality}}


def modality_by_fields(data: Mapping[str, Any]) -> Modality | None:
    """Return the modality that the fields of a location imply, or None: `start` and `end` may be video or audio."""
    for field, modality in _BY_FIELD.items():
        if data.get(field) is not None:
            return modality
    return None


_BY_FIELD = {
    "pages": Modality.DOCUMENT,
    "chapter": Modality.DOCUMENT,
    "sheet": Modality.DOCUMENT,
    "lines": Modality.TEXT,
    "bbox": Modality.IMAGE,
    "virtual_address": Modality.VIRTUAL,
}


def _document(data: Mapping[str, Any], box_order: BoxOrder) -> Location:
    if "chapter" in data:
        chars = _wholes(data, "chars", 2) if "chars" in data else None
        value = data["chapter"]
        first, last = _wholes(data, "chapter", 2) if isinstance(value, list) else (_whole("chapter", value),) * 2
        return Chapter(first, (chars[0], chars[1]) if chars else None, last=last)
    if "sheet" in data:
        return _cells(data)
    if "pages" not in data:
        raise LocationMalformed("pages: a document location must have pages, a chapter, or a sheet")
    pages = _wholes(data, "pages", None)
    if pages and pages[0] < 1:
        raise LocationMalformed(f"pages: pages are numbered from 1, so there is no page {pages[0]}")
    return Pages.of(pages, _box(data, box_order) if "bbox" in data else None)


def _cells(data: Mapping[str, Any]) -> Cells:
    sheet, cells = data["sheet"], data.get("cells")
    if not isinstance(sheet, str):
        raise LocationMalformed(f"sheet: must be the name of a sheet, not {sheet!r}")
    if cells is not None and not isinstance(cells, str):
        raise LocationMalformed(f"cells: must be a range of cells such as A1:F20, not {cells!r}")
    return Cells.read(sheet, cells)


def _box(data: Mapping[str, Any], order: BoxOrder) -> Box:
    numbers = data.get("bbox")
    if not isinstance(numbers, list | tuple) or len(numbers) != 4:
        raise LocationMalformed("bbox: must be a list of four numbers")
    a, b, c, d = (_real("bbox", number) for number in numbers)
    if order is BoxOrder.CORNERS or not all(math.isfinite(each) for each in (a, b, c, d)):
        return Box(a, b, c, d)
    return box_of_size((exact(a), exact(b), exact(c), exact(d)), Decimal(1), Decimal(1))


def _wholes(data: Mapping[str, Any], name: str, count: int | None) -> tuple[int, ...]:
    values = data.get(name)
    if not isinstance(values, list | tuple) or (count is not None and len(values) != count):
        raise LocationMalformed(f"{name}: must be a list of {'' if count is None else 'two '}whole numbers")
    return tuple(_whole(name, value) for value in values)


def _whole(name: str, value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: must be a whole number, not {value!r}")
    return value


def _number(data: Mapping[str, Any], name: str) -> float:
    if name not in data:
        raise LocationMalformed(f"{name}: is missing; give the time in seconds")
    return _real(name, data[name])


def _real(name: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: must be a number, not {value!r}")
    return real(value)
