"""Finds the list of references of a document whose bookmarks leave it out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import evolve

from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.domain.vocabulary import REFERENCES, any_of

LAST_PAGES = 40
"""The number of last pages that are searched. References are at the end, or before the appendixes."""

_NUMBER = r"(?:[\dA-Z]{1,3}(?:\.\d{1,2})*\.?\s+)?"
_HEADING = re.compile(rf"{_NUMBER}({any_of(REFERENCES)})", re.IGNORECASE)


def with_references(sections: Sequence[Section], texts: PageTexts) -> Sequence[Section]:
    """Return the sections of bookmarks, with the references at the top level unless a section has that title.

    Their heading is bold, in capitals, or larger than the next line. References that have sections of a deeper level
    after them, or that are at several places, belong to chapters, and are left out.
    """
    if not sections or any(_HEADING.fullmatch(section.title) for section in sections):
        return sections
    found = list(_headings(texts, max(sections[0].page, texts.count - LAST_PAGES + 1)))
    if not found or found[-1].page - found[0].page >= len(found):
        return sections
    references, top = found[0], min(section.level for section in sections)
    before = [each for each in sections if each.position < references.position]
    after = [each for each in sections if each.position >= references.position]
    if not before or (after and after[0].level > top) or [*before, *after] != list(sections):
        return sections
    return [*before, evolve(references, level=top), *after]


def _headings(texts: PageTexts, first: int) -> Iterator[Section]:
    for page in range(first, texts.count + 1):
        lines = texts.displayed_lines(page)
        for at, line in enumerate(lines):
            title = _HEADING.fullmatch(line.text.strip())
            if title and not _is_entry(line, lines) and _is_prominent(line, lines[at + 1 : at + 2]):
                yield Section(1, line.text.strip(), page, line.top)
                break


def _is_entry(line: StyledLine, lines: Sequence[StyledLine]) -> bool:
    """Return whether a number is in the row of `line`, such as its page number in a table of contents."""
    middle = (line.top + line.bottom) / 2
    return any(other.top < middle < other.bottom and other.text.strip(" .\u2026").isdecimal() for other in lines)


def _is_prominent(line: StyledLine, after: Sequence[StyledLine]) -> bool:
    return line.bold or line.text.isupper() or any(line.size > 1.05 * each.size for each in after)
