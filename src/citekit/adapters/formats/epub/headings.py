"""Determines which headings inside the chapters of a book start sections and which belong to a title."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from attrs import evolve

from citekit.adapters.formats.shared.sections import is_bare_number
from citekit.adapters.formats.shared.summaries import folded, has_text
from citekit.domain.ports.reader import BookChapter, Mark

HEADINGS_LIMIT = 20_000
"""Maximum number of headings that become sections. With more, only the table of contents is used."""

_LISTED = 8
"""Minimum number of headings in a list of headings, such as a table of contents."""

_NEAR = 40
"""Maximum number of characters, such as a number on its own line, before the heading that repeats a section's title."""


def chapter_headings(chapter: BookChapter) -> list[Mark]:
    """Return the headings of a chapter. A bare number is merged with the title that directly follows it.

    Return none if there are at least `_LISTED` headings that make up more than half of the text, because the chapter is
    then a printed table of contents or an index.
    """
    found: list[Mark] = []
    for mark in chapter.marks:
        if mark.kind != "heading" or not has_text(mark.title) or (found and mark.start < found[-1].end):
            continue
        if found and _goes_on(chapter.text, found[-1], mark):
            found[-1] = evolve(found[-1], title=f"{found[-1].title} {mark.title}", end=mark.end)
        else:
            found.append(mark)
    listed = len(found) >= _LISTED and 2 * sum(mark.end - mark.start for mark in found) > len(chapter.text)
    return [] if listed else found


def _goes_on(text: str, before: Mark, mark: Mark) -> bool:
    numbered = is_bare_number(before.title) and not is_bare_number(mark.title)
    return numbered and mark.level >= before.level and not has_text(text[before.end : mark.start])


def inside(headings: Sequence[Mark], start: int, end: int) -> Sequence[Mark]:
    """Return the headings that start between the character offsets `start` (inclusive) and `end` (exclusive)."""
    first = bisect_left(headings, start, key=lambda mark: mark.start)
    return headings[first : bisect_left(headings, end, key=lambda mark: mark.start)]


def of_sections(headings: Sequence[Mark], text: str, start: int, title: str) -> Sequence[Mark]:
    """Return the headings that start sections in a range that begins at offset `start` and has the title `title`.

    Headings at its very beginning are part of the title if they repeat it or are the only ones of their level.
    """
    wanted, at = folded(title), start
    on_level = Counter(mark.level for mark in headings)
    for position, mark in enumerate(headings):
        said = folded(mark.title)
        if has_text(text[at : mark.start]) and not (said == wanted and mark.start - at <= _NEAR):
            return headings[position:]
        if not (on_level[mark.level] == 1 or said in wanted or wanted in said):
            return headings[position:]
        at = mark.end
    return ()
