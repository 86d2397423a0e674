"""The lines of a document's pages, each page read at most once in each of two ways, running headers and footers known."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

from citekit.adapters.formats.pdf.document.hidden_text import TINY, Hidden, hidden_text
from citekit.adapters.formats.pdf.document.links import LinkReader
from citekit.adapters.formats.pdf.document.page_images import ImageReader, PdfImage
from citekit.adapters.formats.pdf.document.text import Line
from citekit.adapters.formats.pdf.outline.headers_footers import RunningLines, spread
from citekit.adapters.formats.pdf.outline.lines import (
    Link,
    Turn,
    Typed,
    page_links,
    turn_of,
    turned,
    typed,
    typed_lines,
)
from citekit.adapters.formats.pdf.outline.quick_lines import quick_lines
from citekit.adapters.formats.pdf.outline.title_matching import letters_of, says
from citekit.adapters.formats.pdf.outline.vertical_writing import with_columns
from citekit.adapters.libraries.mupdf.engine import Document, give_way, page_signs
from citekit.adapters.libraries.mupdf.hidden_text_signs import Signs
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress

LOOKED_AT = 40
"""Pages of a document with signs of hidden text that are looked at closely."""


@define
class PageTexts:
    """Pages count from 1. A page that cannot be read has no lines. `quick` reads lines as `quick_lines` does.

    Lines that nobody sees are left out; `hidden` counts the words of these on each page that was read;
    `unchecked` are pages with signs of hidden text that were not looked at, because so many others were.
    """

    _document: Document
    _progress: Progress
    quick: bool = False
    _count: int = field(init=False)
    _cache: dict[int, list[Typed]] = field(factory=dict, init=False)
    _hasty: set[int] = field(factory=set, init=False)
    _kept: dict[int, list[Typed]] = field(factory=dict, init=False)
    _letters: dict[int, list[str]] = field(factory=dict, init=False)
    _said: dict[tuple[int, str], tuple[int, ...]] = field(factory=dict, init=False)
    _heights: dict[int, float] = field(factory=dict, init=False)
    _turns: dict[int, Turn] = field(factory=dict, init=False)
    _running: RunningLines | None = field(default=None, init=False)
    _unseen: dict[int, Hidden] = field(factory=dict, init=False)
    _looked_at: int = field(default=0, init=False)
    hidden: dict[int, int] = field(factory=dict, init=False)
    unchecked: set[int] = field(factory=set, init=False)
    _links: LinkReader = field(init=False)
    _images: ImageReader = field(init=False)

    @property
    def count(self) -> int:
        """How many pages there are."""
        return self._count

    @_links.default
    def _reader(self) -> LinkReader:
        return LinkReader(self._document)

    @_images.default
    def _image_reader(self) -> ImageReader:
        return ImageReader(self._document)

    @_count.default
    def _counted(self) -> int:
        return int(self._document.page_count)  # dear: PyMuPDF counts anew

    def lines(self, page: int) -> list[Typed]:
        """The lines of `page` in the order of the file, without running headers, footers and page numbers."""
        if page not in self._kept:
            if self._running is None:
                self._running = self._learned(spread(self.count))
            self._kept[page] = self._running.without(page)
        return self._kept[page]

    def shown(self, page: int) -> list[Typed]:
        """As `lines`, in points from the top left of the page as it is shown."""
        lines, turn = self.lines(page), self._turns.get(page)
        return lines if turn is None else [turned(line, turn) for line in lines]

    def saying(self, title: str, page: int) -> tuple[int, ...]:
        """Which lines of `page`, counted from 0, say `title` or a part of it."""
        key = page, title
        if key not in self._said:
            wanted, letters = letters_of(title), self._letters_on(page)
            longest = len(wanted)
            near = [at for at, found in enumerate(letters) if 0 < len(found) <= longest]
            self._said[key] = tuple(at for at in near if says(wanted, letters[at]))
        return self._said[key]

    def _letters_on(self, page: int) -> list[str]:
        if page not in self._letters:
            said = letters_of("\n".join([line.text for line in self.lines(page)]))
            self._letters[page] = said.split("\n") if self.lines(page) else []
        return self._letters[page]

    @property
    def document(self) -> Document:
        """The open document itself."""
        return self._document

    def height(self, page: int) -> float:
        """The height of `page` as it is shown, in points."""
        self.read(page)
        return self._heights[page]

    def turn(self, page: int) -> Turn | None:
        """How the lines of `page` come to stand as it is shown, None where it is not turned."""
        self.read(page)
        return self._turns.get(page)

    def links(self, page: int) -> list[Link]:
        """The links of `page` that lead to pages of the document; none where they cannot be read."""
        try:
            return page_links(self._document[page - 1], self._links)
        except CiteKitError:
            raise
        except Exception:  # as for lines: damaged links are of any kind
            return []

    def images(self, page: int) -> list[PdfImage]:
        """The pictures that `page` draws; none where that cannot be read."""
        try:
            return self._images.images_of(page)
        except CiteKitError:
            raise
        except Exception:  # as for links
            return []

    def learn_from(self, pages: Iterable[int]) -> None:
        """Tell headers and footers from `pages` instead of a sample."""
        self._forget()
        self._running = self._learned(list(pages))

    def _learned(self, pages: list[int]) -> RunningLines:
        running = RunningLines(self)
        running.learn(pages)
        return running

    def go_on(self) -> None:
        """Between two pages of long work that reads none: let others have PyMuPDF. Raises `Cancelled` where none wants it."""
        self._progress(len(self._heights), self.count, "pages")
        give_way()

    def is_turned(self, page: int) -> bool:
        """Whether `page` is shown turned, so that its lines have other coordinates than its bookmarks."""
        return self.turn(page) is not None

    def cached(self, page: int) -> bool:
        """Whether `page` was read before."""
        return page in self._cache

    def put(self, page: int, lines: Iterable[Line]) -> None:
        """Let `lines`, which stand as the page is shown, be those of `page`, such as were read from its picture."""
        self.read(page)
        self._cache[page] = [typed(line) for line in lines]
        self._hasty.discard(page)
        self._turns.pop(page, None)
        self._forget()

    def exactly(self, page: int) -> list[Typed]:
        """As `read`, the page read piece by piece even where it was, or would be, read quickly."""
        if page in self._hasty or page not in self._cache:
            self._hasty.discard(page)
            self._cache[page] = self._read(page, quick=False)
            self._forget()
        return self._cache[page]

    def slow_down(self) -> None:
        """Let pages be read piece by piece from now on, and those anew that were read quickly, where they are needed."""
        self.quick = False
        for page in self._hasty:
            del self._cache[page]
        self._hasty.clear()
        self._forget()

    def _forget(self) -> None:
        """What was told of lines without running headers, which are others now."""
        self._running = None
        for known in (self._kept, self._letters, self._said):
            known.clear()

    def read(self, page: int) -> list[Typed]:
        """All lines of `page`."""
        if page not in self._cache:
            done = len(self._heights) + (page not in self._heights)  # pages come in any order, some of them twice
            self._progress(done, self.count, "pages")
            self._cache[page] = self._read(page, self.quick)
            give_way()
        return self._cache[page]

    def _seen(self, page: int, shown: Document, lines: list[Typed]) -> list[Typed]:
        """The lines without those of which a third or more is hidden; their words are counted in `hidden`."""
        if page not in self._unseen:
            self._unseen[page] = self._looked_for(page, shown, lines)
        unseen = self._unseen[page]
        if not unseen:
            return lines
        kept = [line for line in lines if 3 * unseen.within(_edges(line)) < len(line.text.replace(" ", ""))]
        words = sum(len(line.text.split()) for line in lines) - sum(len(line.text.split()) for line in kept)
        if words:
            self.hidden[page] = words
        return kept

    def _looked_for(self, page: int, shown: Document, lines: list[Typed]) -> Hidden:
        """The hidden text of a page with signs of such; of no page, once too many were looked at (`unchecked`)."""
        if not lines or not _may_hide(page_signs(self._document, page - 1), shown, lines):
            return Hidden()
        if self._looked_at >= LOOKED_AT:
            self.unchecked.add(page)
            return Hidden()
        self._looked_at += 1
        return hidden_text(shown, quick=True)

    def _read(self, page: int, quick: bool) -> list[Typed]:
        try:
            shown = self._document[page - 1]
            self._heights[page] = max(shown.rect.height, 1.0)
            turn = turn_of(shown)
            if turn is not None:
                self._turns[page] = turn
            if not quick or turn is not None:
                return with_columns(self._seen(page, shown, typed_lines(shown)))
            self._hasty.add(page)
            return with_columns(self._seen(page, shown, quick_lines(shown)))
        except CiteKitError:
            raise
        except Exception:  # a damaged page says nothing; what PyMuPDF raises then is of any kind
            self._heights.setdefault(page, 1.0)
            return []


def _edges(line: Typed) -> tuple[float, float, float, float]:
    return line.left, line.top, line.right, line.bottom


def _may_hide(signs: Signs | None, shown: Document, lines: list[Typed]) -> bool:
    """Whether a page must be looked at: its content says so, its type is tiny, or an area may lie over one of its lines."""
    if signs is None or signs.text or any(line.size < TINY for line in lines):
        return True
    if not signs.covers:
        return False
    a, b, c, d, e, f = shown.transformation_matrix
    middles = [((line.left + line.right) / 2, (line.top + line.bottom) / 2) for line in lines]
    for left, bottom, right, top in signs.covers:
        across = sorted((a * left + c * bottom + e, a * right + c * top + e))
        down = sorted((b * left + d * bottom + f, b * right + d * top + f))
        if any(across[0] <= x <= across[1] and down[0] <= y <= down[1] for x, y in middles):
            return True
    return False
