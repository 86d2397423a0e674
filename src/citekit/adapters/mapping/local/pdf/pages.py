"""The lines of a document's pages, each page read at most once, running headers and footers known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from attrs import define, field

from citekit.adapters.drivers.pdf_text import Line, page_lines
from citekit.adapters.drivers.pymupdf import Document, give_way
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress

SAMPLE = 24
"""Pages that are looked at to learn what is printed on every page."""

MARGIN = 0.12
"""The part of a page's height, at its top and at its bottom, where headers and footers stand."""

_NUMBER = re.compile(r"\d+")
_BARE_NUMBER = re.compile(r"[\W\d]*|[ivxlc]+", re.IGNORECASE)


@define
class PageTexts:
    """Pages count from 1. A page that cannot be read has no lines."""

    _document: Document
    _progress: Progress
    _cache: dict[int, list[Line]] = field(factory=dict, init=False)
    _heights: dict[int, float] = field(factory=dict, init=False)
    _turned: set[int] = field(factory=set, init=False)
    _running: frozenset[str] | None = field(default=None, init=False)

    @property
    def count(self) -> int:
        """How many pages there are."""
        return int(self._document.page_count)

    def lines(self, page: int) -> list[Line]:
        """The lines of `page` in the order of the file, without running headers, footers and page numbers."""
        if self._running is None:
            self._running = self._learn(_spread(self.count))
        running = self._running
        return [line for line in self.read(page) if not self._is_running(page, line, running)]

    def learn_from(self, pages: Iterable[int]) -> None:
        """Tell headers and footers from `pages` instead of a sample."""
        self._running = self._learn(list(pages))

    def is_turned(self, page: int) -> bool:
        """Whether `page` is shown turned, so that its lines have other coordinates than its bookmarks."""
        self.read(page)
        return page in self._turned

    def read(self, page: int) -> list[Line]:
        """All lines of `page`."""
        if page not in self._cache:
            self._progress(page, self.count, "pages")
            self._cache[page] = self._read(page)
            give_way()
        return self._cache[page]

    def _read(self, page: int) -> list[Line]:
        try:
            shown = self._document[page - 1]
            self._heights[page] = max(shown.cropbox.height, 1.0)
            if shown.rotation:
                self._turned.add(page)
            return page_lines(shown)
        except CiteKitError:
            raise
        except Exception:  # a damaged page says nothing; what PyMuPDF raises then is of any kind
            self._heights.setdefault(page, 1.0)
            return []

    def _learn(self, pages: list[int]) -> frozenset[str]:
        seen: Counter[str] = Counter()
        for page in pages:
            seen.update({_pattern(line) for line in self.read(page) if self._in_margin(page, line)})
        enough = max(3, len(pages) // 8)
        return frozenset(pattern for pattern, times in seen.items() if times >= min(enough, 12))

    def _in_margin(self, page: int, line: Line) -> bool:
        height = self._heights[page]
        return line.bottom < height * MARGIN or line.top > height * (1 - MARGIN)

    def _is_running(self, page: int, line: Line, running: frozenset[str]) -> bool:
        if not self._in_margin(page, line):
            return False
        return bool(_BARE_NUMBER.fullmatch(line.text)) or _pattern(line) in running


def _pattern(line: Line) -> str:
    """A line with its numbers left out, and its size, which tells a running header from the heading it repeats."""
    return f"{_NUMBER.sub('#', line.text.casefold())}|{line.size:g}"


def _spread(count: int) -> list[int]:
    """Pairs of neighbouring pages (left and right ones differ) all through the document."""
    if count <= SAMPLE:
        return list(range(1, count + 1))
    pairs = SAMPLE // 2
    starts = [2 + place * (count - 3) // (pairs - 1) for place in range(pairs)]
    return sorted({page for start in starts for page in (start, start + 1) if page <= count})
