"""Where a quote stands in a text, word for word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from attrs import field, frozen

from citekit.domain.quotes.characters import DASHES, HYPHENS, INVISIBLE, MARKS, UNPARTED, UNSPACED
from citekit.domain.quotes.differences import differences
from citekit.domain.quotes.normal_form import normalised, same_words
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.quotes.quote import Piece

CANDIDATES = 5000
"""Places with the same letters that are looked at; the work for a quote of one common word is bounded."""

FOUND = 200
"""Places that are kept of each piece of a quote with ellipses."""

GAP = 5000
"""Characters that an ellipsis may stand for, about two pages."""

GAP_FOR_A_WORD = 250
"""Characters of that for each word of the shorter piece beside it: two single words are soon found in one chapter."""

LEFT_OUT = "words left out"
"""The difference that an ellipsis makes."""

_ALONE = UNSPACED + UNPARTED
_GROUPING = "\u00a0\u2007\u2009\u202f'\u2019"
_WORD = re.compile(rf"[^\W{_ALONE}]|[{MARKS}]")
_BEFORE_WORD = re.compile(rf"[^\W{_ALONE}][{INVISIBLE}{MARKS}]*\Z|[^\W\d_][{HYPHENS}][\s]*\Z")
_AFTER_WORD = re.compile(rf"[{INVISIBLE}]*(?:[^\W{_ALONE}]|[{MARKS}])|[{HYPHENS}]\s*[^\W\d_]")
_BEFORE_NUMBER = re.compile(rf"\d[.,/\u2044]\Z|(?<![\w)\]])[{DASHES}+]\Z|(?<=\s)\u2212\s\Z")
_AFTER_NUMBER = re.compile(r"[.,/\u2044]\d|[\u207a\u207b\u208a\u208b]")
_BEFORE_GROUP = re.compile(rf"(?<!\d)\d{{1,3}}(?:[{_GROUPING}]\d{{3}})*[{_GROUPING}]\Z")
_AFTER_GROUP = re.compile(rf"[{_GROUPING}]\d{{3}}(?!\d)")
_GROUP = re.compile(r"\d{3}(?!\d)")
_DASH_BEFORE = re.compile(rf"[{DASHES}][\s{INVISIBLE}]*\Z")
_LOOK = 24
_UNSPACED = re.compile(f"[{UNSPACED}]")


@frozen
class Match:
    """A quote was found at (start, end) of the text; `differences` says in words what was levelled, nothing if exact."""

    start: int
    end: int
    differences: tuple[str, ...] = field(default=())

    @property
    def exact(self) -> bool:
        """Whether every character is the same."""
        return not self.differences


def matches(source: Quotable, pieces: Sequence[Piece], start: int, end: int) -> Iterator[Match]:
    """The places of a quote inside (start, end) of the text, in order of reading."""
    if len(pieces) == 1:
        yield from _of_piece(source, pieces[0], start, end)
        return
    found = [list(islice(_of_piece(source, piece, start, end), FOUND)) for piece in pieces]
    before = -1
    gaps = [min(GAP, GAP_FOR_A_WORD * min(_words(left), _words(right))) for left, right in pairwise(pieces)]
    for first in found[0]:
        chain = _chain(first, found[1:], gaps)
        if chain is not None and chain[-1].end > before:
            before = chain[-1].end
            levelled = dict.fromkeys(name for each in chain for name in each.differences)
            yield Match(first.start, before, (*levelled, LEFT_OUT))


def _words(piece: Piece) -> int:
    """How many words a piece has; of scripts without spaces, how many threes of characters."""
    return max(len(piece.normal.split()), len(_UNSPACED.findall(piece.normal)) // 3)


def _chain(first: Match, rest: Sequence[Sequence[Match]], gaps: Sequence[int]) -> list[Match] | None:
    """One match of each piece, each after the one before and not too far from it."""
    chain = [first]
    for candidates, gap in zip(rest, gaps, strict=True):
        behind = chain[-1].end
        following = next((each for each in candidates if behind <= each.start <= behind + gap), None)
        if following is None:
            return None
        chain.append(following)
    return chain


def _of_piece(source: Quotable, piece: Piece, start: int, end: int) -> Iterator[Match]:
    low, high = source.letters_before(start), source.letters_before(end)
    at = low
    for _ in range(CANDIDATES):
        at = source.letters.find(piece.letters, at, high)
        if at < 0:
            return
        match = _checked(source, piece, at)
        if match is not None and start <= match.start and match.end <= end:
            yield match
        at += 1


def _checked(source: Quotable, piece: Piece, at: int) -> Match | None:
    """The match of a piece whose letters stand at `at`, or None where the words are others."""
    place = source.origin(at, at + len(piece.letters))
    if place is None:
        return None
    text, (start, end) = source.text, place
    if piece.normal.startswith("-"):
        dash = _DASH_BEFORE.search(text[max(0, start - _LOOK) : start])
        if dash is None:
            return None
        start -= len(dash[0])
    if not _begins_word(text, start) or not _ends_word(text, end):
        return None
    found = text[start:end]
    if piece.text == found:
        return Match(start, end)
    if not same_words(normalised(found).text.lstrip("-"), piece.normal.lstrip("-")):
        return None
    return Match(start, end, differences(found, piece.text.rstrip()) or ("white space",))


def _begins_word(text: str, start: int) -> bool:
    """Whether no word, number or sign is cut in two at `start`."""
    before = text[max(0, start - _LOOK) : start]
    if text[start].isdigit() and (_BEFORE_NUMBER.search(before) or _continues_number(text, start, before)):
        return False
    if _is_mark(text[start]):
        return False
    return not _WORD.match(text[start]) or not _BEFORE_WORD.search(_without_marks(before))


def _ends_word(text: str, end: int) -> bool:
    after = text[end : end + _LOOK]
    if text[end - 1].isdigit() and (_AFTER_NUMBER.match(after) or _is_continued(text, end, after)):
        return False
    if after and _is_mark(after[0]):
        return False
    return not (_WORD.match(text[end - 1]) or _is_mark(text[end - 1])) or not _AFTER_WORD.match(after)


def _continues_number(text: str, start: int, before: str) -> bool:
    """Whether three digits are a group of a number that begins before them (1 500 000, 1'500'000)."""
    return bool(_GROUP.match(text, start) and _BEFORE_GROUP.search(before))


def _is_continued(text: str, end: int, after: str) -> bool:
    tail = re.search(r"(?<!\d)\d{1,3}\Z", text[max(0, end - _LOOK) : end])
    return bool(tail and _AFTER_GROUP.match(after))


def _without_marks(text: str) -> str:
    """`text` without the marks at its end, which belong to the letter before them."""
    while text and _is_mark(text[-1]):
        text = text[:-1]
    return text


def _is_mark(character: str) -> bool:
    """Whether a character combines with the one before it: accents, and vowels of Indic scripts (Unicode 4.4, category M)."""
    return unicodedata.category(character).startswith("M")
