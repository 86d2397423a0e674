"""Headings inside the chapters of a book: which of them begin sections, and which only belong to a title."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from attrs import evolve

from citekit.adapters.formats.shared.summaries import has_text
from citekit.domain.ports.reader import BookChapter, Mark

_NUMBER = re.compile(
    r"\W*(?:[^\W\d_]{2,12}\W+)?(?:\d{1,4}|[ivxlcdm]{1,8}|one|two|three|four|five|six|seven|eight|nine|ten)\W*", re.I
)
"""A title that is only a number, such as `CHAPTER I` or `12.`: what follows it is the rest of the title."""


_LISTED = 8
"""Headings that make a list of them."""

_NEAR = 40
"""Characters, such as a number on a line of its own, that may stand before the title as the page shows it."""


def folded(text: str) -> str:
    """A title as it is compared: letters and digits, case folded."""
    return "".join(character for character in text.casefold() if character.isalnum())


def chapter_headings(chapter: BookChapter) -> list[Mark]:
    """The headings of a chapter; a bare number and the title right behind it are one.

    None where a chapter is little but headings: that is a printed table of contents, or an index.
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
    numbered = _NUMBER.fullmatch(before.title) and not _NUMBER.fullmatch(mark.title)
    return bool(numbered) and mark.level >= before.level and not has_text(text[before.end : mark.start])


def inside(headings: Sequence[Mark], start: int, end: int) -> Sequence[Mark]:
    """Those that begin from `start` on and before `end`."""
    first = bisect_left(headings, start, key=lambda mark: mark.start)
    return headings[first : bisect_left(headings, end, key=lambda mark: mark.start)]


def of_sections(headings: Sequence[Mark], text: str, start: int, title: str) -> Sequence[Mark]:
    """The headings of sections in the range that begins at `start` and has that title.

    Those at its very beginning that repeat the title, or stand alone on their level, are the title as the page shows it.
    """
    wanted, at = folded(title), start
    for position, mark in enumerate(headings):
        said = folded(mark.title)
        if has_text(text[at : mark.start]) and not (said == wanted and mark.start - at <= _NEAR):
            return headings[position:]
        alone = sum(each.level == mark.level for each in headings) == 1
        if not (alone or said in wanted or wanted in said):
            return headings[position:]
        at = mark.end
    return ()
