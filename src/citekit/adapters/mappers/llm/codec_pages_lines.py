"""Location codecs for pages of a PDF and for lines of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from attrs import frozen

from citekit.adapters.mappers.llm.location_codec import RawFields, Span, parse_integer
from citekit.domain.errors import LocationMalformed
from citekit.domain.locations import Lines, Location, Pages
from citekit.wire.locations import from_plain

_RANGE = re.compile(r"(\d{1,9})(?:\s*[-–—]\s*(\d{1,9}))?", re.ASCII)


@frozen
class PageCodec:
    """A location codec for the pages of a PDF, numbered from 1. `last` is the number of pages."""

    last: int
    unit: ClassVar[str] = "page"
    first: ClassVar[float] = 1
    step: ClassVar[float] = 1
    end_tolerance: ClassVar[float] = 2
    parent_tolerance: ClassVar[float] = 0

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schemas of `first_page` and `last_page`."""
        return _pair_schemas("page", "The first page of the part: its number in the file, from 1, not the printed one.")

    def parse(self, record: RawFields) -> Span:
        """See `LocationCodec.parse`. The fields `pages` and `page` (numbers, or a text such as `3, 5-7`) are also
        accepted.
        """
        if "first_page" in record or "last_page" in record:
            return _parse_pair(record, "first_page", "last_page")
        pages = listed_pages(record)
        return _integer_span(min(pages), max(pages))

    def to_fields(self, span: Span) -> dict[str, Any]:
        """See `LocationCodec.to_fields`."""
        return {"first_page": int(span[0]), "last_page": int(span[1])}

    def describe(self, span: Span) -> str:
        """See `LocationCodec.describe`."""
        return _describe_range("page", span)

    def to_location(self, span: Span) -> Location:
        """See `LocationCodec.to_location`."""
        return from_plain({"modality": "document", "pages": list(range(int(span[0]), int(span[1]) + 1))})

    def from_location(self, location: Location) -> Span | None:
        """See `LocationCodec.from_location`."""
        return (location.numbers[0], location.numbers[-1]) if isinstance(location, Pages) else None


@frozen
class LineCodec:
    """A location codec for the lines of a text, numbered from 1. `last` is the number of lines."""

    last: int
    unit: ClassVar[str] = "line"
    first: ClassVar[float] = 1
    step: ClassVar[float] = 1
    end_tolerance: ClassVar[float] = 3
    parent_tolerance: ClassVar[float] = 1

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schemas of `first_line` and `last_line`."""
        return _pair_schemas("line", "The first line of the part: the number before the line, from 1.")

    def parse(self, record: RawFields) -> Span:
        """See `LocationCodec.parse`. The field `lines` (one or two numbers, or text such as `10-20`) is also accepted."""
        if "first_line" in record or "last_line" in record:
            return _parse_pair(record, "first_line", "last_line")
        lines = _parse_numbers(record, "lines")
        if len(lines) not in (1, 2):
            raise LocationMalformed("lines: must be one or two whole numbers")
        return _integer_span(lines[0], lines[-1])

    def to_fields(self, span: Span) -> dict[str, Any]:
        """See `LocationCodec.to_fields`."""
        return {"first_line": int(span[0]), "last_line": int(span[1])}

    def describe(self, span: Span) -> str:
        """See `LocationCodec.describe`."""
        return _describe_range("line", span)

    def to_location(self, span: Span) -> Location:
        """See `LocationCodec.to_location`."""
        return from_plain({"modality": "text", "lines": [int(span[0]), int(span[1])]})

    def from_location(self, location: Location) -> Span | None:
        """See `LocationCodec.from_location`."""
        return (location.first, location.last) if isinstance(location, Lines) else None


def listed_pages(record: RawFields) -> tuple[int, ...]:
    """Return the page numbers in the field `pages` or `page` of `record`.

    Raise `LocationMalformed` if there are none.
    """
    return _parse_numbers(record, "pages" if "pages" in record else "page", missing="first_page")


def _integer_span(first: int, last: int) -> Span:
    return first, last


def _pair_schemas(unit: str, about: str) -> dict[str, Any]:
    return {
        f"first_{unit}": {"type": "integer", "description": about},
        f"last_{unit}": {"type": "integer", "description": f"The last {unit} of the part, inclusive."},
    }


def _parse_pair(record: RawFields, first: str, last: str) -> Span:
    if first not in record:
        raise LocationMalformed(f"{first}: is missing")
    start = parse_integer(first, record[first])
    return start, parse_integer(last, record[last]) if last in record else start


def _parse_numbers(record: RawFields, name: str, missing: str | None = None) -> tuple[int, ...]:
    value = record.get(name)
    if value is None:
        raise LocationMalformed(f"{missing or 'first_line'}: is missing")
    items = re.split(r"\s*[,;]\s*", value.strip()) if isinstance(value, str) else value
    found = [number for item in (items if isinstance(items, list) else [items]) for number in _parse_run(name, item)]
    if not found:
        raise LocationMalformed(f"{name}: contains no number")
    return tuple(found)


def _parse_run(name: str, item: object) -> tuple[int, ...]:
    """Return the numbers in `item`, a number or a range.

    For a range, these are its two ends; in the field `pages`, all its numbers if there are at most 1001.
    """
    run = _RANGE.fullmatch(item.strip()) if isinstance(item, str) else None
    if run is None or run[2] is None:
        return (parse_integer(name, item),)
    first, last = int(run[1]), int(run[2])
    return tuple(range(first, last + 1)) if name == "pages" and 0 <= last - first <= 1000 else (first, last)


def _describe_range(unit: str, span: Span) -> str:
    first, last = int(span[0]), int(span[1])
    return f"{unit} {first}" if first == last else f"{unit}s {first}-{last}"
