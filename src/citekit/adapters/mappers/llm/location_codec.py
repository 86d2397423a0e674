"""Location codecs: how a model writes locations in files of one kind, and how they become locations of CiteKit.

Until a location is validated, it is a span of plain numbers: a tuple of lower bounds, then as many upper bounds. It is
(first, last) for pages, lines, and paragraphs, both included; (start, end) for seconds; (x1, y1, x2, y2) for pictures.
A span may be outside of the file.
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
    """The lower bound in each dimension."""
    return span[: len(span) // 2]


def highs(span: Span) -> Span:
    """The upper bound in each dimension."""
    return span[len(span) // 2 :]


def contains(outer: Span, inner: Span) -> bool:
    """Whether all of `inner` is in `outer`."""
    return all(a <= b for a, b in zip(lows(outer), lows(inner), strict=True)) and all(
        a >= b for a, b in zip(highs(outer), highs(inner), strict=True)
    )


def touches(one: Span, other: Span) -> bool:
    """Whether two spans share something, even if it is only an edge."""
    return all(
        low <= high
        for low, high in zip(
            (*lows(one), *lows(other)),
            (*highs(other), *highs(one)),
            strict=True,
        )
    )


def union(spans: Iterable[Span]) -> Span:
    """The smallest span that contains all of `spans`, of which there is at least one."""
    known = list(spans)
    return (
        *(min(column) for column in zip(*map(lows, known), strict=True)),
        *(max(column) for column in zip(*map(highs, known), strict=True)),
    )


def clipped(span: Span, outer: Span) -> Span:
    """The part of `span` inside `outer`; its lower bounds exceed its upper bounds if there is none."""
    return (
        *(max(pair) for pair in zip(lows(span), lows(outer), strict=True)),
        *(min(pair) for pair in zip(highs(span), highs(outer), strict=True)),
    )


def shifted(span: Span, by: float) -> Span:
    """`span`, `by` further in the file."""
    return tuple(number + by for number in span)


def overhang(inner: Span, outer: Span) -> float:
    """The largest distance by which `inner` extends beyond `outer`; 0 or less if it is inside."""
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
    """Reads and writes locations of one kind. `first` and `last` bound the file in every dimension; `step` is 0 for
    continuous units.

    An end up to `end_tolerance` beyond `last` is clipped to it. A child may extend beyond its parent by up to
    `parent_tolerance`, which is then clipped. Both are in the codec's unit.
    """

    @property
    def unit(self) -> str:
        """The unit as one word: `page`."""

    @property
    def first(self) -> float:
        """The lowest number in the file."""

    @property
    def last(self) -> float:
        """The highest number in the file."""

    @property
    def step(self) -> float:
        """1 for units that are counted in whole numbers, else 0."""

    @property
    def end_tolerance(self) -> float:
        """The distance beyond the end of the file at which an end is clipped instead of rejected."""

    @property
    def parent_tolerance(self) -> float:
        """The distance by which a child may extend beyond its parent because of rounding."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schema of each field that the model writes for a location."""

    def parse(self, record: RawFields) -> Span:
        """The span that `record` describes, wherever it is. Raises `LocationMalformed` (`field: reason`)."""

    def to_fields(self, span: Span) -> dict[str, Any]:
        """The fields that a model writes for `span`."""

    def describe(self, span: Span) -> str:
        """`span` in words: `pages 3-7`."""

    def to_location(self, span: Span) -> Location:
        """`span`, which is inside the file, as a location. Raises `LocationMalformed`."""

    def from_location(self, location: Location) -> Span | None:
        """The span of a location, or None for a location of another kind."""


def parse_integer(name: str, value: object) -> int:
    """A whole number, also from `12.0` or `"12"`. Raises `LocationMalformed`."""
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
    """A finite number up to `NUMBER_LIMIT`. Raises `LocationMalformed`."""
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
    """The representation of a value, shortened for an error message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
