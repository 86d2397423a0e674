"""A mapping whose values are made when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Lazy(dict[K, V]):
    """A mapping that makes the value of a missing key with `make` and keeps it, so that each value is made once.

    The value of a key must depend only on the key, so that it does not matter when it is made. Only the keys in `given`
    and keys whose value has been made count as members. A `Lazy` is also a table for `str.translate`, which looks up
    code points.

    >>> Lazy(lambda number: number * number)[3]
    9
    """

    def __init__(self, make: Callable[[K], V], given: Mapping[K, V] | None = None) -> None:
        super().__init__(given or {})
        self._make = make

    def __missing__(self, key: K) -> V:
        made = self[key] = self._make(key)
        return made
