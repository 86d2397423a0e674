"""Finds the occurrences of a quote in a text, word for word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from attrs import define, field, frozen

from citekit.domain.quotes.case import meaningful_case
from citekit.domain.quotes.characters import DASHES, HYPHENS, INVISIBLE, MARKS, UNSPACED, UNSPACED_WORDS
from citekit.domain.quotes.differences import differences
from citekit.domain.quotes.effort import CANDIDATE, CHARACTER, GAP_CHARACTER, MATCHED_CHARACTER, OMISSION, STEP, Effort
from citekit.domain.quotes.gaps import Gap, gap_between
from citekit.domain.quotes.normal_form import normalised, same_words
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.quotes.quote import LevelledPiece, Piece
from citekit.domain.quotes.superscripts import (
    COMPUTED,
    HIDDEN,
    SCRIPTS,
    is_low,
    note_ends,
    visible_text,
    with_notes_marked,
)

GAP = 5000
"""Maximum number of characters that an ellipsis can omit, about two pages."""

GAP_FOR_A_WORD = 250
"""Maximum number of omitted characters for each word of the shorter adjacent piece."""

LEFT_OUT = "words left out"
"""The difference that an ellipsis makes."""

_ALONE = UNSPACED + UNSPACED_WORDS
_GROUPING = "\u00a0\u2002-\u200a\u202f'\u2019"
_DECIMAL = ".,/\u2044\u00b7\u066b\u066c"
_JOINING = rf"(?:[{_DECIMAL}:\u2236\uff1a]|[{HYPHENS}\u2012\u2013\u2212\ufe63\uff0d]{{1,3}})"
"""Characters that join digits without a space in numbers, fractions, times, ratios, dates, and ranges."""
_CURRENCIES = "$\u20ac\u00a3\u00a5\u00a2\u20b9\u20bd\u20a9\u20bf"
_WORD = re.compile(rf"[^\W{_ALONE}]|[{MARKS}]")
_BEFORE_WORD = re.compile(
    rf"[^\W{_ALONE}][{INVISIBLE}{MARKS}]*\Z|\u00ad[ \t]*\r?\n[ \t]*\Z|(?<![\w!])[!\u00ac]\Z|[^\W\d_][{HYPHENS}][\s]*\Z"
)
_AFTER_WORD = re.compile(
    rf"\u00ad[ \t]*\r?\n[ \t]*[^\W\d_]|[{INVISIBLE}]*(?:[^\W{_ALONE}]|[{MARKS}])|[{HYPHENS}]\s*[^\W\d_]"
)
_RELATIONS = (
    "\u2264\u2265\u2248\u2260\u226a\u226b\u2a7d\u2a7e\u2272\u2273\u226e\u226f\u2270\u2271\u223c\u2243\u2245\u00b1"
)
"""Signs that belong to the number after them, such as "at least" and "about"."""

_BEFORE_NUMBER = re.compile(
    rf"\d{_JOINING}\Z|(?<![^\s(\[$€£+\-])\.\Z|(?<![\w)\]])[{DASHES}+±]\Z|(?<=\s)\u2212\s\Z"
    rf"|[{_CURRENCIES}][\u00a0\u202f]?\Z|[{_RELATIONS}][ \u00a0]?\Z"
    r"|(?<=[^\s>])[ \u00a0][<>~][ \u00a0]?\Z|(?<![\w>])[<>~](?<!^[<>~])\Z"
)
_NEGATION = re.compile(r"['\u2019\u02bc]t\b", re.IGNORECASE)
_DECIMAL_SIGN = re.compile(rf"\d{_JOINING}\d")
_AFTER_NUMBER = re.compile(
    rf"{_JOINING}\d|[ \u00a0\u202f]?[%\u2030\u2031]|[\u00a0\u202f]?[\u00b0{_CURRENCIES}]|[ \u00a0]\u20ac"
)
"""Matches what belongs to the number before it, such as further digits or a percent sign."""

_AMOUNT = re.compile(rf"(?<![^\W_])\d[\d{_DECIMAL}]*[ \u00a0\u202f]?(?:[^\W\d_]{{1,7}}|[%\u2030\u00b0])?\Z")
_RATE = re.compile(r"[/\u2044\u2215]\s?[^\W\d_]|[\u00b7\u22c5\u2219][^\W\d_]")
"""The rest of a compound unit: `10 mg/kg` is not `10 mg`."""

_BEFORE_GROUP = re.compile(
    rf"(?<!\d)\d{{1,3}}(?:[{_GROUPING}]\d{{3}})*[{_GROUPING}]\Z|(?<![\d.,])(?<!\d )\d{{1,3}}(?: \d{{3}})* \Z"
)
_FIRST_GROUP = re.compile(r"(?<!\d)\d{1,3}\Z")
_SPACED_GROUPS = re.compile(r"(?<![\d.,])(?<!\d )\d{1,3}(?: \d{3})*\Z")
_GROUPS = r"\d{3}(?: \d{3})*(?![.,]?\d| \d{1,2}(?!\d)| \d{4})"
_AFTER_GROUP = re.compile(rf"[{_GROUPING}]\d{{3}}(?!\d)| {_GROUPS}")
_GROUP = re.compile(rf"\d{{3}}(?!\d)(?=[{_GROUPING}]\d{{3}}(?!\d)|(?! \d))|{_GROUPS}")
_SCRIPTS_BEFORE = re.compile(rf"[{SCRIPTS}][\s{SCRIPTS}]*\Z")
_SCRIPTS_AFTER = re.compile(rf"[{SCRIPTS}](?:[\s{SCRIPTS}]{{0,60}}[{SCRIPTS}])?")
_DASH_BEFORE = re.compile(rf"[{DASHES}][\s{INVISIBLE}]*\Z")
_SECOND_MINUS = re.compile(rf"(?:[{DASHES}]\s+[{DASHES}]|[\u2212\u2013][\u2212-]|-\u2212)(?=\s?\d)")
"""A minus sign after another minus sign, or after a dash: `5 − −3`."""

_DASH_OF_NUMBER = re.compile(rf"(?P<lead>[\s{INVISIBLE}]*+)[{DASHES}]++(?P<space>[\s{INVISIBLE}]*+)(?=[.,]?\d)")
_DASH_IN_WORD = re.compile(rf"[^\W_][{DASHES}]\d")
"""A dash that would look like a minus sign at the start of a quote: `Covid-19`."""

_ENDS_WORD = frozenset("_)]}%\u2030\u00b0'\"\u2019\u201d.")
_TAKES_NUMBER = frozenset("=<>\u2264\u2265\u2248\u00d7\u00f7*/+([{")
"""Signs after which a dash is a minus sign, with or without spaces."""

_SYMBOL = re.compile(r"(?![AI]\b)[^\W\d_]\b")
_OURS = re.compile(f"[{HIDDEN}{COMPUTED}]")
_LOOK = 24
_FAR = 10_000
_UNSPACED = re.compile(f"[{UNSPACED}]")


@frozen
class Match:
    """An occurrence of a quote in a text, from character `start` up to, but not including, `end`.

    `differences` names the kinds of difference between the quote and the text. `gaps` are the texts that the quote's
    ellipses omit, in order. `changes` are symbols whose case gives them another meaning, and differences in minus
    signs.
    """

    start: int
    end: int
    differences: tuple[str, ...] = field(default=())
    gaps: tuple[Gap, ...] = field(default=())
    changes: tuple[str, ...] = field(default=())

    @property
    def exact(self) -> bool:
        """Whether there are no differences."""
        return not self.differences

    @property
    def alters_meaning(self) -> bool:
        """Whether the quote omits or changes text in a way that can change the meaning of the passage."""
        return bool(self.changes) or any(gap.changes_meaning for gap in self.gaps)


def matches(
    source: Quotable, pieces: Sequence[Piece], start: int, end: int, effort: Effort | None = None
) -> Iterator[Match]:
    """Yield the occurrences of a quote between the offsets `start` and `end` of the text, in reading order.

    `pieces` are the parts of the quote between its ellipses. If there are several, only the shortest of the occurrences
    with the same start or the same end is yielded. The search ends early if `effort`, by default a new one, is spent.
    """
    effort = effort or Effort()
    low, high = source.letters_before(start), source.letters_before(end)
    by_piece = {piece: _Places(source, piece, (start, end), (low, high), effort) for piece in pieces}
    places = [by_piece[piece] for piece in pieces]
    if len(pieces) == 1:
        yield from places[0].all()
        return
    counts = [source.letters.count(piece.letters, low, high) for piece in pieces]
    if not all(counts):
        return
    gaps = [min(GAP, GAP_FOR_A_WORD * min(_words(left), _words(right))) for left, right in pairwise(pieces)]
    chains = _chains(_Chains(places, gaps, effort), counts.index(min(counts)))
    nearest = (next(same_start) for _, same_start in groupby(chains, key=lambda chain: chain[0].start))
    for _, same_end in groupby(nearest, key=lambda chain: chain[-1].end):
        *_, tightest = same_end  # an earlier start omits all that a later start omits
        omitted = sum(other.start - one.end for one, other in pairwise(tightest))
        if not effort.spend(OMISSION * len(gaps) + GAP_CHARACTER * omitted):
            return
        yield _joined(source, tightest)


def _chains(chains: _Chains, rarest: int) -> Iterator[tuple[Match, ...]]:
    """Yield, for each match of the piece `rarest`, the sequence with the nearest matches of the other pieces."""
    for anchor in chains.places[rarest].all():
        after = chains.after(rarest, anchor)
        before = None if after is None else chains.before(rarest, anchor)
        if after is not None and before is not None:
            yield (*before, anchor, *after)


@define
class _Places:
    """The matches of one piece of a quote in a range of a text.

    `span` has the offsets of the range in the text, and `letters` those in its letters.
    """

    source: Quotable
    piece: Piece
    span: tuple[int, int]
    letters: tuple[int, int]
    effort: Effort
    _checked: dict[int, Match | None] = field(factory=dict, init=False)

    def all(self) -> Iterator[Match]:
        """Yield the matches of the piece in reading order."""
        return filter(None, map(self._at, _candidates(self.source, self.piece, *self.letters, self.effort)))

    def between(self, start: int, end: int) -> Iterator[Match]:
        """Yield the matches that begin between the character offsets `start` and `end`, in reading order."""
        low, high = self._letters_before(start), self._letters_before(end)
        high = min(high + len(self.piece.letters) + 1, self.letters[1])
        found = filter(None, map(self._at, _candidates(self.source, self.piece, low, high, self.effort)))
        return (each for each in found if start <= each.start <= end)

    def back(self, start: int, end: int) -> Iterator[Match]:
        """Yield the matches that end between the character offsets `start` and `end`, last match first."""
        low, high = self._letters_before(start), self._letters_before(end)
        low = max(low - len(self.piece.letters) - 1, self.letters[0])
        while (at := self.source.letters.rfind(self.piece.letters, low, high)) >= 0 and self.effort.spend(STEP):
            match = self._at((at, self.piece))
            if match is not None and start <= match.end <= end:
                yield match
            high = at + len(self.piece.letters) - 1

    def _letters_before(self, offset: int) -> int:
        self.effort.trace(id(self.source), *self.source.block_at(offset))
        return self.source.letters_before(offset)

    def _at(self, found: tuple[int, Piece]) -> Match | None:
        at, piece = found
        if at not in self._checked:
            self._checked[at] = self._check(piece, at)
        return self._checked[at]

    def _check(self, piece: Piece, at: int) -> Match | None:
        for number, length in self.source.blocks(at, at + len(piece.letters)):
            self.effort.trace(id(self.source), number, length)
        if not self.effort.spend(CANDIDATE + CHARACTER * len(piece.text)):
            return None
        match = _checked(self.source, piece, at)
        if match is not None and not match.exact:
            self.effort.spend(MATCHED_CHARACTER * len(piece.text))
        return match if match is not None and self.span[0] <= match.start and match.end <= self.span[1] else None


@define
class _Chains:
    """Finds the matches of the other pieces of a quote before and after a match of one piece."""

    places: Sequence[_Places]
    gaps: Sequence[int]
    effort: Effort
    _dead: set[tuple[int, int, bool]] = field(factory=set, init=False)

    def after(self, number: int, match: Match) -> tuple[Match, ...] | None:
        """Return matches of the pieces after piece `number`, whose own match is `match`, or None if they are not near
        enough.
        """
        if number + 1 == len(self.places):
            return ()
        near = self.places[number + 1].between(match.end, match.end + self.gaps[number])
        for each in self._tried(near, number, match, is_after=True):
            rest = self.after(number + 1, each)
            if rest is not None:
                return (each, *rest)
        return None

    def before(self, number: int, match: Match) -> tuple[Match, ...] | None:
        """Return matches of the pieces before piece `number`, in reading order, or None if they are not near enough."""
        if number == 0:
            return ()
        near = self.places[number - 1].back(match.start - self.gaps[number - 1], match.start)
        for each in self._tried(near, number, match, is_after=False):
            rest = self.before(number - 1, each)
            if rest is not None:
                return (*rest, each)
        return None

    def _tried(self, near: Iterator[Match], number: int, match: Match, *, is_after: bool) -> Iterator[Match]:
        key = (number, match.end if is_after else match.start, is_after)
        if key in self._dead:
            return
        for each in near:
            if not self.effort.spend(STEP):
                return
            yield each
        self._dead.add(key)


def _joined(source: Quotable, chain: Sequence[Match]) -> Match:
    """Combine the matches of a quote's pieces into one match of the whole quote."""
    levelled = dict.fromkeys(name for each in chain for name in each.differences)
    changes = dict.fromkeys(change for each in chain for change in each.changes)
    gaps = tuple(gap_between(source.placed, one.end, other.start) for one, other in pairwise(chain))
    return Match(chain[0].start, chain[-1].end, (*levelled, LEFT_OUT), gaps, tuple(changes))


