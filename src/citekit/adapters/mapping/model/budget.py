"""How many requests one map may take."""

from __future__ import annotations

import threading

from attrs import define, field

from citekit.domain.errors import MapperUnavailable


class BudgetSpent(MapperUnavailable):
    """The requests that one map may take are used up."""


@define
class Budget:
    """At most `limit` requests (None: no bound), counted over all threads."""

    limit: int | None = None
    spent: int = 0
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def spend(self) -> None:
        """Count a request. Raises `BudgetSpent` if none is left."""
        with self._lock:
            if self.limit is not None and self.spent >= self.limit:
                raise BudgetSpent(
                    f"The budget of {self.limit} requests is used up before the map was finished: "
                    "allow more (--max-requests), or map a smaller file."
                )
            self.spent += 1
