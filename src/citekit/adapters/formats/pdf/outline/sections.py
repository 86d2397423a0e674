"""Turns sections into a tree of outline items, or groups pages by number if a document has no structure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from attrs import evolve

from citekit.adapters.formats.pdf.outline.heading_location import Section, begins_page
from citekit.adapters.formats.pdf.outline.heading_numbers import unnumbered
from citekit.adapters.formats.pdf.outline.pages import PageTexts, title_letters
from citekit.adapters.formats.pdf.outline.summaries import first_sentence, heading_lines, summary_of
from citekit.adapters.formats.shared.outline import OutlineItem, nested
from citekit.domain.locations import Pages
from citekit.domain.vocabulary import APPENDIX, CHAPTER, CJK_CHAPTER, CJK_PART, PART, any_of

MAX_GROUPS = 40
"""The largest number of page groups of a document."""

_SIZES = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500)


def page_groups(texts: PageTexts) -> tuple[OutlineItem, ...]:
    """Return outline items for groups of equally many pages, or for single pages in a short document."""
    size = next((size for size in _SIZES if texts.count <= size * MAX_GROUPS), -(-texts.count // MAX_GROUPS))
    return tuple(_group(texts, first, min(first + size - 1, texts.count)) for first in range(1, texts.count + 1, size))


def _group(texts: PageTexts, first: int, last: int) -> OutlineItem:
    kind = "page" if first == last else "pages"
    return OutlineItem(group_title(first, last), kind, Pages.span(first, last), first_sentence(texts.lines(first)))


def group_title(first: int, last: int) -> str:
    """Return a title such as `Page 3` or `Pages 1-10` for the 1-based pages `first` to `last`."""
    return f"Page {first}" if first == last else f"Pages {first}-{last}"


PAGES_BUDGET = 3_000_000
"""The maximum number of page numbers in one map. Hostile bookmarks, whose sections all overlap, may exceed it."""

BOOK_LENGTH = 60
"""In a document with at least this many pages, the sections of the first level are chapters, unless they are parts."""

_PART = re.compile(rf"(?:{any_of(PART)})\b|第.{{1,4}}[{CJK_PART}]", re.IGNORECASE)
_CHAPTER = re.compile(rf"(?:{any_of(CHAPTER, APPENDIX)})\b|第.{{1,4}}{CJK_CHAPTER}", re.IGNORECASE)


def outline_items_of(sections: Sequence[Section], texts: PageTexts) -> tuple[tuple[OutlineItem, ...], bool]:
    """Return the tree of outline items for `sections`, and whether some were shortened to their first page.

    A section ends where the next one of the same or a higher level starts: on the page before if that one starts at the
    top of its page, or else on the same page. A section that starts before its parent is a single page, and its parent
    also has this page. Pages before the first section become an item of their own. Sections are shortened if their page
    ranges exceed `PAGES_BUDGET` pages in total.
    """
    sections = _clamped_to_parents(sections, texts)
    early = _before_parents(sections)
    ends = _last_pages(sections, texts)
    types = _types(sections, texts.count)
    headings = heading_lines(sections, texts)
    budget, shortened = PAGES_BUDGET, False
    items: list[tuple[int, OutlineItem]] = []
    for index, (section, end) in enumerate(zip(sections, ends, strict=True)):
        last = section.page if index in early else end
        span = last - section.page + 1
        if span > budget:
            last, span, shortened = section.page, 1, True
        budget -= span
        summary = summary_of(section, _next_section(sections, index), last, texts, headings)
        place_of = Pages.span(section.page, last)
        items.append((section.level, OutlineItem(section.title, types[section.level], place_of, summary)))
    tree = tuple(_covering_children(outline_item) for outline_item in nested(items))
    return (*_front_matter(sections, texts), *tree), shortened


def moved_section_notes(sections: Sequence[Section], texts: PageTexts) -> list[str]:
    """Return a note about sections that the file places before their parents, if there are any."""
    moved = [
        was for was, now in zip(sections, _clamped_to_parents(sections, texts), strict=True) if was.page != now.page
    ]
    if not moved:
        return []
    shown = ", ".join(f"'{each.title[:60]}' (page {each.page})" for each in moved[:3]) + (
        ", and others" if moved[3:] else ""
    )
    if len(moved) == 1:
        return [f"1 section begins before its parent section, so it was moved to the start of its parent: {shown}."]
    return [
        f"{len(moved)} sections begin before their parent sections, so they were moved to the starts of their parents: "
        f"{shown}."
    ]


def _clamped_to_parents(sections: Sequence[Section], texts: PageTexts) -> list[Section]:
    """Return the sections, with those that start before their parents moved to the parents' starts.

    A section stays if its title is printed on its page, or if it follows a section of the same page that stayed: the
    outer page of a folded leaflet, for example, can come first in the file although its text begins inside.
    """
    straight: list[Section] = []
    holders: list[Section] = []
    for section in sections:
        while holders and holders[-1].level >= section.level:
            holders.pop()
        if holders and section.page < holders[-1].page:
            follows = straight[-1].page == section.page
            if not (follows or _is_printed(section, texts)):
                section = evolve(section, page=holders[-1].page, y=math.nan)
        straight.append(section)
        holders.append(section)
    return straight


def _is_printed(section: Section, texts: PageTexts) -> bool:
    """Return whether lines of the section's page are its whole title."""
    wanted, lines = title_letters(section.title), texts.lines(section.page)
    own = [title_letters(lines[at].text) for at in texts.lines_matching(section.title, section.page)]
    return bool(wanted) and (wanted in own or "".join(own) == wanted)


