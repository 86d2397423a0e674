"""Converts between the locations that a model writes and the locations of CiteKit.

Until a location is validated, it is a span: a tuple of lower bounds, followed by as many upper bounds. It is (first,
last), inclusive, for pages, lines, and paragraphs; (start, end) for seconds; and (x1, y1, x2, y2) for pictures. A span
may lie outside the file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from citekit.domain.errors import LocationMalformed
from citekit.domain.locations import Location
from citekit.wire.schema import LOCATION_SCHEMA

Span = tuple[float, ...]


def lows(span: Span) -> Span:
    """Return the lower bound of `span` in each dimension."""
    return span[: len(span) // 2]


def highs(span: Span) -> Span:
    """Return the upper bound of `span` in each dimension."""
    return span[len(span) // 2 :]


def contains(outer: Span, inner: Span) -> bool:
    """Return whether `inner` is inside `outer`. Edges may coincide."""
    return all(a <= b for a, b in zip(lows(outer), lows(inner), strict=True)) and all(
        a >= b for a, b in zip(highs(outer), highs(inner), strict=True)
    )


def touches(one: Span, other: Span) -> bool:
    """Return whether two spans overlap or touch."""
    return all(
        low <= high
        for low, high in zip(
            (*lows(one), *lows(other)),
            (*highs(other), *highs(one)),
            strict=True,
        )
    )


def union(spans: Iterable[Span]) -> Span:
    """Return the smallest span that contains all of `spans`, at least one."""
    known = list(spans)
    return (
        *(min(column) for column in zip(*map(lows, known), strict=True)),
        *(max(column) for column in zip(*map(highs, known), strict=True)),
    )


def clipped(span: Span, outer: Span) -> Span:
    """Return the part of `span` inside `outer`. If they do not overlap, a lower bound is greater than its upper bound."""
    return (
        *(max(pair) for pair in zip(lows(span), lows(outer), strict=True)),
        *(min(pair) for pair in zip(highs(span), highs(outer), strict=True)),
    )


def shifted(span: Span, by: float) -> Span:
    """Return `span` with `by` added to each of its bounds."""
    return tuple(number + by for number in span)


def overhang(inner: Span, outer: Span) -> float:
    """Return the largest distance by which `inner` extends beyond `outer`; 0 or less if it is inside."""
    return max(
        *(b - a for a, b in zip(lows(inner), lows(outer), strict=True)),
        *(a - b for a, b in zip(highs(inner), highs(outer), strict=True)),
    )


RawFields = Mapping[str, Any]
"""A node as the model wrote it: the fields of its location next to the others, without nulls."""

LOCATION_FIELDS: Mapping[str, Any] = LOCATION_SCHEMA["properties"]
"""The location fields of the stored form of maps."""

NUMBER_LIMIT = 10**9
"""The largest number that is accepted in a location."""


class LocationCodec(Protocol):
    """Converts locations in one kind of file between a model's fields, spans, and CiteKit's `Location`."""

    @property
    def unit(self) -> str:
        """The unit as one word, such as `page`."""

    @property
    def first(self) -> float:
        """The lowest number of a location in the file, in each dimension."""

    @property
    def last(self) -> float:
        """The highest number of a location in the file, in each dimension."""

    @property
    def step(self) -> float:
        """1 for whole numbers, such as pages; 0 for continuous units, such as seconds."""

    @property
    def end_tolerance(self) -> float:
        """How far beyond the end of the file, in the codec's unit, an end is clipped instead of rejected."""

    @property
    def parent_tolerance(self) -> float:
        """How far, in the codec's unit, a child that extends beyond its parent is clipped instead of rejected."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schema of each field in which the model writes a location, by name."""

    def parse(self, record: RawFields) -> Span:
        """Return the span in `record`, which may lie outside the file.

        Raise `LocationMalformed` with the message `field: reason` if a field is missing or invalid.
        """

    def to_fields(self, span: Span) -> dict[str, Any]:
        """Return the fields that a model would write for `span`."""

    def describe(self, span: Span) -> str:
        """Return a description of `span`, such as `pages 3-7`."""

    def to_location(self, span: Span) -> Location:
        """Return the location for `span`, which must be inside the file.

        Raise `LocationMalformed` if there is no such location.
        """

    def from_location(self, location: Location) -> Span | None:
        """Return the span of a location; None for a location of another kind."""


def parse_integer(name: str, value: object) -> int:
    """Return the whole number `value`, which may also be written as `12.0` or `"12"`.

    Raise `LocationMalformed` for other values and numbers beyond `NUMBER_LIMIT`. `name` is the field.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,10}\s*", value, re.ASCII):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: must be a whole number, not {short_repr(value)}")
    if abs(value) > NUMBER_LIMIT:
        raise LocationMalformed(f"{name}: {str(value)[:20]} is beyond the limit of {NUMBER_LIMIT:,}")
    return value


def parse_number(name: str, value: object) -> float:
    """Return `value` as a float.

    Raise `LocationMalformed` if it is not a finite number or is beyond `NUMBER_LIMIT`. `name` is the field.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: must be a number, not {short_repr(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > NUMBER_LIMIT:
        raise LocationMalformed(f"{name}: {short_repr(value)} is beyond the limit of {NUMBER_LIMIT:,}")
    return number


def short_repr(value: object) -> str:
    """Return the `repr` of a value, shortened to about 60 characters for error messages."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
