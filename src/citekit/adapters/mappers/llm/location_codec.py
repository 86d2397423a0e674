"""How places are counted in a file of one kind: what the model writes for them, and what that means.

Places as plain numbers, while it is still being found out whether they are right.

A place is a tuple of lows, then as many highs: (first, last) of pages, lines and paragraphs, both included; (start, end) of
seconds; (x1, y1, x2, y2) of a picture. It may lie anywhere, even outside the file.
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
    """Where it begins, for every dimension."""
    return span[: len(span) // 2]


def highs(span: Span) -> Span:
    """Where it ends, for every dimension."""
    return span[len(span) // 2 :]


def contains(outer: Span, inner: Span) -> bool:
    """Whether all of `inner` is in `outer`."""
    return all(a <= b for a, b in zip(lows(outer), lows(inner), strict=True)) and all(
        a >= b for a, b in zip(highs(outer), highs(inner), strict=True)
    )


def touches(one: Span, other: Span) -> bool:
    """Whether the two share something, be it an edge."""
    return all(
        low <= high
        for low, high in zip(
            (*lows(one), *lows(other)),
            (*highs(other), *highs(one)),
            strict=True,
        )
    )


def union(spans: Iterable[Span]) -> Span:
    """The smallest place that holds all of `places`, of which there is at least one."""
    known = list(spans)
    return (
        *(min(column) for column in zip(*map(lows, known), strict=True)),
        *(max(column) for column in zip(*map(highs, known), strict=True)),
    )


def clipped(span: Span, outer: Span) -> Span:
    """The part of `place` inside `outer`; its lows lie beyond its highs where there is none."""
    return (
        *(max(pair) for pair in zip(lows(span), lows(outer), strict=True)),
        *(min(pair) for pair in zip(highs(span), highs(outer), strict=True)),
    )


def shifted(span: Span, by: float) -> Span:
    """The same extent, `by` further on."""
    return tuple(number + by for number in span)


def overhang(inner: Span, outer: Span) -> float:
    """By how much `inner` reaches beyond `outer` where it does so most; 0 or less where it is inside."""
    return max(
        *(b - a for a, b in zip(lows(inner), lows(outer), strict=True)),
        *(a - b for a, b in zip(highs(inner), highs(outer), strict=True)),
    )


RawFields = Mapping[str, Any]
"""A node as the model wrote it: the fields of its location beside the others, nothing null."""

LOCATION_FIELDS: Mapping[str, Any] = LOCATION_SCHEMA["properties"]
"""The location fields of the written form of maps."""

NUMBER_LIMIT = 10**9
"""The largest number that is read as a place."""


class LocationCodec(Protocol):
    """One way to count. `first` and `last` bound what there is, in every dimension; `step` is 0 for what flows.

    An end up to `slack` beyond `last` is taken for the end; a child may stand out of its parent by up to `ease`, which is
    then cut off. `slack` and `ease` are in units of the scale.
    """

    @property
    def unit(self) -> str:
        """What is counted, as one word: `page`."""

    @property
    def first(self) -> float:
        """The first of what is counted."""

    @property
    def last(self) -> float:
        """The last of it."""

    @property
    def step(self) -> float:
        """1 where it is counted in whole numbers, else 0."""

    @property
    def end_tolerance(self) -> float:
        """How far beyond the end an end is still understood."""

    @property
    def parent_tolerance(self) -> float:
        """How far beyond its parent a child may reach by rounding."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schema of each field that the model writes for a place."""

    def parse(self, record: RawFields) -> Span:
        """The place that `record` tells, wherever it lies. Raises `LocationMalformed` (`field: reason`)."""

    def to_fields(self, span: Span) -> dict[str, Any]:
        """The fields that tell `place`."""

    def describe(self, span: Span) -> str:
        """`place` in words: `pages 3-7`."""

    def to_location(self, span: Span) -> Location:
        """`place`, which lies inside, as a location. Raises `LocationMalformed`."""

    def from_location(self, location: Location) -> Span | None:
        """The place of a location, or None where it is of another kind."""


def parse_integer(name: str, value: object) -> int:
    """A whole number, also as `12.0` or `"12"`. Raises `LocationMalformed`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,10}\s*", value, re.ASCII):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: {short_repr(value)} is not a whole number")
    if abs(value) > NUMBER_LIMIT:
        raise LocationMalformed(f"{name}: {str(value)[:20]} is far beyond any file")
    return value


def parse_number(name: str, value: object) -> float:
    """A number that a place can have. Raises `LocationMalformed`."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: {short_repr(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > NUMBER_LIMIT:
        raise LocationMalformed(f"{name}: {short_repr(value)} is far beyond any file")
    return number


def short_repr(value: object) -> str:
    """A value as it may stand in a reason."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
