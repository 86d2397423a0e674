"""Recognizes differences of case that change the meaning: `mg` and `Mg`, `mW` and `MW`, `x` and `X`, `Co` and `CO`.

The symbols are units of measurement and chemical elements (SI Brochure, 9th edition; IUPAC). In most other words, case
is only a matter of typesetting: sentences begin with a capital, and headings are set in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from attrs import field, frozen

from citekit.domain.quotes.characters import INVISIBLE, form_of
from citekit.domain.quotes.normal_form import normalised
from citekit.domain.quotes.superscripts import SCRIPTS

_PREFIXES = """
    m:k,c,d,m,μ,u,n,p,f,M g:k,d,c,m,μ,u,n,p,M,G,T s:m,μ,u,n,p,f A:k,m,μ,u,n W:k,m,μ,u,n,p,M,G,T V:k,m,μ,u,n,M J:k,m,μ,M,G,T
    Pa:h,k,m,M,G Hz:k,m,M,G,T N:k,m,μ,M B:k,M,G,T,P,E b:k,M,G,T,P L:k,m,μ,u,c,d,n,h,M l:k,m,μ,u,c,d,n,h,M eV:k,m,M,G,T
    F:m,μ,u,n,p Ω:k,m,M,G H:m,μ,u,n S:m,μ,u,n T:m,μ,u,n C:m,μ,u,n Sv:m,μ,u,n Gy:m,μ,u,c,k Bq:k,M,G,T M:m,μ,u,n,p
    K:m,μ,u,n t:k,M,G Wh:k,m,M,G,T Ah:m,k VA:k,M Ci:m,μ,u,k,M Da:k,M rad:m,k,M mol:k,m,μ,u,n,p,M bar:m,k,M cal:k,M
    cd:m,k lm:k lx:k Wb:m,μ,u pc:k,M,G yr:k,M,G bp:k,M,G X: D: G:k,m h: d: k: x: P: c: R:
    IU:m,k,M,μ,u U:m,k,M,μ,u Eq:m,μ,u Osm:m ohm:k,m,M,G Ohm:k,m,M,G Nm:k,m,M Torr:m,μ,u rem:m,μ,u Pas:m,μ Wth:k,M,G
    We:k,M,G Wp:k,M,G Vrms:m,k,μ Vpp:m,k,μ var:k,M,G
