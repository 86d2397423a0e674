"""A quote as somebody gives it: one piece, or several with ellipses between them."""

from __future__ import annotations

import re

from attrs import field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.quotes.normal_form import normalised, without_gaps
from citekit.domain.quotes.scripts import raised_alike

LONGEST = 20_000
"""Characters of the longest quote; longer ones are parted by whoever asks."""

PIECES = 50
"""Pieces of a quote with ellipses."""

LEVELS = "superscripts and subscripts"
"""The difference between a number that stands higher or lower and one on the line."""

_DOTS = r"(?:(?<!\.)(?<!\. )\.\s?\.\s?\.(?:\s?\.)?(?!\s?\.)|\u2026)"  # more dots than four lead to a page number
_ELLIPSIS = re.compile(rf"\[\s*{_DOTS}\s*\]|\(\s*{_DOTS}\s*\)|{_DOTS}")
_ENCLOSED = re.compile(
    r"\"([^\"]*)\"|\u201c([^\u201c\u201d]*)\u201d|\u201e([^\u201e\u201c\u201d]*)[\u201c\u201d]|\u00ab([^\u00ab\u00bb]*)\u00bb"
    r"|\u2018([^\u2018]*)\u2019|'([^']*)'",
    re.DOTALL,
)


_MARKUP = re.compile(r"[<>&*_`#\[\]{}|\\~^=@$]|::|^\s*[-+.]|https?:")
_TAGS = re.compile(r"[<>]|&#?\w{1,31};")


@frozen
class Piece:
    """Some words of a quote: as given, in normal form, and as letters; `said` are differences that were levelled before."""

    text: str
    said: tuple[str, ...] = ()
    normal: str = field(init=False)
    letters: str = field(init=False)

    @normal.default
    def _normal(self) -> str:
        return normalised(self.text).text.strip()

    @letters.default
    def _letters(self) -> str:
        return without_gaps(self.normal)


def ways_to_read(text: str) -> list[tuple[Piece, ...]]:
    """The pieces of a quote, in each way to read it: as it is; without the marks around it; with the numbers behind
    words as superscripts or subscripts; parted at its ellipses.

    Raises `RequestRefused` for a quote without a letter or digit, and for one that is too long or in too many pieces.
    """
    if not text.strip():
        raise RequestRefused("The quote is empty: give the words to look for.")
    if len(text) > LONGEST:
        raise RequestRefused(f"The quote has {len(text)} characters, and at most {LONGEST} are looked for: part it.")
    if not any(character.isalnum() for character in text):
        raise RequestRefused("The quote has neither a letter nor a digit: give the words to look for.")
    whole = text.strip()
    enclosed = _ENCLOSED.fullmatch(whole)
    inner = next((each for each in enclosed.groups() if each is not None), "").strip() if enclosed else ""
    readings: list[tuple[Piece, ...]] = [(Piece(each),) for each in (whole, inner) if each]
    readings += [(Piece(high, (LEVELS,)),) for each in (whole, inner) for high in raised_alike(each)]
    readings += [_pieces(each) for each in (whole, inner) if _ELLIPSIS.search(each)]
    kept = [reading for reading in readings if reading and all(piece.letters for piece in reading)]
    if not kept:
        raise RequestRefused("The quote has neither a letter nor a digit on the line: give the words around it.")
    return kept


def has_markup(text: str) -> bool:
    """Whether a quote holds a character that markup is made of."""
    return bool(_MARKUP.search(text))


def has_tags(text: str) -> bool:
    """Whether a quote holds what only stands in the source of HTML: a part of a tag, or a character reference."""
    return bool(_TAGS.search(text))


def _pieces(text: str) -> tuple[Piece, ...]:
    parts = [part.strip() for part in _ELLIPSIS.split(text)]
    kept = tuple(Piece(part) for part in parts if any(character.isalnum() for character in part))
    if len(kept) > PIECES:
        raise RequestRefused(f"The quote has {len(kept)} pieces, and at most {PIECES} are looked for: part it.")
    return kept
