"""A quote as somebody gives it: one piece, or several with ellipses between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest

from attrs import field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.quotes.normal_form import normalised, without_gaps
from citekit.domain.quotes.superscripts import raisable, subscript, superscript

LONGEST = 20_000
"""Characters of the longest quote; the caller splits longer ones."""

PIECES = 50
"""Pieces of a quote with ellipses."""

EACH_FREE = 300
"""Characters of a quote in which each number may stand at a level of its own; in longer ones all that may stand alike."""

LEVELS = "superscripts and subscripts"
"""The difference between a number that stands higher or lower and one on the line."""

_DOTS = r"(?:(?<!\.)(?<!\. )\.\s?\.\s?\.(?:\s?\.)?(?!\s?\.)|\u2026)"  # more dots than four lead to a page number
_ELLIPSIS = re.compile(rf"\[\s*{_DOTS}\s*\]|\(\s*{_DOTS}\s*\)|{_DOTS}")
_ENCLOSED = re.compile(
    r"\"([^\"]*)\"|\u201c([^\u201c\u201d]*)\u201d|\u201e([^\u201e\u201c\u201d]*)[\u201c\u201d]|\u00ab([^\u00ab\u00bb]*)\u00bb"
    r"|\u2018([^\u2018]*)\u2019|'([^']*)'",
    re.DOTALL,
)

_NESTED = re.compile('["\u201c\u201e\u00ab].*["\u201c\u201d\u00bb]', re.DOTALL)
"""A quote in quotation marks that holds others."""

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


@frozen
class LevelledPiece(Piece):
    """Words in which the numbers at `places` (start, end) may each be raised, lowered, or on the line."""

    places: tuple[tuple[int, int], ...] = ()
    pattern: re.Pattern[str] = field(init=False, repr=False)

    @pattern.default
    def _pattern(self) -> re.Pattern[str]:
        begins = (0, *(end for _, end in self.places))
        ends = (*(start for start, _ in self.places), len(self.text))
        words = [_letters(self.text[begin:end]) for begin, end in zip(begins, ends, strict=True)]
        numbers = [f"({_letters(self.text[start:end])})?" for start, end in self.places]
        return re.compile("".join(each for pair in zip_longest(words, numbers, fillvalue="") for each in pair))

    @property
    def has_words(self) -> bool:
        """Whether a letter or digit stands on the line whatever becomes of the numbers."""
        return not self.pattern.fullmatch("")

    def at(self, found: re.Match[str], is_low: Callable[[int], bool]) -> Piece:
        """The piece as it stands where its pattern was found; of a letter's place, whether what follows it is lowered."""
        pieces, position, letters = [], 0, found.start()
        for number, (start, end) in enumerate(self.places, 1):
            before = self.text[position:start]
            letters += len(without_gaps(normalised(before).text))
            own = self.text[start:end]
            if found[number] is None:
                own = subscript(own) if is_low(letters - 1) else superscript(own)
            pieces += [before, own]
            letters += len(found[number] or "")
            position = end
        return Piece("".join((*pieces, self.text[position:])), self.said)


def _letters(text: str) -> str:
    return re.escape(without_gaps(normalised(text).text))


def _levelled(text: str) -> list[Piece]:
    """The piece whose numbers may stand higher or lower than the line; none where it has no such numbers."""
    raised, places = raisable(text)
    if not places:
        return [] if raised == text else [Piece(raised, (LEVELS,))]
    if len(raised) > EACH_FREE:
        return [Piece(_all(raised, places, level), (LEVELS,)) for level in (superscript, subscript)]
    piece = LevelledPiece(raised, (LEVELS,), tuple(places))
    return [piece] if piece.has_words else []


def _all(text: str, places: Sequence[tuple[int, int]], level: Callable[[str], str]) -> str:
    for start, end in places:
        text = text[:start] + level(text[start:end]) + text[end:]
    return text


def ways_to_read(text: str) -> list[tuple[Piece, ...]]:
    """The pieces of a quote, in each way to read it: as it is; without the marks around it; with the numbers behind
    words as superscripts or subscripts; split at its ellipses.

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
    if not inner and _NESTED.fullmatch(whole):
        inner = whole[1:-1].strip()
    readings: list[tuple[Piece, ...]] = [(Piece(each),) for each in (whole, inner) if each]
    readings += [(piece,) for each in (whole, inner) for piece in _levelled(each)]
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
