"""Finds run-in headings: numbered titles that begin a paragraph and are set off from its text only by their style."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve

from citekit.adapters.formats.pdf.outline.lines import Lead, StyledLine
from citekit.domain.vocabulary import STATEMENT, THEOREM, any_of

MAX_TITLE = 120
"""The maximum number of characters of a run-in heading."""

_NUMBER = r"(?:§\s*)?(?:[A-Z]?\d{1,3}(?:\.\d{1,3}){0,5}[.:)]?|[A-Z](?:\.\d{1,3}){1,5}[.:)]?|\(?(?:[A-Za-z]|[IVX]{1,6})[.)])"
_TITLE = re.compile(rf"(?P<number>{_NUMBER})\s+(?!(?:{any_of(STATEMENT, THEOREM)})\b)(?P<title>[^\W\d_].*)", re.IGNORECASE)
_CAPITALS = re.compile(rf"{_NUMBER}\s+[^\W\d_a-z][^.:a-z]{{3,80}}[.:](?=\s)")
_ENDS, _MARKS = re.compile(r"[.:–—-]\s*\Z"), re.compile(r"\s*[.:–—-]")
_WORD = re.compile(r"[^\W\d_]{3,}")


def run_in_of(line: StyledLine) -> StyledLine | None:
    """Return the heading that begins `line`, as a line in its style; None if the line does not begin with one.

    The heading has a number. It ends in a period, colon, or dash, and a word follows it on the line.
    """
    lead = line.lead or _lead_in_capitals(line)
    if lead is None or not line.text.startswith(lead.text):
        return None
    rest = line.text[len(lead.text) :]
    found = _TITLE.fullmatch(lead.text)
    if not found or not (_ENDS.search(lead.text) or _MARKS.match(rest)):
        return None
    title = found["title"].rstrip(" .:–—-")
    if not title[:1].isupper() or len(title) > MAX_TITLE or not _WORD.search(title) or not _WORD.search(rest):
        return None
    return evolve(
        line, text=f"{found['number']} {title}", font=lead.font, size=lead.size, bold=lead.bold, italic=lead.italic,
        lead=None,
    )  # fmt: skip


def _lead_in_capitals(line: StyledLine) -> Lead | None:
    """Return the numbered beginning of `line` in capitals before text in lowercase letters."""
    found = None if line.text.isupper() else _CAPITALS.match(line.text)
    return None if found is None else Lead(found[0], line.font, line.size, line.bold, line.italic)
