"""The lines of the pages of a document, with and without running headers and footers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial

from attrs import evolve, field, frozen

from citekit.adapters.formats.pdf.lazy import Lazy
from citekit.adapters.formats.pdf.outline.headers_footers import (
    HeadersFooters,
    body_lines,
    learn_headers_footers,
    sample_pages,
)
from citekit.adapters.formats.pdf.outline.lines import StyledLine, rotated
from citekit.adapters.formats.pdf.outline.page_reader import Page, PageReader

_LETTERS: Lazy[int, int | None] = Lazy(lambda code: code if chr(code).isalpha() or chr(code) == "\n" else None)


@frozen(eq=False)
class PageTexts:
    """The lines of a document's pages. Page numbers are 1-based; an unreadable page has no lines.

    Because reading a page takes milliseconds, each page is read when its lines are first needed, with `quick_lines` if
    `quick` is true. `given` are the pages that were read before, and `learned` the known headers and footers; with
    None, they are learned from a sample of pages.
    """

    reader: PageReader
    quick: bool = False
    given: Mapping[int, Page] = field(factory=dict)
    learned: HeadersFooters | None = None
    _pages: Lazy[int, Page] = field(init=False)

    @_pages.default
    def _read_when_needed(self) -> Lazy[int, Page]:
        return Lazy(partial(self.reader.read, quick=self.quick), self.given)

    @property
    def count(self) -> int:
        """The number of pages of the document."""
        return self.reader.count

    @property
    def pages(self) -> Mapping[int, Page]:
        """The pages that have been read so far, by number."""
        return dict(self._pages)

    def has_read(self, page: int) -> bool:
        """Return whether `page` is among `pages`."""
        return page in self._pages

    def read(self, page: int) -> Sequence[StyledLine]:
        """Return all lines of `page` in file order, including running headers and footers."""
        return self._pages[page].lines

    def lines(self, page: int) -> list[StyledLine]:
        """Return the lines of `page` in file order, without running headers, running footers, and page numbers."""
        return self._body_lines[page]

    def displayed_lines(self, page: int) -> list[StyledLine]:
        """Return `lines(page)`, with coordinates in points from the top left of the displayed page."""
        return self._displayed(self.lines(page), page)

    def all_displayed_lines(self, page: int) -> list[StyledLine]:
        """Return `read(page)`, with coordinates in points from the top left of the displayed page."""
        return self._displayed(self.read(page), page)

    def _displayed(self, lines: Sequence[StyledLine], page: int) -> list[StyledLine]:
        turn = self._pages[page].rotation
        return list(lines) if turn is None else [rotated(line, turn) for line in lines]

    def lines_matching(self, title: str, page: int) -> tuple[int, ...]:
        """Return the 0-based indexes in `lines(page)` of the lines that match `title` or a part of it."""
        return self._title_matches[page, title]

    def height(self, page: int) -> float:
        """Return the height of the displayed page in points."""
        return self._pages[page].height

    def is_rotated(self, page: int) -> bool:
        """Return whether `page` is displayed rotated, so that the coordinates of its lines and bookmarks differ."""
        return self._pages[page].rotation is not None

    @cached_property
    def _body_lines(self) -> Lazy[int, list[StyledLine]]:
        learned = self.learned or self._learned_from(sample_pages(self.count))
        pages = self._pages
        return Lazy(lambda page: body_lines(pages[page], learned))

    @cached_property
    def _title_matches(self) -> Lazy[tuple[int, str], tuple[int, ...]]:
        return Lazy(partial(_matching_lines, Lazy(partial(_letters_on, self._body_lines))))

    def _learned_from(self, pages: Iterable[int]) -> HeadersFooters:
        return learn_headers_footers([self._pages[page] for page in pages])

    def quickly(self) -> PageTexts:
        """Return texts in which all pages that have not been read yet are read quickly."""
        return evolve(self, quick=True, given=self.pages)

    def exactly(self) -> PageTexts:
        """Return texts in which all pages are read exactly (see `styled_lines`)."""
        exact = {number: page for number, page in self._pages.items() if page.is_exact}
        return PageTexts(self.reader, given=exact)

    def exactly_on(self, pages: Iterable[int]) -> PageTexts:
        """Return texts in which `pages` are read exactly; the same object if they already are."""
        missing = [number for number in pages if number not in self._pages or not self._pages[number].is_exact]
        return self._with({number: self.reader.read(number, quick=False) for number in missing})

    def with_recognized(self, lines: Mapping[int, Sequence[StyledLine]]) -> PageTexts:
        """Return a copy in which pages have the `lines` that OCR recognized, in coordinates of the displayed page."""
        return self._with(
            {
                number: evolve(self._pages[number], lines=own, rotation=None, is_exact=True)
                for number, own in lines.items()
            }
        )

    def with_all_headers_footers(self) -> PageTexts:
        """Read all pages, and return the texts with headers and footers learned from all instead of from a sample."""
        learned = self._learned_from(range(1, self.count + 1))
        return evolve(self, given=self.pages, learned=learned)

    def _with(self, pages: Mapping[int, Page]) -> PageTexts:
        return evolve(self, given={**self._pages, **pages}, learned=None) if pages else self


def _letters_on(lines: Mapping[int, Sequence[StyledLine]], page: int) -> list[str]:
    said = title_letters("\n".join([line.text for line in lines[page]]))
    return said.split("\n") if lines[page] else []


def _matching_lines(letters: Mapping[int, Sequence[str]], key: tuple[int, str]) -> tuple[int, ...]:
    page, title = key
    wanted = title_letters(title)
    longest = len(wanted)
    near = [(at, found) for at, found in enumerate(letters[page]) if 0 < len(found) <= longest]
    return tuple(at for at, found in near if matches_title(wanted, found))


def title_letters(text: str) -> str:
    """Return only the letters and line feeds of `text`, case-folded.

    >>> title_letters("2.1 Straße")
    'strasse'
    """
    return text.casefold().translate(_LETTERS)


def matches_title(wanted: str, found: str) -> bool:
    """Return whether a line with the letters `found` is all, the beginning, or a long part of the title `wanted`."""
    return bool(found) and (
        found == wanted or (len(found) >= 4 and wanted.startswith(found)) or (len(found) >= 8 and found in wanted)
    )
