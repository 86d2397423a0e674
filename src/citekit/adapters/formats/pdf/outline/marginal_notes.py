"""Finds the sections of acts whose titles are marginal notes: in smaller type, beside the first line of the section."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import zip_longest

from citekit.adapters.formats.pdf.outline.heading_numbers import rank_of
from citekit.adapters.formats.pdf.outline.headings import LINE_LIMIT, WORD, BodyStyle, Heading
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.pages import PageTexts

MIN_SECTIONS = 3
"""The minimum number of sections with marginal notes."""

MAX_SKIPPED = 2
"""The maximum number of successive sections without a marginal note, or with a number that OCR misread."""

SMALLER_RATIO = 0.9
"""The largest size of a marginal note, as a multiple of the size of body text."""

_NUMBERED = re.compile(r"(\d{1,3})([A-Z]?)\.\s+\S")


def with_marginal_notes(chosen: Sequence[Heading], texts: PageTexts, body: BodyStyle) -> list[Heading]:
    """Return the headings with the numbered sections that have marginal notes as titles.

    Unless they name a part or a chapter, headings before the first section are left out: they belong to the cover.
    """
    noted = _noted_sections(texts, body)
    if len(noted) < MIN_SECTIONS:
        return list(chosen)
    first = noted[0].page, noted[0].y
    kept = [each for each in chosen if (each.page, each.y) > first or rank_of(each.text) is not None]
    return sorted([*kept, *noted], key=lambda each: (each.page, each.y))


def _noted_sections(texts: PageTexts, body: BodyStyle) -> list[Heading]:
    """Return the sections with marginal notes whose numbers count up from 1: `1.`, `2.`, `2A.`, `3.`"""
    found: list[Heading] = []
    last = 0
    for page in range(1, texts.count + 1):
        lines = texts.displayed_lines(page)
        small = [line for line in lines if line.upright and line.size <= SMALLER_RATIO * body.size]
        if not small or len(lines) > LINE_LIMIT:
            continue
        large = [line for line in lines if line.size > SMALLER_RATIO * body.size and _NUMBERED.match(line.text)]
        large.sort(key=lambda line: line.top)
        for line, next_ in zip_longest(large, large[1:]):
            number = _NUMBERED.match(line.text)
            steps = int(number[1]) - last if number else 0
            if number is None or not (steps == 0 if number[2] else 0 < steps <= MAX_SKIPPED + 1):
                continue
            if note := _note_beside(line, small, next_.top if next_ else math.inf):
                text = " ".join([f"{number[1]}{number[2]}.", *(each.text for each in note)])
                found.append(Heading(text, page, tuple(note), ("", SMALLER_RATIO * body.size, False, False), 0, 0))
                last = int(number[1])
    return found


def _note_beside(line: StyledLine, small: Sequence[StyledLine], end: float) -> list[StyledLine]:
    """Return the lines of the note that begins beside `line`, on its left or right; none if there is no note. `end` is
    the top of the next numbered line, beside which another note may begin.
    """
    height = line.bottom - line.top
    beside = [each for each in small if each.right <= line.left or each.left >= line.right]
    first = next((each for each in beside if abs(each.top - line.top) < height and _begins_title(each, line)), None)
    note: list[StyledLine] = []
    for each in sorted(beside, key=lambda each: each.top):
        if first is None or each.top < first.top or abs(each.left - first.left) > height:
            continue
        if note and (each.top - note[-1].bottom > height / 2 or each.top > end - height / 2):
            break
        note.append(each)
    return note


def _begins_title(note: StyledLine, line: StyledLine) -> bool:
    is_narrow = 2 * (note.right - note.left) < line.right - line.left
    return is_narrow and note.text[0].isupper() and bool(WORD.search(note.text))
