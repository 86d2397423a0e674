"""The words of a text as a sparse vector, for a search by words (BM25).

A word counts under its first five letters, which joins the forms of a word (`composer`, `composition`) in any language that
inflects at the end; a longer word counts once more as it stands, and every two neighbours count as a pair. Numbers count
whole. Text without spaces between words (Chinese, Japanese, Korean, Thai, ...) counts in pairs of characters. Stop words
count apart: they are looked for only where the question has nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from zlib import crc32

from citekit.domain.library.stop_words import STOP_WORDS
from citekit.domain.library.vectors import SparseVector

SATURATION = 1.2
"""k1 of BM25 (Robertson and Zaragoza, 2009): how soon it no longer matters that a word is there once more."""

LENGTH_EFFECT = 0.4
"""b of BM25: how much a long text has to say a word more often."""

AVERAGE_LENGTH = 450
"""Terms in a chunk of some 250 words; a constant, so that a chunk's weights never depend on its neighbours."""

WINDOW = 5
"""Words that are taken for a repeated text if they occur again in the same order; ordinary prose hardly does that."""

STEM = 5
PAIR_WEIGHT = 0.6
EXACT_WEIGHT = 0.5
"""What a pair of neighbours, and a long word as it stands, weigh in a question beside a word's first letters."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"  # kana, ideographs, Hangul
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_INNER = "".join(chr(code) for code in range(0x900, 0xE00) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
"""Vowel signs of Indic scripts: part of a word, though not of `\\w`."""

_WORD = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}](?:[^\\W{_UNSPACED}]|[{_INNER}])*")
_ASCII_WORD = re.compile(r"[a-z0-9]\w*", re.ASCII)
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])(?:-[ \t]*\r?\n[ \t]*|\u00ad\s*)(?=[^\W\d_])")


def document_words(text: str) -> SparseVector:
    """The words of a chunk by BM25's saturated term frequency: f (k1 + 1) / (f + k1 (1 - b + b length / average)).

    A text that is repeated in the chunk counts once in f, and each time in the length: repetition raises no weight.
    """
    words = _words(text)
    once = without_repetition(words)
    counts, every = Counter(_terms(once)), Counter(_terms(words))
    spread = SATURATION * (1 - LENGTH_EFFECT + LENGTH_EFFECT * every.total() / AVERAGE_LENGTH)
    counts.update(_little_terms(once))
    for term in (*every, *_little_terms(words)):
        counts.setdefault(term, 1)  # such as a pair of words that only the repetition brought together
    return _vector((term, count * (SATURATION + 1) / (count + spread)) for term, count in counts.items())


def query_words(text: str) -> SparseVector:
    """The words of a question; empty where the text has no letter and no digit.

    A question of stop words alone is looked for by their pairs, or by the one word that it is.
    """
    words = _words(text)
    terms = dict.fromkeys(_terms(words)) or dict.fromkeys(_little_terms(words))
    pairs = {term: 1.0 for term in terms if term.startswith("~") and " " in term}
    return _vector(pairs.items() if pairs else ((term, _query_weight(term)) for term in terms))


def overlap(question: SparseVector, text: str) -> float:
    """How much of the weight of a question's words stands in `text`, from 0 to 1; 0 for a question without words."""
    words = _words(text)
    there = set(map(_number, {*_terms(words), *_little_terms(words)}))
    whole = sum(question.values)
    found = sum(weight for index, weight in zip(question.indices, question.values, strict=True) if index in there)
    return found / whole if whole else 0.0


def _words(text: str) -> list[str]:
    """Casefolded, without accents; words broken at a line's end are joined; a run of a script without spaces is one."""
    joined = _HYPHENATED.sub("", text)
    if joined.isascii():
        return _ASCII_WORD.findall(joined.lower())
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", joined.casefold()))
    return _WORD.findall(unicodedata.normalize("NFC", plain))


def without_repetition(words: Sequence[str]) -> list[str]:
    """The words without those of sequences that are repeated.

    A sequence is repeated if it follows itself at once (up to `WINDOW - 1` words), or if `WINDOW` or more words occurred
    before in that order.
    """
    kept: list[str] = []
    for word in words:
        kept.append(word)
        for length in range(1, WINDOW):
            if kept[-length:] == kept[-2 * length : -length]:
                del kept[-length:]
                break
    seen: set[tuple[str, ...]] = set()
    repeated: set[int] = set()
    for first in range(len(kept) - WINDOW + 1):
        window = tuple(kept[first : first + WINDOW])
        if window in seen:
            repeated.update(range(first, first + WINDOW))
        seen.add(window)
    return [word for at, word in enumerate(kept) if at not in repeated]


def _terms(words: Iterable[str]) -> Iterator[str]:
    """First letters, `=` whole long words, and pairs with a space between."""
    stems: list[str] = []
    for word in words:
        if _UNSPACED_START.match(word):
            yield from map("".join, pairwise(word))
            if len(word) == 1:
                yield "~" + word
        elif word not in STOP_WORDS:
            stems.append(word if word.isdigit() else word[:STEM])
            if stems[-1] != word:
                yield "=" + word
    yield from stems
    yield from map(" ".join, pairwise(stems))


def _little_terms(words: list[str]) -> Iterator[str]:
    """`~` what counts only alone: stop words, pairs of them, and single characters of scripts without spaces."""
    for word in words:
        if word in STOP_WORDS:
            yield "~" + word
        elif _UNSPACED_START.match(word) and len(word) > 1:
            yield from map("~".__add__, word)
    for first, second in pairwise(words):
        if first in STOP_WORDS and second in STOP_WORDS:
            yield f"~{first} {second}"


def _query_weight(term: str) -> float:
    if term.startswith("="):
        return EXACT_WEIGHT
    return PAIR_WEIGHT if " " in term else 1.0


def _number(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))


def _vector(weights: Iterable[tuple[str, float]]) -> SparseVector:
    """Terms by their CRC-32. Of a million terms, one in 4300 shares its number with another, and then only adds to it."""
    summed: dict[int, float] = {}
    for term, weight in weights:
        number = _number(term)
        summed[number] = summed.get(number, 0.0) + weight
    rising = sorted(summed)
    return SparseVector(rising, [summed[number] for number in rising])
