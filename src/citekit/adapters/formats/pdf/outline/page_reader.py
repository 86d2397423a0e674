"""Reads the pages of an open PDF into frozen values, without their hidden text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from statistics import median_high

from attrs import define, evolve, field, frozen

from citekit.adapters.formats.pdf.document.graphics import BOX_LIMIT, boxes_of
from citekit.adapters.formats.pdf.document.hidden_text import TINY, Hidden, hidden_text
from citekit.adapters.formats.pdf.document.links import LinkReader
from citekit.adapters.formats.pdf.document.page_images import ImageReader, PdfImage
from citekit.adapters.formats.pdf.document.paint_order import may_hide_text
from citekit.adapters.formats.pdf.outline.lines import (
    Link,
    Rotation,
    StyledLine,
    blocks_of,
    join_columns,
    page_links,
    quick_lines,
    rotation_of,
    styled_lines,
    text_page,
)
from citekit.adapters.formats.pdf.text_reader import PageTextCollector
from citekit.adapters.libraries.mupdf.engine import Document, give_way, page_signs
from citekit.adapters.libraries.mupdf.hidden_text_signs import Signs
from citekit.domain.errors import CiteKitError
from citekit.domain.progress import Progress

HIDDEN_TEXT_PAGES = 40
"""The maximum number of pages with signs of hidden text that are checked in full."""


SHADOW_RATIO = 0.3
"""The largest distance of a text from its shadow, as a multiple of the font size."""


@frozen(eq=False)
class Page:
    """A page as it was read: its visible lines in file order. An unreadable page has no lines.

    `height` is the height of the displayed page in points. `rotation` is the matrix from coordinates of the lines to
    those of the displayed page, or None if the page is not rotated. `is_exact` is false for lines that were read
    quickly (see `quick_lines`). `hidden_words` is the number of words in its hidden lines. `is_unchecked` is true if it
    may have hidden text, but was not checked because of a limit.
    """

    number: int
    lines: Sequence[StyledLine] = ()
    height: float = 1.0
    rotation: Rotation | None = None
    is_exact: bool = True
    hidden_words: int = 0
    is_unchecked: bool = False

    @cached_property
    def line_height(self) -> float:
        """The median height of the lines in points, or 0 if there are none."""
        return median_high([line.bottom - line.top for line in self.lines]) if self.lines else 0.0


@define
class PageReader:
    """A reader for the pages of an open document, which reports its progress. Page numbers are 1-based.

    `_texts` also gets each page that is read. The reader keeps no pages, but remembers what it found hidden on them, to
    look for hidden text only once.
    """

    document: Document
    _progress: Progress
    _texts: PageTextCollector | None = None
    count: int = field(init=False)
    _links: LinkReader = field(init=False)
    _images: ImageReader = field(init=False)
    _read: set[int] = field(factory=set, init=False)
    _hidden: dict[int, Hidden | None] = field(factory=dict, init=False)
    _checks: int = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.count = int(self.document.page_count)  # expensive: PyMuPDF counts again
        self._links, self._images = LinkReader(self.document), ImageReader(self.document)

    def read(self, number: int, *, quick: bool) -> Page:
        """Return the page with its lines. With `quick`, read it with `quick_lines` unless it is rotated."""
        self._read.add(number)  # pages come in any order, some of them twice
        self._progress(len(self._read), self.count, "pages")
        page = self._page(number, quick=quick)
        give_way()
        return page

    def report_progress(self) -> None:
        """Report progress and let other threads use PyMuPDF. Call this method between two pages.

        Raise `Cancelled` if the user cancels.
        """
        self._progress(len(self._read), self.count, "pages")
        give_way()

    def links(self, number: int) -> list[Link]:
        """Return the links of a page that lead to pages of the document; none if the links are damaged."""
        try:
            return page_links(self.document[number - 1], self._links)
        except CiteKitError:
            raise
        except Exception:  # damaged links; PyMuPDF can raise any exception then
            return []

    def images(self, number: int) -> list[PdfImage]:
        """Return the images that a page draws; none if the page is damaged."""
        try:
            return self._images.images_of(number)
        except CiteKitError:
            raise
        except Exception:  # as for links
            return []

    def _page(self, number: int, *, quick: bool) -> Page:
        page = Page(number)
        try:
            shown = self.document[number - 1]
            page = evolve(page, height=max(shown.rect.height, 1.0), rotation=rotation_of(shown))
            if quick and page.rotation is None:
                page = evolve(page, is_exact=False)
            structured, blocks = text_page(shown), None
            if page.is_exact or (self._texts is not None and self._texts.is_missing(number)):
                blocks = blocks_of(structured)
            if self._texts is not None:
                self._texts.collect(number, shown, blocks)
            lines = styled_lines(shown, blocks) if page.is_exact else quick_lines(shown, structured)
            return self._without_hidden(evolve(page, lines=_drawn_once(lines)), shown)
        except CiteKitError:
            raise
        except Exception:  # a damaged page has no lines; PyMuPDF can raise any exception then
            return evolve(page, lines=())

    def _without_hidden(self, page: Page, shown: Document) -> Page:
        """Return `page` without lines of which at least a third is hidden. `shown` is the PyMuPDF page."""
        if page.number not in self._hidden:
            self._hidden[page.number] = self._find_hidden(page, shown)
        hidden = self._hidden[page.number]
        if not hidden:
            return evolve(page, lines=join_columns(page.lines), is_unchecked=hidden is None)
        kept = [line for line in page.lines if 3 * hidden.within(_edges(line)) < len(line.text.replace(" ", ""))]
        words = sum(len(line.text.split()) for line in page.lines) - sum(len(line.text.split()) for line in kept)
        return evolve(page, lines=join_columns(kept), hidden_words=words)

    def _find_hidden(self, page: Page, shown: Document) -> Hidden | None:
        """Return the hidden text of `page`, which is empty if there are no signs of it.

        Return None if the page was not checked because of a limit.
        """
        if not page.lines or not _is_suspect(page_signs(self.document, page.number - 1), shown, page.lines):
            return Hidden()
        if self._checks >= HIDDEN_TEXT_PAGES:
            return None
        self._checks += 1
        return hidden_text(shown, quick=True) if len(boxes_of(shown)) <= BOX_LIMIT else None


def _drawn_once(lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return the lines without those that repeat another line at a small distance, as shadows and outlines do, or only
    the beginning of the next one.
    """
    kept: list[StyledLine] = []
    last: dict[str, StyledLine] = {}
    for line in lines:
        before = last.get(line.text)
        if before is not None and _is_near(before, line):
            continue
        if kept and _is_near(kept[-1], line) and line.text.startswith(kept[-1].text):
            del kept[-1]
        kept.append(line)
        last[line.text] = line
    return kept


def _is_near(one: StyledLine, other: StyledLine) -> bool:
    return max(abs(one.left - other.left), abs(one.top - other.top)) <= SHADOW_RATIO * other.size


def _edges(line: StyledLine) -> tuple[float, float, float, float]:
    return line.left, line.top, line.right, line.bottom


def _is_suspect(signs: Signs | None, shown: Document, lines: Sequence[StyledLine]) -> bool:
    """Return whether a page needs a check for hidden text: it has tiny text, unknown signs, or signs that its painting
    order confirms.
    """
    return signs is None or any(line.size < TINY for line in lines) or (bool(signs) and may_hide_text(shown, signs))
