"""The text that an ellipsis in a quote leaves out, and whether leaving it out can change the meaning."""

from __future__ import annotations

import re

from attrs import field, frozen

from citekit.domain.library.manuscript import Manuscript, UnitKind
from citekit.domain.quotes.qualifiers import qualifiers
from citekit.domain.quotes.quotable import Placed
from citekit.domain.quotes.scripts import CUT, seen
from citekit.domain.quotes.symbols import is_unit

SHOWN = 400
"""Characters of the omitted text that an answer shows; of a longer text the beginning and the end."""

LONG = 500
"""Characters from which an omission is called long."""

_AROUND = 600
_SENTENCE = re.compile(r"[.!?\u2026]['\"\u2019\u201d\u00bb)\]]*\s|[\u3002\uff01\uff1f]")
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n")
_NUMBER_BEFORE = re.compile(r"\d\s*\Z")
_UNIT_AFTER = re.compile(r"\s*([^\W\d_]+|[%\u2030\u00b0])")
_CROSSED = {UnitKind.PAGE: "crosses pages", UnitKind.CHAPTER: "crosses chapters"}


@frozen
class Gap:
    """An ellipsis stands for `text` (shortened in the middle to `SHOWN` characters), which has `length` characters.

    `qualifiers` are the words in it that can reverse or restrict the statement. `remarks` name other reasons to read it.
    """

    text: str
    length: int
    qualifiers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=())

    @property
    def changes_meaning(self) -> bool:
        """Whether the omission can change what the passage says."""
        return bool(self.qualifiers) or NUMBER_FROM_UNIT in self.remarks


NUMBER_FROM_UNIT = "separates a number from a unit"


def gap_between(placed: Placed, start: int, end: int) -> Gap:
    """The gap for an ellipsis that stands for `placed.text[start:end]`."""
    text = placed.text
    omitted = " ".join(seen(text[start:end]).split())
    around = seen(text[max(0, start - _AROUND) : start] + text[end : end + _AROUND])
    return Gap(
        _shortened(omitted), len(omitted), qualifiers(text[start:end], around), tuple(_remarks(placed, start, end))
    )


def _remarks(placed: Placed, start: int, end: int) -> list[str]:
    text, omitted = placed.text, placed.text[start:end]
    remarks = []
    unit = _UNIT_AFTER.match(text, end)
    if _NUMBER_BEFORE.search(text[max(0, start - 8) : start]) and unit and (not unit[1].isalpha() or is_unit(unit[1])):
        remarks.append(NUMBER_FROM_UNIT)
    if _SENTENCE.search(text[max(0, start - 1) : end + 1]):
        remarks.append("crosses sentences")
    if _PARAGRAPH.search(omitted):
        remarks.append("crosses paragraphs")
    if CUT in omitted:
        remarks.append("crosses a break in the text")
    if start < end and isinstance(placed, Manuscript) and placed.kind in _CROSSED:
        first, last = placed.unit_at(max(0, start - 1)), placed.unit_at(min(end, len(text) - 1))
        remarks += [_CROSSED[placed.kind]] * (first.number != last.number)
    if len(omitted) >= LONG:
        remarks.append("is long")
    return remarks


def _shortened(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    return f"{text[: SHOWN * 3 // 4]} [...] {text[-SHOWN // 4 :]}"
