"""Provides a property whose value is created on first use and then cached."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, cast, overload


class Maker(Protocol):
    """An object with `first_use` properties, whose values `made` holds by name. `lock` is held while a value is
    created.
    """

    made: dict[str, object]
    lock: threading.RLock


M = TypeVar("M", bound=Maker)
T = TypeVar("T")


class first_use(Generic[M, T]):  # noqa: N801 - named like functools.cached_property, which has no lock since 3.12
    """A property whose value is created on first use and then cached. Thread-safe."""

    def __init__(self, make: Callable[[M], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, maker: None, owner: type) -> first_use[M, T]: ...

    @overload
    def __get__(self, maker: M, owner: type) -> T: ...

    def __get__(self, maker: M | None, owner: type) -> first_use[M, T] | T:
        if maker is None:
            return self
        made = maker.made
        if self._name not in made:
            with maker.lock:
                if self._name not in made:
                    made[self._name] = self._make(maker)
        return cast("T", made[self._name])
