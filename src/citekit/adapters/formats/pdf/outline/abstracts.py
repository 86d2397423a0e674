"""Finds the abstract of a paper or a thesis, whose heading is alone or before the text in the same line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile

from attrs import evolve

from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.heading_numbers import depth_of, series_of
from citekit.adapters.formats.pdf.outline.headings import COMMON_HEADING
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.domain.vocabulary import ABSTRACT, any_of

ABSTRACT_PAGES = 12
"""The number of first pages that are searched, because a thesis begins with its cover and its contents."""

_SPACED = re.compile(r"(?<=\b\w) (?=\w\b)")
_HEADING = re.compile(rf"({any_of(ABSTRACT)})(?:\W*\Z|\s*[.:—–-]+\s*(?=\S))", re.IGNORECASE)
_OPENING = re.compile(r"(Abstract|ABSTRACT)\s+(?=[A-Z].{36})")
"""An abstract without a mark after its name, which must begin a long line, unlike `Abstract Algebra`."""

_PAGE_NUMBER = re.compile(r"[\W\d]*|[ivxl]+", re.IGNORECASE)


def with_abstracts(sections: Sequence[Section], texts: PageTexts, *, has_authors: bool) -> list[Section]:
    """Return the sections, with the abstracts on the pages up to the first section, unless a section is an abstract.

    Abstracts come first, or after a title on the same page. With `has_authors`, unnumbered sections above the first
    abstract on its page are left out as names of authors.
    """
    if not sections or any(_HEADING.fullmatch(section.title) for section in sections):
        return list(sections)
    found = list(_abstracts(texts, min(sections[0].page, ABSTRACT_PAGES)))
    if not found:
        return list(sections)
    rest = list(dropwhile(lambda each: _is_above(each, found[0]), sections)) if has_authors else list(sections)
    level = rest[0].level if rest else 1
    if len(rest) > 1 and rest[0].page == found[0].page and rest[1].level > level:  # `rest[0]` is the title
        return [rest[0], *(evolve(each, level=rest[1].level) for each in found), *rest[1:]]
    return [*(evolve(each, level=level) for each in found), *rest]


def _abstracts(texts: PageTexts, last: int) -> Iterator[Section]:
    said: set[str] = set()
    for page in range(1, last + 1):
        lines = texts.displayed_lines(page)
        for line in lines:
            title = _title(line.text)
            if title and title.casefold() not in said and not _is_entry(line, lines):
                said.add(title.casefold())
                yield Section(1, title, page, line.top)


def _title(text: str) -> str:
    found = _HEADING.match(text) or _OPENING.match(text) or _HEADING.match(_SPACED.sub("", text))
    return found[1] if found else ""


def _is_entry(line: StyledLine, lines: Sequence[StyledLine]) -> bool:
    """Return whether `line` is an entry of a table of contents: its page number is in the same row."""
    middle = (line.top + line.bottom) / 2
    return any(
        other.top < middle < other.bottom and other.left > line.right and _PAGE_NUMBER.fullmatch(other.text)
        for other in lines
    )


def _is_above(section: Section, abstract: Section) -> bool:
    numbered = depth_of(section.title) or series_of(section.title) or COMMON_HEADING.fullmatch(section.title)
    return section.page == abstract.page and section.y < abstract.y and not numbered
