"""A value that is computed at most once, on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from attrs import define, field

T = TypeVar("T")


@define(eq=False)
class Once(Generic[T]):
    """The result of `make`. Concurrent callers get the same object. If `make` raises, the next caller tries again."""

    make: Callable[[], T]
    _made: list[T] = field(factory=list, init=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def __call__(self) -> T:
        """Return the object, computing it on the first call."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self.make())
        return self._made[0]
