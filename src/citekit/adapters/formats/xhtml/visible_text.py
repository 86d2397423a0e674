"""Detects raised, lowered, and hidden text in markup, by elements, attributes, and inline styles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING

from citekit.adapters.libraries.mammoth import UNSEEN_STYLE
from citekit.domain.quotes.superscripts import HIDDEN, subscript, superscript

if TYPE_CHECKING:
    from lxml.etree import _Element

_HIDING = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE)
_RAISING = re.compile(r"(?:^|;)\s*vertical-align\s*:\s*(super|sub)\b", re.IGNORECASE)
_NOTE_CLASSES = frozenset(("footnote-reference", "footnote-ref", "footnoteref", "noteref", "fnref"))
_NOTE_TYPES = frozenset(("noteref", "note", "doc-noteref"))
_MARKS = re.compile("[\ufdd0-\ufdef]")
_SHOWN = re.compile("[^\ufdd0-\ufdef]")


class Level(Enum):
    """The vertical position of text: on the line, raised, or lowered."""

    LINE = "line"
    HIGH = "high"
    LOW = "low"


_ELEMENTS = {"sup": Level.HIGH, "sub": Level.LOW}
_MATH: Mapping[str, Sequence[Level]] = {
    "msup": (Level.LINE, Level.HIGH),
    "msub": (Level.LINE, Level.LOW),
    "msubsup": (Level.LINE, Level.LOW, Level.HIGH),
    "munder": (Level.LINE, Level.LOW),
    "mover": (Level.LINE, Level.HIGH),
    "munderover": (Level.LINE, Level.LOW, Level.HIGH),
    "mfrac": (Level.HIGH, Level.LOW),
}


def is_unseen(said: Mapping[str, str]) -> bool:
    """Return whether an attribute (HTML 6.1), the class `UNSEEN_STYLE`, or an inline style hides an element."""
    if not said:
        return False
    return "hidden" in said or said.get("class") == UNSEEN_STYLE or bool(_HIDING.search(said.get("style", "")))


def level_of(element: _Element, name: str, said: Mapping[str, str], path: Sequence[str], around: Level) -> Level:
    """Return the vertical level of the text in an element with the attributes `said`, in a parent at `around`."""
    if name in _ELEMENTS:
        return _ELEMENTS[name]
    if len(path) > 1 and path[-2] in _MATH:
        levels = _MATH[path[-2]]
        place = sum(1 for _ in islice(element.itersiblings(preceding=True), len(levels)))
        return around if place >= len(levels) or levels[place] is Level.LINE else levels[place]
    if not said:
        return around
    if name == "a" and _is_note(said):
        return Level.HIGH
    raising = _RAISING.search(said.get("style", ""))
    return around if raising is None else Level.HIGH if raising[1].lower() == "super" else Level.LOW


def levelled(text: str, before: str, level: Level) -> str:
    """Return `text` converted to superscripts or subscripts for `level`, with the same length.

    `before` is the preceding text.
    """
    bare, behind = _MARKS.sub("", text), _MARKS.sub("", before)
    made = superscript(bare, behind) if level is Level.HIGH else subscript(bare, behind)
    if bare == text:
        return made
    each = iter(made)
    return "".join(character if _MARKS.match(character) else next(each) for character in text)


def unseen(text: str) -> str:
    """Return `text` with each character replaced with `HIDDEN`, except line markers (Unicode noncharacters)."""
    return _SHOWN.sub(HIDDEN, text)


def _is_note(said: Mapping[str, str]) -> bool:
    """Return whether a link points to a note, as marked in EPUB, DPUB-ARIA, FictionBook, Sphinx, or Pandoc."""
    types = {*said.get("type", "").split(), said.get("role", "")}
    return bool(types & _NOTE_TYPES or _NOTE_CLASSES.intersection(said.get("class", "").lower().split()))
