"""The first sentence of a text that tells something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citekit.adapters.drivers.pdf_text import Line

SHORTEST = 30
"""Characters of a sentence that can stand alone; a shorter one takes the next along."""

PARAGRAPHS = 12
"""Paragraphs that are looked at."""

_LEADER = re.compile(r"\.{4,}|(?:\. ){4,}|…{2,}|_{4,}")
_CAPTION = re.compile(r"(?:figure|fig\.|table|listing|abb\.|図|表)\s*\d", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\W\d_a-z])|(?<=[。！？])")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|fig|figs|eq|no|vol|pp|p|dr|mr|mrs|ms|prof|st|jr|sec|ch|ca|z\.b)|\b\w)\.$", re.I
)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class _Letters(dict[int, int | None]):
    """For `str.translate`: letters and spaces stay, all else goes. Filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        kept = self[code] = code if chr(code).isalpha() or chr(code).isspace() else None
        return kept


_LETTERS = _Letters()


def first_sentence(lines: Sequence[Line]) -> str | None:
    """The first sentence of running text in `lines`; where no paragraph ends like one, the first that is long enough."""
    spare: str | None = None
    for number, paragraph in enumerate(_paragraphs(lines)):
        if number >= PARAGRAPHS:
            break
        if not _is_prose(paragraph):
            continue
        if re.search(r"[.!?。！？:]", paragraph):
            return _opening(paragraph)
        spare = spare or paragraph
    return spare


def _paragraphs(lines: Sequence[Line]) -> Iterator[str]:
    """Lines that stand below one another, close and in the same size, joined to paragraphs."""
    text, previous = "", None
    for line in lines[:200]:
        if previous is not None and not _goes_on(previous, line):
            yield text
            text = ""
        text = _joined(text, line.text)
        previous = line
    if text:
        yield text


def _goes_on(previous: Line, line: Line) -> bool:
    if abs(previous.size - line.size) > 1 or previous.bold != line.bold:
        return False
    height = max(previous.bottom - previous.top, 1)
    beside = abs(line.top - previous.top) < height / 2
    return beside or (line.bottom - previous.bottom >= 0 and line.top - previous.bottom < 0.6 * height)


def _joined(text: str, more: str) -> str:
    if not text:
        return more
    if text.endswith(("-", "\u00ad")) and more[:1].islower() and text[-2:-1].isalpha():
        return text[:-1] + more
    return text + more if _IDEOGRAPH.match(text[-1]) and _IDEOGRAPH.match(more[0]) else f"{text} {more}"


def _is_prose(paragraph: str) -> bool:
    letters = len(paragraph.translate(_LETTERS))
    if _LEADER.search(paragraph) or _CAPTION.match(paragraph) or letters < 0.7 * len(paragraph):
        return False
    if len(_IDEOGRAPH.findall(paragraph)) >= 10:
        return True
    return len(paragraph) >= SHORTEST and len(paragraph.split()) >= 5


def _opening(paragraph: str) -> str:
    taken, start = "", 0
    for end in _END.finditer(paragraph):
        taken = paragraph[: end.start()].strip()
        ideographic = bool(_IDEOGRAPH.search(taken))
        if _ABBREVIATED.search(taken) or (len(taken) < SHORTEST and not (ideographic and len(taken) >= 10)):
            continue
        start = len(taken)
        break
    return taken if start else paragraph
