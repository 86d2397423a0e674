"""Hands the texts of pages that a mapper read to the text reader of the same file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from time import thread_time

from attrs import define, field, frozen

from citekit.domain.digest import Digest
from citekit.domain.source import Source


@frozen
class PagesRead:
    """The texts of pages by 1-based page number. If `is_whole`, they are all pages of the file."""

    texts: Mapping[int, str] = field(factory=dict)
    is_whole: bool = False


@define
class ReadPages:
    """The texts of the pages of at most one file, which a mapper collects for the text reader."""

    _digest: Digest | None = field(default=None, init=False)
    _texts: dict[int, str] = field(factory=dict, init=False)
    _is_whole: bool = field(default=False, init=False)
    _seconds: float = field(default=0.0, init=False)

    def expect(self, source: Source, seconds: float = math.inf) -> None:
        """Forget all texts, and collect those of `source`, which is mapped next.

        Stop when reading them has taken `seconds` of processor time.
        """
        self.forget()
        self._digest, self._seconds = source.digest, seconds

    def is_expected(self, source: Source) -> bool:
        """Return whether the texts of `source` are collected."""
        return self._digest == source.digest

    def is_missing(self, page: int) -> bool:
        """Return whether the text of `page` is still to be collected."""
        return self._digest is not None and self._seconds > 0 and page not in self._texts

    def put(self, page: int, text: str, since: float) -> None:
        """Store the text of `page`. Reading it began when `thread_time` was `since`."""
        self._texts[page] = text
        self._seconds -= thread_time() - since

    def finish(self, pages: int) -> None:
        """Record whether all pages were collected. `pages` is the number of pages of the file."""
        self._is_whole = len(self._texts) == pages

    def take(self, source: Source) -> PagesRead:
        """Return the texts of `source` that were collected, and forget all texts."""
        found = PagesRead(self._texts, self._is_whole) if self._digest == source.digest else PagesRead()
        self.forget()
        return found

    def forget(self) -> None:
        """Forget all texts, and collect no more."""
        self._digest, self._texts, self._is_whole, self._seconds = None, {}, False, 0.0
