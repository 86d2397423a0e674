"""How places are counted in a file of one kind: what the model writes for them, and what that means."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Protocol

from citekit.adapters.mapping.model.places import Place
from citekit.domain.errors import LocationMalformed
from citekit.domain.locations import Location
from citekit.wire.schema import LOCATION_SCHEMA

Record = Mapping[str, Any]
"""A node as the model wrote it: the fields of its location beside the others, nothing null."""

WHERE: Mapping[str, Any] = LOCATION_SCHEMA["properties"]
"""The location fields of the written form of maps."""

NUMBER_LIMIT = 10**9
"""The largest number that is read as a place."""


class Scale(Protocol):
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
    def slack(self) -> float:
        """How far beyond the end an end is still understood."""

    @property
    def ease(self) -> float:
        """How far beyond its parent a child may reach by rounding."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """The JSON Schema of each field that the model writes for a place."""

    def place(self, record: Record) -> Place:
        """The place that `record` tells, wherever it lies. Raises `LocationMalformed` (`field: reason`)."""

    def written(self, place: Place) -> dict[str, Any]:
        """The fields that tell `place`."""

    def told(self, place: Place) -> str:
        """`place` in words: `pages 3-7`."""

    def location(self, place: Place) -> Location:
        """`place`, which lies inside, as a location. Raises `LocationMalformed`."""

    def placed(self, location: Location) -> Place | None:
        """The place of a location, or None where it is of another kind."""


def whole(name: str, value: object) -> int:
    """A whole number, also as `12.0` or `"12"`. Raises `LocationMalformed`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,10}\s*", value, re.ASCII):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: {shown(value)} is not a whole number")
    if abs(value) > NUMBER_LIMIT:
        raise LocationMalformed(f"{name}: {str(value)[:20]} is far beyond any file")
    return value


def real(name: str, value: object) -> float:
    """A number that a place can have. Raises `LocationMalformed`."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise LocationMalformed(f"{name}: {shown(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > NUMBER_LIMIT:
        raise LocationMalformed(f"{name}: {shown(value)} is far beyond any file")
    return number


def shown(value: object) -> str:
    """A value as it may stand in a reason."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
