"""Properties that are made when they are first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar, overload


class Maker(Protocol):
    """What has such properties: `made` are those that were asked for so far, `lock` is held while one is made."""

    made: dict[str, Any]
    lock: threading.RLock


M = TypeVar("M", bound=Maker)
T = TypeVar("T")


class first_use(Generic[M, T]):  # noqa: N801 - stands where functools.cached_property would, which has no lock from 3.12 on
    """A property that is made when it is first asked for, once, whichever thread asks."""

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
        found: T = made[self._name]
        return found
