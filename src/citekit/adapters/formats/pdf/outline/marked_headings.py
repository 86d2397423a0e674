"""Reads sections from the bookmarks of a PDF, or from the headings that its author tagged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from attrs import evolve

from citekit.adapters.formats.pdf.document.bookmarks import Bookmark, read_bookmarks
from citekit.adapters.formats.pdf.document.page_objects import BOOKMARK_LIMIT
from citekit.adapters.formats.pdf.document.tags import TaggedHeading, is_tagged, tagged_headings
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_numbers import is_heading_number, is_label, is_series_label
from citekit.adapters.formats.pdf.outline.heading_styles import HEADINGS_PER_PAGE
from citekit.adapters.formats.pdf.outline.headings import MAX_LENGTH, WORD
from citekit.adapters.formats.pdf.outline.lines import clean
from citekit.adapters.formats.pdf.outline.pages import PageTexts, matches_title, title_letters
from citekit.adapters.formats.pdf.outline.rows import rows_of
from citekit.adapters.formats.pdf.outline.structure import PAGE_LIMIT
from citekit.adapters.libraries.mupdf.engine import Document, exclusive
from citekit.domain.errors import CiteKitError

_FILE_CODE = re.compile(
    r"(?=\S*\d{4})\S{6,}|.*\.(?:pdf|indd|docx?|pptx?|eps|tex|dvi|ps)|\S+_\S+|\d+_.+_.+|(?:document|dokument|untitled)\s*\d*"
    r"|microsoft \w+ - .*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2}")
_PAGE_NUMBER = re.compile(r"(?:page|seite|p\.?|slide|folie)?\s*(\d+)", re.IGNORECASE)


def sections_of_bookmarks(document: Document) -> tuple[list[Section], list[str]]:
    """Return the sections that the bookmarks of the document name, and notes about bookmarks that were left out.

    A bookmark that leads to no page of the file starts at the first of its descendants that leads to one, or is left
    out if none does. Bookmarks without a title are left out if others have one; if none has, their titles are `Page 3`
    and so on.
    """
    bookmarks = read_bookmarks(document)
    if any(bookmark.title for bookmark in bookmarks):
        bookmarks = [bookmark for bookmark in bookmarks if bookmark.title]  # word processors mark empty paragraphs
    sections = [section for index in range(len(bookmarks)) if (section := _section(bookmarks, index)) is not None]
    notes = []
    lost = len(bookmarks) - len(sections)
    if lost and sections:
        notes.append(
            f"{lost} of {len(bookmarks)} bookmarks {'leads' if lost == 1 else 'lead'} to no page of the file and "
            f"{'was' if lost == 1 else 'were'} left out."
        )
    if len(bookmarks) == BOOKMARK_LIMIT:
        notes.append(f"Only the first {BOOKMARK_LIMIT} bookmarks were read; there may be more.")
    return sections, notes


def trusted(sections: Sequence[Section], texts: PageTexts) -> list[Section]:
    """Return the bookmarks that are trusted as titles of sections.

    A root above all others that names a file is left out, and the others move up by one level. So are running headers
    and footers out of page order, which word processors list if they have the style of a heading. The result is empty
    if all bookmarks name files or are page numbers. A title names a file if it is like a file name, a code with digits, or
    a default of a program (`Document1`), and is not printed on its page.
    """
    first, rest = list(sections[:1]), sections[1:]
    if first and all(each.level > first[0].level for each in rest) and _names_file(first[0], texts):
        first, rest = [], [evolve(each, level=each.level - 1) for each in rest]
    kept = [*first, *rest]
    apart = [int(found[1][:9]) - each.page for each in kept if (found := _PAGE_NUMBER.fullmatch(each.title))]
    are_pages = len(apart) == len(kept) > 1 and len(set(apart)) == 1
    if are_pages or all(_names_file(each, texts) for each in kept):
        return []
    strays = {two for one, two in pairwise(kept) if two.page < one.page and _is_running(two.title, two.page, texts)}
    return [each for each in kept if each not in strays]


def _names_file(section: Section, texts: PageTexts) -> bool:
    return bool(_FILE_CODE.fullmatch(section.title)) and not texts.lines_matching(section.title, section.page)


def _section(bookmarks: Sequence[Bookmark], index: int) -> Section | None:
    bookmark = bookmarks[index]
    target = bookmark if bookmark.page is not None else _first_child_with_page(bookmarks, index)
    if target is None or target.page is None:
        return None
    return Section(bookmark.level, bookmark.title or f"Page {target.page}", target.page, target.y)


def _first_child_with_page(bookmarks: Sequence[Bookmark], index: int) -> Bookmark | None:
    for bookmark in bookmarks[index + 1 :][:200]:
        if bookmark.level <= bookmarks[index].level:
            return None
        if bookmark.page is not None:
            return bookmark
    return None


MAX_ROWS = 4
"""The maximum number of rows of a tagged heading that is compared with the lines of its page."""

MAX_NUMBER = 12
"""A number at the end of a tagged heading may be that of the next item if it has fewer characters than this, without
spaces.
"""

MIN_HEADINGS = 3
"""The minimum number of tagged headings that a document needs for its tags to be used."""

FIRST_HEADING_SHARE = 1 / 3
"""The share of the pages, from the first, that must contain a tagged heading for the tags to be used. Otherwise, some
chapters may not be tagged.
"""


def sections_of_tags(texts: PageTexts) -> list[Section]:
    """Return the tagged headings in reading order as sections (level 1 is the top level).

    The result is empty if tags are missing or implausible, or if there are more than `PAGE_LIMIT` pages.
    """
    if texts.count > PAGE_LIMIT or not is_tagged(texts.reader.document):
        return []
    found: list[Section] = []
    for page in range(1, texts.count + 1):
        if not found and page > max(1.0, FIRST_HEADING_SHARE * texts.count):
            return []
        found += [
            Section(each.level, _printed_title(each, page, texts), page, each.y)
            for each in _headings_on(texts, page)
            if _is_title(each) and not _is_running(each.title, page, texts)
        ]
    return _with_levels_from_one(found) if _are_plausible(found, texts.count) else []


def _headings_on(texts: PageTexts, page: int) -> Sequence[TaggedHeading]:
    try:
        with exclusive():
            return tagged_headings(texts.reader.document[page - 1])
    except CiteKitError:
        raise
    except Exception:  # a damaged page has no headings; PyMuPDF can raise any exception then
        return ()


def _printed_title(heading: TaggedHeading, page: int, texts: PageTexts) -> str:
    """Return the title of a tagged heading, with the number that is printed before it outside its tag, and without that
    of the next item.

    Browsers leave the numbers of list items untagged, so that MuPDF adds each of them to the element before it.
    """
    rows = [row for row in rows_of(texts.all_displayed_lines(page)) if row.bottom > heading.y + 1][: MAX_ROWS + 1]
    title = _squeezed(heading.title)
    for rest, count in product(_numbers_at_end(title), range(1, len(rows) + 1)):
        printed = " ".join(row.text for row in rows[:count])
        below = rows[count].text if count < len(rows) else ""
        own = title.removesuffix(rest)
        if _squeezed(printed).endswith(own) and _squeezed(below).startswith(rest):
            before = _squeezed(printed).removesuffix(own).rstrip(".:–—-")
            is_number = is_heading_number(before) or is_label(before) or is_series_label(before)
            return clean(printed) if is_number or (rest and not before) else clean(heading.title)
    return clean(heading.title)


def _numbers_at_end(title: str) -> Iterator[str]:
    """Yield "", and then what may be a number, or its beginning, at the end of `title`, from short to long."""
    yield ""
    for start in range(len(title) - 1, max(0, len(title) - MAX_NUMBER), -1):
        rest = title[start:]
        if not _WORD.search(rest) or is_label(rest.rstrip(".:–—-")):
            yield rest


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _is_title(heading: TaggedHeading) -> bool:
    return len(heading.title) <= MAX_LENGTH and bool(WORD.search(heading.title))


def _is_running(title: str, page: int, texts: PageTexts) -> bool:
    """Return whether the title of a heading is printed only in a running header or footer."""
    wanted = title_letters(title)
    kept = {id(line) for line in texts.lines(page)}
    running = [title_letters(line.text) for line in texts.read(page) if id(line) not in kept]
    return any(matches_title(wanted, letters) for letters in running) and not texts.lines_matching(title, page)


def _are_plausible(found: Sequence[Section], count: int) -> bool:
    """Return whether the number of headings is plausible for `count` pages, and most titles differ, unlike running
    headers.
    """
    distinct = {section.title for section in found}
    return MIN_HEADINGS <= len(found) <= HEADINGS_PER_PAGE * count and len(distinct) * 2 > len(found)


def _with_levels_from_one(found: Sequence[Section]) -> list[Section]:
    least = min(section.level for section in found)
    return [Section(each.level - least + 1, each.title, each.page, each.y) for each in found]
