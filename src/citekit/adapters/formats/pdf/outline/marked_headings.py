"""Sections from the bookmarks of a PDF.

Sections from the tags of a PDF whose author marked its headings.
"""

from __future__ import annotations

from collections.abc import Sequence

from citekit.adapters.formats.pdf.document.bookmarks import Bookmark, read_bookmarks
from citekit.adapters.formats.pdf.document.page_objects import BOOKMARK_LIMIT
from citekit.adapters.formats.pdf.document.tags import TaggedHeading, is_tagged, tagged_headings
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_styles import PER_PAGE
from citekit.adapters.formats.pdf.outline.headings import LONGEST, WORD
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.structure import READ_LIMIT
from citekit.adapters.libraries.mupdf.engine import Document, exclusive
from citekit.domain.errors import CiteKitError


def sections_of_bookmarks(document: Document) -> tuple[list[Section], list[str]]:
    """The bookmarks that lead into the document, and notes about those that do not.

    One that leads nowhere but has others below it begins where the first of them does; the rest are left out.
    """
    bookmarks = read_bookmarks(document)
    sections = [section for place in range(len(bookmarks)) if (section := _section(bookmarks, place)) is not None]
    notes = []
    lost = len(bookmarks) - len(sections)
    if lost and sections:
        notes.append(f"{lost} of {len(bookmarks)} bookmarks lead nowhere and were left out.")
    if len(bookmarks) == BOOKMARK_LIMIT:
        notes.append(f"Only the first {BOOKMARK_LIMIT} bookmarks were read.")
    return sections, notes


def _section(bookmarks: Sequence[Bookmark], place: int) -> Section | None:
    bookmark = bookmarks[place]
    target = bookmark if bookmark.page is not None else _first_below(bookmarks, place)
    if target is None or target.page is None:
        return None
    return Section(bookmark.level, bookmark.title or f"Page {target.page}", target.page, target.y)


def _first_below(bookmarks: Sequence[Bookmark], place: int) -> Bookmark | None:
    for bookmark in bookmarks[place + 1 :][:200]:
        if bookmark.level <= bookmarks[place].level:
            return None
        if bookmark.page is not None:
            return bookmark
    return None


FEWEST = 3
"""Tagged headings of a document whose tags are trusted."""

BEGINNING = 1 / 3
"""The part of the pages in which the first stands: else only some chapters were tagged."""


def sections_of_tags(texts: PageTexts) -> list[Section]:
    """The tagged headings in reading order, the highest at level 1; none where there are no tags, or they tell little."""
    if texts.count > READ_LIMIT or not is_tagged(texts.document):
        return []
    found: list[Section] = []
    for page in range(1, texts.count + 1):
        if not found and page > max(1.0, BEGINNING * texts.count):
            return []
        found += [Section(each.level, each.title, page, each.y) for each in _on(texts, page) if _is_title(each)]
    return _from_one(found) if _are_headings(found, texts.count) else []


def _on(texts: PageTexts, page: int) -> Sequence[TaggedHeading]:
    try:
        with exclusive():
            return tagged_headings(texts.document[page - 1])
    except CiteKitError:
        raise
    except Exception:  # a damaged page says nothing; what PyMuPDF raises then is of any kind
        return ()


def _is_title(heading: TaggedHeading) -> bool:
    return len(heading.title) <= LONGEST and bool(WORD.search(heading.title))


def _are_headings(found: Sequence[Section], count: int) -> bool:
    """Whether they are as many as a document has, and mostly say different things, as running heads do not."""
    distinct = {section.title for section in found}
    return FEWEST <= len(found) <= PER_PAGE * count and len(distinct) * 2 > len(found)


def _from_one(found: Sequence[Section]) -> list[Section]:
    least = min(section.level for section in found)
    return [Section(each.level - least + 1, each.title, each.page, each.y) for each in found]
