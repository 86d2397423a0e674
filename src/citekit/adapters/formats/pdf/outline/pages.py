"""Reads and caches the lines of each page of a document, and removes running headers and footers."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

from citekit.adapters.formats.pdf.document.hidden_text import TINY, Hidden, hidden_text
from citekit.adapters.formats.pdf.document.links import LinkReader
from citekit.adapters.formats.pdf.document.page_images import ImageReader, PdfImage
from citekit.adapters.formats.pdf.document.paint_order import may_hide_text
from citekit.adapters.formats.pdf.document.text import Line
from citekit.adapters.formats.pdf.outline.headers_footers import HeaderFooterFilter, sample_pages
from citekit.adapters.formats.pdf.outline.lines import (
    Link,
    Rotation,
    StyledLine,
    page_links,
    rotated,
    rotation_of,
    styled,
    styled_lines,
)
from citekit.adapters.formats.pdf.outline.quick_lines import quick_lines
from citekit.adapters.formats.pdf.outline.title_matching import matches_title, title_letters
from citekit.adapters.formats.pdf.outline.vertical_writing import join_columns
from citekit.adapters.libraries.mupdf.engine import Document, give_way, page_signs
from citekit.adapters.libraries.mupdf.hidden_text_signs import Signs
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress

HIDDEN_TEXT_PAGES = 40
"""The number of pages with signs of hidden text that are checked in full."""


@define
class PageTexts:
    """A reader that caches the lines of a document's pages. Page numbers are 1-based; an unreadable page has no lines.

    If `quick` is true, pages are read with `quick_lines`. Hidden lines are left out; `hidden` maps pages with hidden
    lines to their number of hidden words. `unchecked` contains pages that may have hidden text but were not checked,
    because `HIDDEN_TEXT_PAGES` other pages already were.
    """

    _document: Document
    _progress: Progress
    quick: bool = False
    _count: int = field(init=False)
    _cache: dict[int, list[StyledLine]] = field(factory=dict, init=False)
    _quickly_read: set[int] = field(factory=set, init=False)
    _body_lines: dict[int, list[StyledLine]] = field(factory=dict, init=False)
    _letters: dict[int, list[str]] = field(factory=dict, init=False)
    _title_matches: dict[tuple[int, str], tuple[int, ...]] = field(factory=dict, init=False)
    _heights: dict[int, float] = field(factory=dict, init=False)
    _rotations: dict[int, Rotation] = field(factory=dict, init=False)
    _running: HeaderFooterFilter | None = field(default=None, init=False)
    _hidden_text: dict[int, Hidden] = field(factory=dict, init=False)
    _hidden_text_checks: int = field(default=0, init=False)
    hidden: dict[int, int] = field(factory=dict, init=False)
    unchecked: set[int] = field(factory=set, init=False)
    _links: LinkReader = field(init=False)
    _images: ImageReader = field(init=False)

    @property
    def count(self) -> int:
        """The number of pages of the document."""
        return self._count

    @_links.default
    def _reader(self) -> LinkReader:
        return LinkReader(self._document)

    @_images.default
    def _image_reader(self) -> ImageReader:
        return ImageReader(self._document)

    @_count.default
    def _counted(self) -> int:
        return int(self._document.page_count)  # expensive: PyMuPDF counts again

    def lines(self, page: int) -> list[StyledLine]:
        """Return the lines of `page` in file order, without running headers, running footers, and page numbers."""
        if page not in self._body_lines:
            if self._running is None:
                self._running = self._learned_from(sample_pages(self.count))
            self._body_lines[page] = self._running.body_lines(page)
        return self._body_lines[page]

    def displayed_lines(self, page: int) -> list[StyledLine]:
        """Return the same lines as `lines(page)`, with coordinates in points from the top left of the displayed page."""
        lines, turn = self.lines(page), self._rotations.get(page)
        return lines if turn is None else [rotated(line, turn) for line in lines]

    def lines_matching(self, title: str, page: int) -> tuple[int, ...]:
        """Return the 0-based indexes of the lines of `page` that match `title` or a part of it."""
        key = page, title
        if key not in self._title_matches:
            wanted, letters = title_letters(title), self._letters_on(page)
            longest = len(wanted)
            near = [at for at, found in enumerate(letters) if 0 < len(found) <= longest]
            self._title_matches[key] = tuple(at for at in near if matches_title(wanted, letters[at]))
        return self._title_matches[key]

    def _letters_on(self, page: int) -> list[str]:
        if page not in self._letters:
            said = title_letters("\n".join([line.text for line in self.lines(page)]))
            self._letters[page] = said.split("\n") if self.lines(page) else []
        return self._letters[page]

    @property
    def document(self) -> Document:
        """The open PDF document."""
        return self._document

    def height(self, page: int) -> float:
        """Return the height of `page` as displayed, in points."""
        self.read(page)
        return self._heights[page]

    def rotation(self, page: int) -> Rotation | None:
        """Return the matrix that converts `page` coordinates to the displayed page, or None if `page` is not rotated."""
        self.read(page)
        return self._rotations.get(page)

    def links(self, page: int) -> list[Link]:
        """Return the links of `page` that lead to pages of the document; an empty list if the links are damaged."""
        try:
            return page_links(self._document[page - 1], self._links)
        except CiteKitError:
            raise
        except Exception:  # as for lines: damaged links are of any kind
            return []

    def images(self, page: int) -> list[PdfImage]:
        """Return the images that `page` draws; an empty list if the page is damaged."""
        try:
            return self._images.images_of(page)
        except CiteKitError:
            raise
        except Exception:  # as for links
            return []

    def learn_headers_footers(self, pages: Iterable[int]) -> None:
        """Detect running headers and footers from `pages`, instead of from a sample of the document."""
        self._forget_headers_footers()
        self._running = self._learned_from(list(pages))

    def _learned_from(self, pages: list[int]) -> HeaderFooterFilter:
        running = HeaderFooterFilter(self)
        running.learn(pages)
        return running

    def report_progress(self) -> None:
        """Report progress and let other threads use PyMuPDF; called between two pages.

        Raise `Cancelled` if the user cancels.
        """
        self._progress(len(self._heights), self.count, "pages")
        give_way()

    def is_rotated(self, page: int) -> bool:
        """Return whether `page` is displayed rotated; then the coordinates of its lines and of its bookmarks differ."""
        return self.rotation(page) is not None

    def cached(self, page: int) -> bool:
        """Return whether the lines of `page` are cached."""
        return page in self._cache

    def replace_lines(self, page: int, lines: Iterable[Line]) -> None:
        """Replace the lines of `page`, for example with OCR lines. The new lines use coordinates of the displayed page."""
        self.read(page)
        self._cache[page] = [styled(line) for line in lines]
        self._quickly_read.discard(page)
        self._rotations.pop(page, None)
        self._forget_headers_footers()

    def read_exactly(self, page: int) -> list[StyledLine]:
        """Return all lines of `page`, read span by span, even if `quick` is set or the page was read quickly before."""
        if page in self._quickly_read or page not in self._cache:
            self._quickly_read.discard(page)
            self._cache[page] = self._read(page, quick=False)
            self._forget_headers_footers()
        return self._cache[page]

    def stop_quick_reading(self) -> None:
        """Turn `quick` off and drop the pages that were read quickly, so that they are read again when needed."""
        self.quick = False
        for page in self._quickly_read:
            del self._cache[page]
        self._quickly_read.clear()
        self._forget_headers_footers()

    def _forget_headers_footers(self) -> None:
        """Drop the learned headers and footers and everything that was derived from lines without them."""
        self._running = None
        for known in (self._body_lines, self._letters, self._title_matches):
            known.clear()

    def read(self, page: int) -> list[StyledLine]:
        """Return all lines of `page`, including running headers and footers, and report progress if the page is not
        cached.
        """
        if page not in self._cache:
            done = len(self._heights) + (page not in self._heights)  # pages come in any order, some of them twice
            self._progress(done, self.count, "pages")
            self._cache[page] = self._read(page, self.quick)
            give_way()
        return self._cache[page]

    def _without_hidden(self, page: int, shown: Document, lines: list[StyledLine]) -> list[StyledLine]:
        """Return the visible lines of `page`, and note the number of words in its hidden lines in `hidden`.

        A line counts as hidden if at least a third of its characters are hidden. `shown` is the PyMuPDF page.
        """
        if page not in self._hidden_text:
            self._hidden_text[page] = self._find_hidden(page, shown, lines)
        unseen = self._hidden_text[page]
        if not unseen:
            return lines
        kept = [line for line in lines if 3 * unseen.within(_edges(line)) < len(line.text.replace(" ", ""))]
        words = sum(len(line.text.split()) for line in lines) - sum(len(line.text.split()) for line in kept)
        if words:
            self.hidden[page] = words
        return kept

    def _find_hidden(self, page: int, shown: Document, lines: list[StyledLine]) -> Hidden:
        """Return the hidden text of `page` if there are signs of any. `shown` is the PyMuPDF page.

        At most `HIDDEN_TEXT_PAGES` pages are checked; later ones are added to `unchecked`.
        """
        if not lines or not _is_suspect(page_signs(self._document, page - 1), shown, lines):
            return Hidden()
        if self._hidden_text_checks >= HIDDEN_TEXT_PAGES:
            self.unchecked.add(page)
            return Hidden()
        self._hidden_text_checks += 1
        return hidden_text(shown, quick=True)

    def _read(self, page: int, quick: bool) -> list[StyledLine]:
        try:
            shown = self._document[page - 1]
            self._heights[page] = max(shown.rect.height, 1.0)
            turn = rotation_of(shown)
            if turn is not None:
                self._rotations[page] = turn
            if not quick or turn is not None:
                return join_columns(self._without_hidden(page, shown, styled_lines(shown)))
            self._quickly_read.add(page)
            return join_columns(self._without_hidden(page, shown, quick_lines(shown)))
        except CiteKitError:
            raise
        except Exception:  # a damaged page says nothing; what PyMuPDF raises then is of any kind
            self._heights.setdefault(page, 1.0)
            return []


def _edges(line: StyledLine) -> tuple[float, float, float, float]:
    return line.left, line.top, line.right, line.bottom


def _is_suspect(signs: Signs | None, shown: Document, lines: list[StyledLine]) -> bool:
    """Return whether a page needs a check for hidden text.

    It does if its signs are unknown, if it has tiny text, or if its content shows signs that its painting order
    confirms.
    """
    return signs is None or any(line.size < TINY for line in lines) or (bool(signs) and may_hide_text(shown, signs))