def _before_parents(sections: Sequence[Section]) -> set[int]:
    """Return the indexes of the sections that start before their parents."""
    early: set[int] = set()
    holders: list[Section] = []
    for index, section in enumerate(sections):
        while holders and holders[-1].level >= section.level:
            holders.pop()
        if holders and section.page < holders[-1].page:
            early.add(index)
        holders.append(section)
    return early


def _last_pages(sections: Sequence[Section], texts: PageTexts) -> list[int]:
    ends = [0] * len(sections)
    open_: list[Section] = []
    for index in range(len(sections) - 1, -1, -1):
        section = sections[index]
        while open_ and open_[-1].level > section.level:
            open_.pop()
        ends[index] = _last_page(section, open_[-1] if open_ else None, texts)
        open_.append(section)
    return ends


def _last_page(section: Section, following: Section | None, texts: PageTexts) -> int:
    if following is None:
        return texts.count
    if following.page <= section.page:
        return section.page
    return following.page - 1 if begins_page(following, texts) else following.page


def _next_section(sections: Sequence[Section], index: int) -> Section | None:
    """Return the section after the one at `index`, or None if that is its child or does not exist."""
    following = sections[index + 1] if index + 1 < len(sections) else None
    return following if following is not None and following.level <= sections[index].level else None


def _types(sections: Sequence[Section], page_count: int) -> dict[int, str]:
    """Return the node type of each level (part, chapter, section, or subsection)."""
    levels = sorted({section.level for section in sections})
    top = [section.title for section in sections if section.level == levels[0]]
    if sum(bool(_PART.match(title)) for title in top) * 2 > len(top):
        words = ["part", "chapter", "section"]
    elif page_count >= BOOK_LENGTH or any(_CHAPTER.match(each) for title in top for each in (title, unnumbered(title))):
        words = ["chapter", "section"]
    else:
        words = ["section"]
    return {level: words[depth] if depth < len(words) else "subsection" for depth, level in enumerate(levels)}


def _covering_children(outline_item: OutlineItem) -> OutlineItem:
    """Return the outline item with its page range extended to the last page of its children, and with their pages before
    it.
    """
    children = tuple(_covering_children(child) for child in outline_item.children)
    if not children:
        return outline_item
    spans = [_first_and_last(member) for member in (outline_item, *children)]
    first, last = spans[0][0], max(last for _, last in spans)
    if all(start >= first for start, _ in spans):
        return evolve(outline_item, location=Pages.span(first, last), children=children)
    before = {number for child in children for number in _numbers(child) if number < first}
    return evolve(outline_item, location=Pages((*sorted(before), *range(first, last + 1))), children=children)


def _numbers(outline_item: OutlineItem) -> tuple[int, ...]:
    assert isinstance(outline_item.location, Pages)
    return outline_item.location.numbers


def _first_and_last(outline_item: OutlineItem) -> tuple[int, int]:
    numbers = _numbers(outline_item)
    return numbers[0], numbers[-1]


def _front_matter(sections: Sequence[Section], texts: PageTexts) -> Iterator[OutlineItem]:
    first = min(section.page for section in sections)
    if first > 1:
        last = first - 1 if begins_page(min(sections, key=lambda section: section.page), texts) else first
        yield OutlineItem(group_title(1, last), "pages", Pages.span(1, last), first_sentence(texts.lines(1)))
