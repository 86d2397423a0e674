"""Parses a quote, which may have several pieces separated by ellipses."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest

from attrs import field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.quotes.characters import INVISIBLE
from citekit.domain.quotes.normal_form import normalised, without_gaps
from citekit.domain.quotes.superscripts import raisable, subscript, superscript

LONGEST = 20_000
"""Maximum number of characters of a quote."""

PIECES = 50
"""Maximum number of pieces of a quote with ellipses."""

EACH_FREE = 300
"""Maximum number of characters of a quote in which each number may be raised or lowered independently."""

LEVELS = "superscripts and subscripts"
"""The difference between numbers as superscripts or subscripts and on the line."""

_DOTS = (
    r"(?:(?<!\.)(?<!\. )\.\s?\.\s?\.(?:\s?\.)?(?!\s?\.)|\u2026)"  # more than four dots are the leader of a page number
)
_CELLS = re.compile(r"^\s*\|\s*|\s*\|\s*$|\s+\|\s+", re.MULTILINE)
"""The bars between the cells of a table row, as in Markdown."""

BARS = "bars between cells"
"""The difference between a row with and without bars between its cells."""

_ELLIPSIS = re.compile(rf"\[\s*{_DOTS}\s*\]|\(\s*{_DOTS}\s*\)|{_DOTS}")
_ENCLOSED = re.compile(
    r"\"([^\"]*)\"|\u201c([^\u201c\u201d]*)\u201d|\u201e([^\u201e\u201c\u201d]*)[\u201c\u201d]|\u00ab([^\u00ab\u00bb]*)\u00bb"
    r"|\u2018([^\u2018]*)\u2019|'([^']*)'",
    re.DOTALL,
)

_NESTED = re.compile('["\u201c\u201e\u00ab].*["\u201c\u201d\u00bb]', re.DOTALL)
"""A quote in quotation marks that contains other quotation marks."""

_LONG_BLANK = re.compile(rf"[\s{INVISIBLE}]{{100,}}+")
"""White space that is longer than in any passage. The time to compare quotes grows with the square of its length."""

_MARKUP = re.compile(r"[<>&*_`#\[\]{}|\\~^=@$]|::|^\s*[-+.]|https?:")
_TAGS = re.compile(r"[<>]|&#?\w{1,31};")


@frozen
class Piece:
    """A piece of a quote without ellipses.

    `said` lists the kinds of difference from the given quote that were normalized before the search.
    """

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
    """A piece of a quote with numbers that may be superscripts, subscripts, or on the line in the source.

    `places` are the (start, end) of the numbers.
    """

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
        """Whether a letter or digit is left without these numbers."""
        return not self.pattern.fullmatch("")

    def at(self, found: re.Match[str], is_low: Callable[[int], bool]) -> Piece:
        """Return the piece as it is written in the source at the match `found`.

        `is_low` returns whether a subscript follows the letter with that offset in the source's letters.
        """
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
    """Return the readings of a piece with numbers as superscripts or subscripts, if it also has other letters."""
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
    """Return the possible readings of a quote, each as a sequence of pieces.

    The readings are: the quote as it is; without the quotation marks around it; with numbers after words as
    superscripts or subscripts; split at its ellipses; and without bars between cells. Raise `RequestRefused` if the
    quote has no letters or digits, has only superscripts or subscripts, is too long, or has too many pieces.
    """
    if not text.strip():
        raise RequestRefused("The quote is empty. Give the words to look for.")
    if len(text) > LONGEST:
        raise RequestRefused(f"The quote has {len(text):,} characters. The maximum is {LONGEST:,}. Split the quote.")
    if not any(character.isalnum() for character in text):
        raise RequestRefused("The quote contains no letters or digits. Give the words to look for.")
    whole = _LONG_BLANK.sub(" ", text).strip()
    enclosed = _ENCLOSED.fullmatch(whole)
    inner = next((each for each in enclosed.groups() if each is not None), "").strip() if enclosed else ""
    if not inner and _NESTED.fullmatch(whole):
        inner = whole[1:-1].strip()
    readings: list[tuple[Piece, ...]] = [(Piece(each),) for each in (whole, inner) if each]
    readings += [(piece,) for each in (whole, inner) for piece in _levelled(each)]
    readings += [_pieces(each) for each in (whole, inner) if _ELLIPSIS.search(each)]
    readings += [_pieces(each, (BARS,)) for each in (_without_bars(whole), _without_bars(inner)) if each]
    kept = [reading for reading in readings if reading and all(piece.letters for piece in reading)]
    if not kept:
        raise RequestRefused("The quote contains only superscripts or subscripts. Include the words around them.")
    return kept


def has_markup(text: str) -> bool:
    """Return whether a quote contains a character that is used for markup."""
    return bool(_MARKUP.search(text))


def has_tags(text: str) -> bool:
    """Return whether a quote contains HTML source: a part of a tag, or a character reference."""
    return bool(_TAGS.search(text))


def _without_bars(text: str) -> str:
    """Return a quote with tabs for the bars between cells, or an empty text if it has none."""
    return _CELLS.sub("\t", text).strip() if _CELLS.search(text) else ""


def _pieces(text: str, said: tuple[str, ...] = ()) -> tuple[Piece, ...]:
    parts = [part.strip() for part in _ELLIPSIS.split(text)]
    kept = tuple(Piece(part, said) for part in parts if any(character.isalnum() for character in part))
    if len(kept) > PIECES:
        raise RequestRefused(
            f"The quote has {len(kept)} parts separated by ellipses. The maximum is {PIECES}. Split the quote."
        )
    return kept
