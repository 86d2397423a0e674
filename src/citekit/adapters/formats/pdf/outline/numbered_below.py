"""Finds headings whose numbers count up below those of sections that bookmarks or a printed table of contents name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citekit.adapters.formats.pdf.outline.heading_location import Section, top_of
from citekit.adapters.formats.pdf.outline.heading_numbers import number_parts, unnumbered
from citekit.adapters.formats.pdf.outline.headings import LARGER_RATIO, BodyStyle, Heading, body_style_of, headings_on
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts, title_letters
from citekit.domain.vocabulary import STATEMENT, THEOREM, any_of

PAGE_LIMIT = 1000
"""The maximum number of pages of a document that is searched."""

_DOTTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,5}\.?(?:\s|\Z)")
_STATEMENT = re.compile(rf"(?:{any_of(STATEMENT, THEOREM)})\b", re.IGNORECASE)

Number = tuple[str, ...]
"""The components of the number of a heading: (`2`, `1`) for `2.1`."""


def with_numbered_below(sections: Sequence[Section], texts: PageTexts) -> Sequence[Section]:
    """Return the sections, with the headings among them whose numbers continue theirs: `2.1.1` after `2.1`, and then
    `2.1.2`.

    The numbers of the sections are printed in their titles. The sections are returned unchanged if there are more than
    `PAGE_LIMIT` pages.
    """
    named = {number for section in sections if (number := number_parts(section.title))}
    titles = {(section.page, title_letters(section.title)) for section in sections}
    body = body_style_of(texts) if named and texts.count <= PAGE_LIMIT else None
    if body is None:
        return sections
    mixed: list[Section] = []
    rest = list(sections)[::-1]
    open_: list[tuple[Number, int]] = []
    for heading in _numbered_headings(texts, body):
        while rest and _position(rest[-1], texts) <= (heading.page, heading.y):
            mixed.append(rest.pop())
            _open(open_, number_parts(mixed[-1].title), mixed[-1].level)
        number = number_parts(heading.text)
        is_named = number in named or (heading.page, title_letters(heading.text)) in titles
        level = 0 if is_named else _level_after(open_, number)
        if level:
            mixed.append(Section(level, heading.text, heading.page, heading.y))
            _open(open_, number, level)
    return [*mixed, *rest[::-1]]


def _position(section: Section, texts: PageTexts) -> tuple[int, float]:
    return Section(section.level, section.title, section.page, top_of(section, texts)).position


def _open(open_: list[tuple[Number, int]], number: Number, level: int) -> None:
    """Close the numbers of the level of a section and of lower ones, and open its own."""
    while open_ and open_[-1][1] >= level:
        open_.pop()
    open_.append((number, level))


def _level_after(open_: Sequence[tuple[Number, int]], number: Number) -> int:
    """Return the level of a heading whose `number` is the first below the last of the open ones or the next after one of
    them; 0 for any other.
    """
    last, level = open_[-1] if open_ else ((), 0)
    if last and number == (*last, "1"):
        return level + 1
    return next((own for before, own in open_ if _is_next(before, number)), 0)


def _is_next(before: Number, number: Number) -> bool:
    same = len(before) == len(number) > 1 and before[:-1] == number[:-1]
    return same and int(number[-1]) == int(before[-1]) + 1


def _numbered_headings(texts: PageTexts, body: BodyStyle) -> Iterator[Heading]:
    """Yield the heading candidates with dotted numbers, apart from statements such as `2.1 Theorem`."""
    for page in range(1, texts.count + 1):
        lines = texts.displayed_lines(page)
        if not any(_may_be_number(line, body) for line in lines):
            continue
        texts.reader.report_progress()
        for heading in headings_on(page, lines, body):
            if len(number_parts(heading.text)) > 1 and not _STATEMENT.match(unnumbered(heading.text)):
                yield heading


def _may_be_number(line: StyledLine, body: BodyStyle) -> bool:
    marked = line.bold or line.lead or line.font != body.font or line.size >= LARGER_RATIO * body.size
    return bool(marked and _DOTTED.match(line.text))
