"""What is exactly as we write it, read without the machinery that explains what is wrong: values, and locations.

Whatever is unusual in the least is left to that machinery: what is read here is what it would read, and nothing here
says why something is refused. The values themselves are made, and so checked, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from citekit.domain.errors import CiteKitError
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality

MODALITIES = {modality.value: modality for modality in Modality}


class UnusualError(Exception):
    """Data that is not exactly as we write it; it may be read all the same, but not here."""


NOT_WELL_FORMED = (UnusualError, CiteKitError, ValueError, TypeError, LookupError, ArithmeticError)
"""What reading raises where anything is unusual or wrong."""


def read_location(data: Any) -> Location:
    """The location that `data` means. Raises `UnusualError`, and for wrong values any of the errors of a location."""
    if type(data) is not dict:
        raise UnusualError
    return _LOCATIONS[data["modality"], len(data)](data)


def _lines(data: dict[str, Any]) -> Lines:
    lines = data["lines"]
    if type(lines) is not list:
        raise UnusualError
    first, last = lines
    return Lines(first, last)  # which refuses what is no whole number


def _pages(data: dict[str, Any]) -> Pages:
    return Pages(tuple(_wholes(data["pages"])))


def _region(data: dict[str, Any]) -> Pages:
    return Pages(tuple(_wholes(data["pages"])), _box(data))


def _chapter(data: dict[str, Any]) -> Chapter:
    value = data["chapter"]
    if type(value) is int:
        return Chapter(value)
    first, last = _wholes(value)
    return Chapter(first, last=last)


def _characters(data: dict[str, Any]) -> Chapter:
    start, end = _wholes(data["chars"])
    return Chapter(_wholes([data["chapter"]])[0], (start, end))


def _document(data: dict[str, Any]) -> Location:
    return _pages(data) if "pages" in data else _chapter(data) if "chapter" in data else Cells(text(data["sheet"]))


def _part_of_document(data: dict[str, Any]) -> Location:
    if "sheet" in data:
        return Cells.read(text(data["sheet"]), text(data["cells"]))
    return _region(data) if "pages" in data else _characters(data)


def _open_span(data: dict[str, Any]) -> TimeSpan:
    return TimeSpan(number(data["start"]), None, MODALITIES[data["modality"]])


def _span(data: dict[str, Any]) -> TimeSpan:
    return TimeSpan(number(data["start"]), number(data["end"]), MODALITIES[data["modality"]])


def _box(data: dict[str, Any]) -> Box:
    corners = data["bbox"]
    if type(corners) is not list:
        raise UnusualError
    left, top, right, bottom = map(number, corners)
    return Box(left, top, right, bottom)


def _virtual(data: dict[str, Any]) -> Virtual:
    return Virtual(text(data["virtual_address"]))


_LOCATIONS: dict[tuple[str, int], Callable[[dict[str, Any]], Location]] = {
    ("document", 2): _document,
    ("document", 3): _part_of_document,
    ("text", 2): _lines,
    ("video", 2): _open_span,
    ("video", 3): _span,
    ("audio", 2): _open_span,
    ("audio", 3): _span,
    ("image", 2): _box,
    ("virtual", 2): _virtual,
}
"""By the modality and the number of fields: a place with more or fewer is none that we write."""


def text(value: Any) -> str:
    """A text. Raises `UnusualError`."""
    if type(value) is not str:
        raise UnusualError
    return value


def number(value: Any) -> float:
    """A number, which may be no finite one. Raises `UnusualError`."""
    if type(value) is not float and type(value) is not int:
        raise UnusualError
    return value


def _wholes(values: Any) -> list[int]:
    if type(values) is not list:
        raise UnusualError
    for value in values:
        if type(value) is not int:
            raise UnusualError
    return values
