"""Records that the text of a file is read after the file is mapped, so that its pages are read only once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local


class NextReads:
    """Records, for each thread, whether the text of the files that it maps is read next."""

    def __init__(self) -> None:
        self._threads = local()

    def is_next(self) -> bool:
        """Return whether this thread is inside `announced`."""
        return getattr(self._threads, "is_next", False)

    @contextmanager
    def announced(self) -> Iterator[None]:
        """Announce that the text of the files that this thread maps in the block is read next."""
        before = self.is_next()
        self._threads.is_next = True
        try:
            yield
        finally:
            self._threads.is_next = before
