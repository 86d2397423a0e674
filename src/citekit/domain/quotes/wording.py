"""Compares a quote with a similar passage word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from attrs import frozen

from citekit.domain.quotes.characters import SEAM, UNSPACED
from citekit.domain.quotes.normal_form import normalised

COMPARED = 1_000
"""Maximum number of words of each text that are compared. The rest counts as different."""

_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_JOINT = re.compile(rf"{SEAM}|(?<=[^\W\d_])-(?=[^\W\d_])")
_DASH = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_APART = re.compile(r"[\u2014\u2015\u2e3a\u2e3b\s]|--")
"""Matches the dash or the spaces that separate two words. The normal form has the same character for a hyphen."""

_BEFORE, _AFTER = "\"'([{", ".,;:!?\"')]}"


@frozen
class Wording:
    """Consecutive words that a quote and a passage share, or in which they differ. One of the texts may be empty."""

    is_same: bool
    quote: str
    passage: str


@frozen
class _Word:
    start: int
    end: int
    form: str


def compared_wording(quote: str, passage: str) -> list[Wording]:
    """Return the words of both texts in order, divided at each change between equal and different words.

    Case, typography, hyphens between letters, and punctuation around words make no difference.
    """
    mine, theirs = list(_words(quote)), list(_words(passage))
    forms = [word.form for word in mine[:COMPARED]], [word.form for word in theirs[:COMPARED]]
    found: list[Wording] = []
    for kind, a, b, c, d in SequenceMatcher(None, *forms, autojunk=False).get_opcodes():
        found.append(Wording(kind == "equal", _text(quote, mine[a:b]), _text(passage, theirs[c:d])))
    rest = Wording(False, _text(quote, mine[COMPARED:]), _text(passage, theirs[COMPARED:]))
    return [*found, rest] if rest.quote or rest.passage else found


def _words(text: str) -> Iterator[_Word]:
    normal = normalised(text)

    def parted(dash: re.Match[str]) -> str:
        at = dash.start()
        return " " if _APART.search(text, normal.starts[at], normal.ends[at]) else "-"

    for word in _WORD.finditer(_DASH.sub(parted, normal.text)):
        form = _JOINT.sub("", word[0]).lstrip(_BEFORE).rstrip(_AFTER) or word[0]
        yield _Word(normal.starts[word.start()], normal.ends[word.end() - 1], form)


def _text(text: str, words: list[_Word]) -> str:
    return " ".join(text[words[0].start : words[-1].end].split()) if words else ""