def _words(piece: Piece) -> int:
    """Return the number of words of a piece. Three Chinese or Japanese characters count as one word."""
    return max(len(piece.normal.split()), len(_UNSPACED.findall(piece.normal)) // 3)


def _candidates(source: Quotable, piece: Piece, low: int, high: int, effort: Effort) -> Iterator[tuple[int, Piece]]:
    """Yield the positions in the letters of the source at which the piece may match, with the piece as written there."""
    if not isinstance(piece, LevelledPiece):
        while (low := source.letters.find(piece.letters, low, high)) >= 0 and effort.spend(STEP):
            yield low, piece
            low += 1
        return
    while (found := piece.pattern.search(source.letters, low, high)) is not None:
        low = found.start()
        if not effort.spend(CANDIDATE * (1 + 2 * len(piece.places))):
            return
        yield low, piece.at(found, lambda letter: _is_low_behind(source, letter))
        low += 1


def _is_low_behind(source: Quotable, letter: int) -> bool:
    place = source.origin(letter, letter + 1) if letter >= 0 else (0, 0)
    return place is not None and is_low(source.text[place[1] : place[1] + _LOOK])


def _checked(source: Quotable, piece: Piece, at: int) -> Match | None:
    """Return the match of a piece whose letters occur at offset `at` of the source's letters.

    Return None if the words differ, or if the piece splits a word, a number, or a sign.
    """
    place = source.origin(at, at + len(piece.letters))
    widened = None if place is None else _widened(source.text, piece, *place)
    if widened is None:
        return None
    text, (start, end) = source.text, widened
    if not (_begins_word(text, start) or source.begins_page(start)) or not _ends_word(text, end):
        return None
    found = visible_text(text[start:end])
    if piece.text == found:
        return Match(start, end, piece.said)
    if not same_words(normalised(with_notes_marked(found)).text.lstrip("-"), piece.normal.lstrip("-")):
        return None
    changes = meaningful_case(found, piece.text, _seen_before(text, start), _seen_after(text, end))
    if len(_SECOND_MINUS.findall(found)) != len(_SECOND_MINUS.findall(piece.text)):
        changes += ("the number of minus signs",)
    if _minus_signs(found, text[max(0, start - 1) : start]) != _minus_signs(piece.text, ""):
        changes += ("whether a dash is a minus sign",)
    return Match(start, end, (*piece.said, *(differences(found, piece.text.rstrip()) or ("white space",))), (), changes)


def _minus_signs(text: str, before: str) -> list[bool]:
    """Return whether each dash before a number is its minus sign, as in `5 -3`, or not, as in `5-3` and `5 - 3`.

    `before` is the character before the text.
    """
    signs = []
    for dash in _DASH_OF_NUMBER.finditer(text):
        joined = text[dash.start() - 1] if dash.start() else before
        apart = any(map(str.isspace, dash["lead"])) or not (joined.isalnum() or joined in _ENDS_WORD) or not joined
        signs.append((apart and not dash["space"]) or joined in _TAKES_NUMBER)
    return signs


def _widened(text: str, piece: Piece, start: int, end: int) -> tuple[int, int] | None:
    """Return the range of a piece, extended by the dash and the superscripts at its ends, or None if `text` lacks them."""
    before = text[max(0, start - _LOOK) : start]
    lead = piece.normal[:1]
    if lead == "-" or _SCRIPTS_AFTER.match(lead):
        found = (_DASH_BEFORE if lead == "-" else _SCRIPTS_BEFORE).search(before)
        if found is None:
            return None
        start -= len(found[0])
    if _SCRIPTS_AFTER.match(piece.normal[-1:]):
        tail = _SCRIPTS_AFTER.match(text, end)
        if tail is None:
            return None
        end = tail.end()
    return start, end


def _begins_word(text: str, start: int) -> bool:
    """Return whether a quote can begin at `start` without splitting a word, a number, or a sign."""
    before = _seen_before(text, start)
    if _SCRIPTS_AFTER.match(text[start]):
        return True
    scripts = _SCRIPTS_BEFORE.search(before)
    if scripts is not None and not scripts[0][-1].isspace():
        return _is_own_number(text, start - len(scripts[0].lstrip()), start)
    if _is_decimal_sign(text, start) or (start and _DASH_IN_WORD.fullmatch(text[start - 1 : start + 2])):
        return False
    if text[start].isdigit() and (_BEFORE_NUMBER.search(before) or _continues_number(text, start, before)):
        return False
    if _is_mark(text[start]):
        return False
    return not _WORD.match(text[start]) or not _BEFORE_WORD.search(_without_marks(before))


def _is_decimal_sign(text: str, at: int) -> bool:
    """Return whether the character at `at` is a decimal sign between two digits."""
    return at > 0 and _DECIMAL_SIGN.fullmatch(text[at - 1 : at + 2]) is not None


def _is_own_number(text: str, at: int, start: int) -> bool:
    """Return whether the superscripts from `at` to `start` do not belong to the text that begins at `start`."""
    if text[start].isdecimal():
        return False
    if note_ends(text, at) == start:
        return True
    if _SYMBOL.match(text, start):
        return False
    is_first = at == 0 or text[at - 1] == "\n"
    return is_first or (text[at - 1].isspace() and text[start : start + 3].isalpha())


def _ends_word(text: str, end: int) -> bool:
    after = _seen_after(text, end)
    if _SCRIPTS_AFTER.match(after):
        return not _SCRIPTS_AFTER.match(text[end - 1]) and note_ends(text, end) > end
    if _is_decimal_sign(text, end - 1):
        return False
    if text[end - 1].isdigit() and (_AFTER_NUMBER.match(after) or _is_continued(text, end, after)):
        return False
    if after and _is_mark(after[0]):
        return False
    if _RATE.match(after) and _AMOUNT.search(text[max(0, end - _LOOK) : end]):
        return False
    if text[end - 1] in "nN" and _NEGATION.match(after):  # can't is not can
        return False
    return not (_WORD.match(text[end - 1]) or _is_mark(text[end - 1])) or not _AFTER_WORD.match(after)


def _seen_before(text: str, start: int) -> str:
    """Return a few characters before `start`, without hidden characters and internal markers."""
    before = text[max(0, start - _LOOK) : start]
    return _OURS.sub("", text[max(0, start - _FAR) : start])[-_LOOK:] if _OURS.search(before) else before


def _seen_after(text: str, end: int) -> str:
    after = text[end : end + _LOOK]
    return _OURS.sub("", text[end : end + _FAR])[:_LOOK] if _OURS.search(after) else after


def _continues_number(text: str, start: int, before: str) -> bool:
    """Return whether three digits at `start` continue a number, as in 1 500 000."""
    return bool(_GROUP.match(text, start) and _BEFORE_GROUP.search(before))


def _is_continued(text: str, end: int, after: str) -> bool:
    before = text[max(0, end - _LOOK) : end]
    return bool((_SPACED_GROUPS if after[:1] == " " else _FIRST_GROUP).search(before) and _AFTER_GROUP.match(after))


def _without_marks(text: str) -> str:
    """Return `text` without the combining marks at its end."""
    while text and _is_mark(text[-1]):
        text = text[:-1]
    return text


def _is_mark(character: str) -> bool:
    """Return whether a character combines with the preceding character (Unicode 4.4, category M)."""
    return unicodedata.category(character).startswith("M")
