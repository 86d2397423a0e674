"""Extracts the first meaningful sentence of a text, for summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from citekit.domain.vocabulary import CAPTION, any_of

_END = re.compile(r"""(?<=[.!?…])["'”’»)\]]*\s+(?=["'“‘«(\[]*[^\W\d_a-z])|(?<=[。！？])[」』”’）]*""")
_ABBREVIATED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Rev|Hon|Capt|Col|Gen|Lieut|Sr|Jr|vs|etc|e\.g|i\.e|cf|No|Vol|pp|z\.B|d\.h)|\b[A-Z])\.$"
)
_LETTER = re.compile(r"[^\W\d_]")
_WHOLE = re.compile(r"""[.!?…:。！？]["'”’»)\]」』]*$""")
_CAPTION = re.compile(rf"(?:{any_of(CAPTION)})\s*\d", re.IGNORECASE)
_ENTRY = re.compile(r"([^.!?]*)(?:\s|\.{2,})\d{1,4}")
_PARAGRAPH = 2000
_PARAGRAPHS = 12
_WORTH = 25
"""The usual minimum length of a summary, in characters."""


def first_sentence(lines: Iterable[str], *, skip: str = "") -> str | None:
    """Return the first complete sentence that is long enough to be a summary, or else the first long one, or else the
    first.

    Return None if there is none. Only the first paragraphs, between blank lines, are searched. Lines at the start that
    repeat `skip` (a title), captions, and entries of a table of contents are skipped.
    """
    found: list[str] = []
    for paragraph in islice(_paragraphs(lines, folded(skip)), _PARAGRAPHS):
        entry = _ENTRY.fullmatch(paragraph)
        if _CAPTION.match(paragraph) or (entry and _LETTER.search(entry[1])):
            continue
        for sentence in _sentences(paragraph):
            is_long = len(sentence) >= _WORTH or (len(sentence) >= 8 and not sentence.isascii())
            if is_long and _WHOLE.search(sentence) and not sentence[0].islower():
                return sentence
            found.append(sentence)
    return next((each for each in found if len(each) >= _WORTH), found[0] if found else None)


def folded(text: str) -> str:
    """Normalize a title for comparison: keep only letters and digits, and fold the case."""
    return "".join(character for character in text.casefold() if character.isalnum())


def has_text(line: str) -> bool:
    """Return whether a line contains a letter or a digit."""
    return any(character.isalnum() for character in line)


def first_text(text: str) -> int:
    """Return the position of the first letter or digit in a text, or the length of the text."""
    return next((position for position, character in enumerate(text) if character.isalnum()), len(text))


def _paragraphs(lines: Iterable[str], title: str) -> Iterable[str]:
    held: list[str] = []
    for line in lines:
        text = line.strip()
        if title and text and not held:
            repeated, title = _repeats_title(folded(text), title)
            if repeated:
                continue
        if text:
            held.append(text)
        elif held:
            yield " ".join(held)[:_PARAGRAPH]
            held = []
    if held:
        yield " ".join(held)[:_PARAGRAPH]


def _sentences(paragraph: str) -> Iterable[str]:
    start = 0
    for end in _END.finditer(paragraph):
        piece = paragraph[start : end.end()].strip()
        if _ABBREVIATED.search(piece):
            continue
        start = end.end()
        if _LETTER.search(piece):
            yield piece
    rest = paragraph[start:].strip()
    if _LETTER.search(rest):
        yield rest


def _repeats_title(line: str, title: str) -> tuple[bool, str]:
    """Return whether `line` repeats the title or its beginning, and the rest of the title."""
    if line and title.startswith(line):
        return True, title[len(line) :]
    if title in line and len(line) <= len(title) + 12:
        return True, ""
    return False, "" if line else title