"""
_WITHOUT_CASE = frozenset("rad mol bar yr IU U Eq Osm ohm Ohm Nm Torr rem Pas Wth We Wp Vrms Vpp var".split())  # noqa: SIM905
"""Units whose case matters only with a prefix."""

_FURTHER = "dB dBm kcal Cal pH mmHg Kb Kbit Mbit Gbit kbit kbps Mbps Gbps KiB MiB GiB TiB Kib Mib Gib Tib"
_ELEMENTS = frozenset(
    """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc
    Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi
    Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr
    """.split()  # noqa: SIM905
)
_COMPOUNDS = frozenset("CO NO HF CS CN SN NH OH PO SO KI HI HO".split())  # noqa: SIM905
"""Formulas without a digit, some of which differ from an element only in case."""

_ORDINARY = frozenset(
    """
    a i o e y u as at be he in no am pm ms mr dr la es er ne na se si al os pa po mo do re te ti ho ha mi ma da la lo os
    th st nd rd fr pr ra bi co cs ga ac mm hm md la ca cu ce per tu tv cd ah um uk us so on or oh hi ki cal pr
    """.split()  # noqa: SIM905
)
"""Lowercase symbols that are also words, endings of ordinal numbers, or parts of names."""

_ACRONYMS = frozenset("us who aids".split())  # noqa: SIM905
"""Words that mean something else in capitals."""


def _spelled_out() -> Iterator[str]:
    for row in _PREFIXES.split():
        unit, _, prefixes = row.partition(":")
        if unit not in _WITHOUT_CASE:
            yield unit
        yield from (prefix + unit for prefix in prefixes.split(",") if prefix)
    yield from _FURTHER.split()


UNITS = frozenset(_spelled_out())
"""Symbols of units with their usual prefixes. The micro sign is the Greek letter."""

_FOLDED_UNITS = frozenset(each.casefold() for each in UNITS)

SYMBOLS = frozenset(each for each in UNITS | _ELEMENTS | _COMPOUNDS if len(each) > 1)
"""Symbols of more than one letter."""


def is_unit(text: str) -> bool:
    """Return whether `text` is the symbol of a unit, in the correct case."""
    return text.replace("\u00b5", "\u03bc") in UNITS


def is_like_unit(text: str) -> bool:
    """Return whether `text` is the symbol of a unit, ignoring case."""
    return text.casefold() in _FOLDED_UNITS


def is_ordinary(text: str) -> bool:
    """Return whether a symbol has the letters of a common word or ending, ignoring case."""
    return text.lower() in _ORDINARY


def is_acronym_of_word(text: str) -> bool:
    """Return whether a word has a different meaning in capitals."""
    return text.lower() in _ACRONYMS


LONGEST = 6
"""Maximum number of letters of a symbol or an acronym. The case of longer words is ignored."""

_WORD = re.compile(rf"[^\W\d_{SCRIPTS}]+")
_LATIN_OR_GREEK = re.compile("[A-Za-z\u00b5\u0370-\u03ff]+")
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_UNIT_CHAIN = re.compile(rf"(?:[^\W\d_]{{1,5}}[{SCRIPTS}\d^\-\u2212]*\s?[/\u00b7\u22c5*\u00d7]\s?)+\Z")
_NUMBER_BEFORE = re.compile(rf"(?:\d[{SCRIPTS}]*|[\u00bc-\u00be])\s?[\-\u2010\u2011\u00b0]?\s?\Z")
_PER_BEFORE = re.compile(r"[^\W\d_]\s?[/\u00b7\u22c5]\s?\Z")
_OPERATOR_BEFORE = re.compile("[=<>+\u2212\u00d7\u00f7\u00b1\u2264\u2265\u2248\u2260\u2208]\\s?\\Z|[\\^_]\\Z")
_OPERATOR_AFTER = re.compile("\\s?[=<>+\u2212\u00d7\u00f7\u00b1\u2264\u2265\u2248\u2260\u2208^_]")
_DIGIT_AFTER = re.compile(rf"[\d{SCRIPTS}]")
_MODEL_AFTER = re.compile(r"\d{3}")
"""The digits of a model number, such as i386."""

_ATTACHED_BEFORE = re.compile(r"[^\W_]['\u2019\u02bc]\Z")
_ATTACHED_AFTER = re.compile(r"['\u2019\u02bc][^\W\d_]")
_SENTENCE_BEFORE = re.compile(r"(?:\A|[.!?:;\u2026\n\"\u201c\u201e\u00ab(\[\u2014])\s*\Z")
_CLOCK_BEFORE = re.compile(r"\b\d{1,2}(?:[:.]\d\d)?\s?\Z")
_DECADE_BEFORE = re.compile(r"(?:\b1\d|\b20|\b|['\u2019])\d0['\u2019]?\Z")
_EMPHASIZED = frozenset(("no", "so", "on", "as", "in", "at", "he", "be", "oh", "hi", "or"))
"""Words that are sometimes set in capitals for emphasis."""

_COMPOUND = re.compile(r"[-\u2010\u2011][^\W\d_]{3}")
_LEAST_RECASED = 2


@frozen
class _Token:
    """A word in the source (`mine`) and in the quote (`theirs`). The offsets are those in the source."""

    start: int
    end: int
    mine: str
    theirs: str

    @property
    def differs(self) -> bool:
        return self.mine != self.theirs


def meaningful_case(source: str, quote: str, before: str = "", after: str = "") -> tuple[str, ...]:
    """Return the symbols of `quote` whose case differs from `source` in a way that changes the meaning.

    The items have the form "'MG' for 'mg'". The two texts differ only in case. `before` and `after` are the text around
    `source`.
    """
    if source == quote:
        return ()
    tokens = list(_aligned(source, quote))
    if not any(token.differs and len(token.mine) <= LONGEST for token in tokens):
        return ()
    passage = _Passage(f"{before}{source}{after}", len(before), tokens)
    changed = [tokens[at] for at in range(len(tokens)) if passage.changes_meaning(at)]
    return tuple(dict.fromkeys(f"'{token.theirs}' for '{token.mine}'" for token in changed))


def _aligned(source: str, quote: str) -> Iterator[_Token]:
    """Yield each word of the source with the part of the quote that has the same letters."""
    mine, theirs = normalised(source).letters(), normalised(quote).letters()
    if mine.text != theirs.text:
        return
    at, count = 0, len(mine.text)
    for word in _WORD.finditer(source):
        while at < count and mine.starts[at] < word.start():
            at += 1
        first = at
        while at < count and mine.starts[at] < word.end():
            at += 1
        if first < at:
            spelled = quote[theirs.starts[first] : theirs.ends[at - 1]]
            yield _Token(word.start(), word.end(), _plain(word[0]), _plain(spelled))


def _plain(word: str) -> str:
    return "".join(form_of(each) for each in _INVISIBLE.sub("", word)).replace("\u00b5", "\u03bc")


@frozen
class _Passage:
    """The source with the text around it. The offsets of `tokens` are relative to `offset` in `text`."""

    text: str
    offset: int
    tokens: Sequence[_Token] = field(repr=False)

    def changes_meaning(self, at: int) -> bool:
        token = self.tokens[at]
        mine, theirs = token.mine, token.theirs
        if mine == theirs or len(mine) > LONGEST or mine.casefold() != theirs.casefold():
            return False
        if not _LATIN_OR_GREEK.fullmatch(mine):
            return False
        before, after = self._around(token)
        if _ATTACHED_BEFORE.search(before) or (len(mine) == 1 and _ATTACHED_AFTER.match(after)):
            return False  # It's, l'eau
        styled = self._is_styled(at)
        measured = self._is_measured(before)
        if measured and (is_like_unit(mine) or len(mine) == 1):
            return not self._is_word_behind_number(mine, before, after, styled=styled)
        if len(mine) == 1:
            return self._is_changed_letter(at, before, after, styled=styled)
        if _DIGIT_AFTER.match(after) and {mine, theirs} & SYMBOLS:
            return True
        if {mine, theirs} & SYMBOLS:
            return self._is_changed_symbol(at, before, styled=styled)
        return is_acronym_of_word(mine) and mine[1:].isupper() != theirs[1:].isupper() and not styled

    def _around(self, token: _Token) -> tuple[str, str]:
        start, end = self.offset + token.start, self.offset + token.end
        return self.text[max(0, start - 32) : start], self.text[end : end + 8]

    def _is_measured(self, before: str) -> bool:
        """Return whether the text before a symbol ends with a number, other units, or a letter and a sign such as `/`."""
        chain = _UNIT_CHAIN.search(before)
        bare = before[: chain.start()] if chain else before
        return bool(_NUMBER_BEFORE.search(bare) or _PER_BEFORE.search(before))

    def _is_word_behind_number(self, symbol: str, before: str, after: str, *, styled: bool) -> bool:
        """Return whether a symbol after a number is not a unit: `5 PM`, `1ST`, `1950S`, `CHAPTER 5 A HOUSE`."""
        lower = symbol.lower()
        if lower in ("am", "pm"):
            return bool(_CLOCK_BEFORE.search(before))
        if lower in ("st", "nd", "rd", "th"):
            return True
        if lower == "s" and _DECADE_BEFORE.search(before):
            return styled
        spaced = before[-1:].isspace() and bool(re.match(r"\s[^\W\d_]{2}", after))
        return styled and spaced and (len(symbol) == 1 or lower == "da") and is_ordinary(symbol)

    def _is_changed_letter(self, at: int, before: str, after: str, *, styled: bool) -> bool:
        if styled and _MODEL_AFTER.match(after):
            return False
        if _OPERATOR_BEFORE.search(before) or _OPERATOR_AFTER.match(after) or _DIGIT_AFTER.match(after):
            return True
        if self._is_all_recased:
            return False
        if is_ordinary(self.tokens[at].mine) or _COMPOUND.match(after):
            return not (styled or self._begins_sentence(at, before))
        return True

    def _is_changed_symbol(self, at: int, before: str, *, styled: bool) -> bool:
        token = self.tokens[at]
        capital_only = token.mine[1:] == token.theirs[1:]
        begins = styled or self._begins_sentence(at, before)
        if is_ordinary(token.mine):
            return not (capital_only or styled or token.mine.lower() in _EMPHASIZED)
        are_two = {token.mine, token.theirs} <= SYMBOLS and token.mine.lower() != "ph"
        return are_two or not (self._is_all_recased or (capital_only and begins))

    def _begins_sentence(self, at: int, before: str) -> bool:
        return at == 0 or bool(_SENTENCE_BEFORE.search(before))

    def _is_styled(self, at: int) -> bool:
        """Return whether adjacent words, or all words, also differ in case, for example in a title."""
        return any(each is not None and each.differs for each in self._neighbors[at]) or self._is_all_recased

    @cached_property
    def _is_all_recased(self) -> bool:
        """Whether one of the texts is in capitals and at least `_LEAST_RECASED` words of three or more letters differ
        in case.
        """
        words = [token for token in self.tokens if len(token.mine) > 2]
        changed = [token for token in words if token.differs]
        upper = all(token.theirs.isupper() for token in words) or all(token.mine.isupper() for token in words)
        return upper and len(changed) >= _LEAST_RECASED

    @cached_property
    def _neighbors(self) -> Sequence[tuple[_Token | None, _Token | None]]:
        """For each token, the nearest tokens before and after it that have more than one letter, or None."""
        before, after = self._nearest(self.tokens), self._nearest(self.tokens[::-1])[::-1]
        return list(zip(before, after, strict=True))

    @staticmethod
    def _nearest(tokens: Sequence[_Token]) -> list[_Token | None]:
        """Return, for each token, the nearest token before it that has more than one letter, or None."""
        found: list[_Token | None] = []
        last: _Token | None = None
        for token in tokens:
            found.append(last)
            last = token if len(token.mine) > 1 else last
        return found
