"""Provides a proxy for an object that is imported and created on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

T = TypeVar("T")


def lazy(make: Callable[[], T]) -> T:
    """Return a proxy for the object that `make` returns.

    Every attribute access and every call calls `make`, which should be fast.
    """
    return cast("T", _Lazy(make))


class _Lazy:
    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> object:
        return getattr(self._make(), name)

    def __call__(self, *arguments: object, **named: object) -> object:
        return cast("Callable[..., object]", self._make())(*arguments, **named)
