"""Finds the title that a Word document prints.

It is in paragraphs with the style Title, or else in prominent opening lines, or else in a short first line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile, pairwise, takewhile

from attrs import frozen

from citekit.adapters.formats.docx.styles import BODY
from citekit.adapters.formats.shared.outline import TITLE_LIMIT, one_line
from citekit.adapters.formats.shared.titles import WORD, is_institution, may_be_title
from citekit.domain.vocabulary import TOC_HEADING, any_of

OPENING_LIMIT = 60
"""The number of paragraphs with text at the beginning that are searched for a title."""

PROSE_LENGTH, SENTENCE_BONUS = 200, 100
"""A paragraph of at least `PROSE_LENGTH` characters is prose, which ends the opening. If it ends like a sentence, it
may be `SENTENCE_BONUS` characters shorter.
"""

LARGER = 1.15
"""The minimum size of a title that is recognized only by its size, as a multiple of the size of body text."""

NEARLY = 0.75
"""The minimum size of a line that belongs to a title, as a multiple of the size of the first or largest line of the
title.
"""

PARTS = 4
"""The maximum number of large lines that form one title even if smaller lines are between them."""

PLAIN_LENGTH = 100
"""The maximum number of characters of a first line that is a title though no look distinguishes it."""

_SEPARATOR = " – "
_ENTRY = re.compile(r"[^\W\d_].*[\s.]\d{1,4}$")
"""Matches a line of a table of contents: a title and a page number."""

TOC = re.compile(rf"(?:{any_of(TOC_HEADING)})\W*", re.I)


@frozen
class Line:
    """A paragraph with text: its font size in half points, and its outline level, which is `BODY` for body text.

    `title_style` is the ID of the paragraph's style if that is, or is based on, the style Title, or "". `follows` is
    true if no other paragraph, such as an empty one, is between the previous line and this one. `holds_text` is true if
    it is a heading that text or a lower heading follows, and there are other headings of its level. `page` counts the
    page breaks before it that the file names.
    """

    text: str
    size: int
    level: int
    bold: bool
    centered: bool
    title_style: str
    follows: bool
    holds_text: bool = False
    page: int = 0


def printed_title(lines: Sequence[Line], body_size: int) -> str:
    """Return the title that the first lines of a document print, or "".

    `body_size` is the most common font size in half points.
    """
    named = list(dropwhile(lambda line: not line.title_style, lines))
    if named and not TOC.fullmatch(named[0].text):
        titled = takewhile(lambda line: line.title_style and _is_nearly_as_large(named[0], line), named)
        return one_line(" ".join(dict.fromkeys(line.text for line in titled)), TITLE_LIMIT)
    opening = list(_opening(lines))
    opening = [line for line in opening if not is_institution(line.text)] or opening
    largest = max(opening, key=lambda line: line.size, default=None)  # the first of the largest
    if largest is not None and largest.size >= LARGER * body_size:
        if not may_be_title(largest.text):
            return ""
        large = [line for line in opening if line.size >= max(NEARLY * largest.size, LARGER * body_size)]
        return _joined(large if len(large) <= PARTS else opening[opening.index(largest) :], _is_nearly_as_large)
    opening = [line for line in opening if may_be_title(line.text)]
    repeated = Counter(line.text for line in opening)
    inside = [line for line in opening if line.bold and repeated[line.text] > 1 and len(line.text.split()) > 3]
    prominent = [line for line in opening if line.level < BODY or line.bold or line.centered]
    found = inside[0] if inside else max(prominent, key=lambda line: line.size, default=None)
    if found is not None:
        return _joined(opening[opening.index(found) :], _continues)
    return lines[0].text if opening and opening[0] is lines[0] and _ends_as_title(lines[0].text) else ""


def _ends_as_title(text: str) -> bool:
    """Return whether a plain line may be a title: it is short, does not begin with a digit, and does not end like a
    sentence or a salutation.
    """
    return len(text) <= PLAIN_LENGTH and not text[:1].isdigit() and text[-1] not in ".,;:?!#"


def is_blank(text: str) -> bool:
    """Return whether a text ends with a blank of a form (`Date: ______`)."""
    return text.rstrip(" .,:;/)").endswith("___") or text.endswith((".....", "……"))


def _opening(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines with words up to the first prose, heading with text below it, or table of contents.

    Lines that end with a colon or with a blank of a form are left out.
    """
    lines = lines[:OPENING_LIMIT]
    for at, line in enumerate(lines):
        length = len(line.text) + SENTENCE_BONUS * line.text.endswith((".", "!", "?"))
        is_entry = all(_ENTRY.search(each.text) for each in lines[at : at + 2])
        if (line.level == BODY and length >= PROSE_LENGTH) or line.holds_text or is_entry or TOC.fullmatch(line.text):
            return
        if WORD.search(line.text) and not line.text.endswith(":") and not is_blank(line.text):
            yield line


def _joined(lines: Sequence[Line], belongs: Callable[[Line, Line], bool]) -> str:
    """Return the first line joined with the next lines that belong to it, or the largest of them if that is too long."""
    following = takewhile(lambda line: belongs(lines[0], line), lines[1:])
    own = [lines[0], *(line for line in following if line.text != lines[0].text)]
    text = own[0].text
    for before, line in pairwise(own):
        text += (" " if line.size == before.size else _SEPARATOR) + line.text
    return text if len(text) <= TITLE_LIMIT else max(own, key=lambda line: line.size).text


def _is_nearly_as_large(line: Line, other: Line) -> bool:
    return other.page == line.page and other.size >= NEARLY * line.size


def _continues(line: Line, other: Line) -> bool:
    if other.page != line.page:
        return False
    look = (other.size, other.level, other.bold, other.centered)
    return other.follows and (look == (line.size, line.level, line.bold, line.centered) or other.text[:1].islower())
