"""Finds run-in headings: numbered titles that begin a paragraph and are set off from its text only by their style."""

from __future__ import annotations

import re

from attrs import evolve

from citekit.adapters.formats.pdf.outline.lines import Lead, StyledLine
from citekit.domain.vocabulary import STATEMENT, THEOREM, any_of

MAX_GAP = 0.7
"""The largest gap between two lines of a heading, as a multiple of the height of a line."""

OPEN_SHARE = 0.2
"""A line that leaves more than this share of the width of its text open at its end is the last of a heading."""

MAX_TITLE = 120
"""The maximum number of characters of a run-in heading."""

_NUMBER = (
    r"(?:§\s*)?(?:[A-Z]?\d{1,3}(?:\.\d{1,3}){0,5}[.:)]?|[A-Z](?:\.\d{1,3}){1,5}[.:)]?|\(?(?:[A-Za-z]|[IVX]{1,6})[.)])"
)
_TITLE = re.compile(rf"(?P<number>{_NUMBER})\s+(?P<title>[^\W\d_].*)")
_STATEMENT = re.compile(rf"(?!definitions\b)(?:{any_of(STATEMENT, THEOREM)})(?:\s+\d\S*)?\s*(?:\(.*)?", re.IGNORECASE)
"""A title that is only the name of a statement in mathematics, perhaps with a number or a name in parentheses."""

_CAPITALS = re.compile(rf"{_NUMBER}\s+[^\W\d_a-z][^.:a-z]{{3,80}}[.:](?=\s)")
_ENDS, _MARKS = re.compile(r"[.:–—-]\s*\Z"), re.compile(r"\s*[.:–—-]")
_WORD = re.compile(r"[^\W\d_]{3,}")


def run_in_of(line: StyledLine, above: StyledLine | None) -> tuple[StyledLine, ...]:
    """Return the lines of the heading that begins the paragraph of `line`, in its style; none if there is no heading.

    The heading has a number. It ends in a period, colon, or dash, and a word follows it on the line. It may begin on
    the line `above`.
    """
    lead = line.lead or _lead_in_capitals(line)
    if lead is None or not line.text.startswith(lead.text):
        return ()
    rest = line.text[len(lead.text) :]
    if not _WORD.search(rest) or not (_ENDS.search(lead.text) or _MARKS.match(rest)):
        return ()
    end = evolve(
        line,
        text=lead.text.rstrip(" .:–—-"),
        font=lead.font,
        size=lead.size,
        bold=lead.bold,
        italic=lead.italic,
        lead=None,
    )
    if _is_title(end.text):
        return (end,)
    if above is None or not _continues(above, end) or not _is_title(f"{above.text} {end.text}"):
        return ()
    return above, end


def _is_title(text: str) -> bool:
    found = None if len(text) > MAX_TITLE else _TITLE.fullmatch(text)
    if not found or not _WORD.search(found["title"]) or _STATEMENT.fullmatch(found["title"]):
        return False
    return found["title"][0].isupper()


def _continues(above: StyledLine, line: StyledLine) -> bool:
    """Return whether `line` continues the line `above`, which is full and in the same style."""
    same = (above.font, above.size, above.bold) == (line.font, line.size, line.bold)
    height, full = line.bottom - line.top, line.right - above.right < OPEN_SHARE * (line.right - line.left)
    return same and full and not _ENDS.search(above.text) and -height < line.top - above.bottom < MAX_GAP * height


def _lead_in_capitals(line: StyledLine) -> Lead | None:
    """Return the numbered beginning of `line` in capitals before text in lowercase letters."""
    found = None if line.text.isupper() else _CAPITALS.match(line.text)
    return None if found is None else Lead(found[0], line.font, line.size, line.bold, line.italic)
