"""Something costly, made at most once, when it is first asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from attrs import define, field

T = TypeVar("T")


@define(eq=False)
class Once(Generic[T]):
    """What `make` returns. Several threads at once get the same object; where `make` raises, the next caller tries again."""

    make: Callable[[], T]
    _made: list[T] = field(factory=list, init=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def __call__(self) -> T:
        """The object, made now where it was not made before."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self.make())
        return self._made[0]
