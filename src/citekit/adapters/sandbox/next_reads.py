"""Says that the text of a file is read after the file is mapped, so that its pages are read only once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local


class NextReads:
    """Whether the caller, which maps a file in this thread, reads the text of the file next."""

    def __init__(self) -> None:
        """Begin with no thread that reads."""
        self._threads = local()

    def is_next(self) -> bool:
        """Return whether this thread is inside `announced`."""
        return getattr(self._threads, "is_next", False)

    @contextmanager
    def announced(self) -> Iterator[None]:
        """While the context lasts, files that this thread maps are read next."""
        before = self.is_next()
        self._threads.is_next = True
        try:
            yield
        finally:
            self._threads.is_next = before
