"""Turns a text into a sparse vector of its words, for word search (BM25).

A word is indexed by its first five letters, so that its forms (`composer`, `composition`) match in languages that
inflect at the end. A longer word is also indexed as a whole, and two adjacent words as a pair. Numbers are indexed
whole. Chinese, Japanese, Korean, Thai, and similar text is indexed by pairs of characters. Stop words are indexed
separately and searched only if the query has no other words.

The stop words, with accents removed, cover the languages most common in libraries. A word that has another meaning in
another of these languages is not a stop word (German `die` and `war`, Spanish `sin`, French `son`), nor is a word of
direction (`above`, `up`): BM25 gives frequent words a low weight, so a missing stop word costs little, but a wrong one
hides a subject.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from zlib import crc32

from citekit.domain.library.vectors import SparseVector
from citekit.domain.words import with_few_translated

_ENGLISH = """
a an the and or but nor if then than so as at by for from in into of on onto to with about because is am are was were be been
being do does did doing done has have had having can could may might must shall should will would ought
i me my mine myself we us our ours you your yours he him his she her hers it its itself they them their theirs
this that these those there here who whom whose which what when where why how no not such too very just also
s t d ll ve re m don isn aren wasn doesn didn
"""
_GERMAN = """
der das dem ein eine einer eines einem einen und oder aber auch als auf aus bei durch fur gegen im ins ist sind sein seine
seiner seinen seinem ich du er sie es wir ihr ihre ihren ihrem ihrer mein dein unser euch uns mich mir dich dir sich nicht
kein keine keiner mit nach noch nur ob ohne so uber um unter vom von vor wahrend wenn weil werden wird wurde wurden wie wo
zu zum zur zwischen dass hatte hatten habe haben waren kann konnen muss mussen soll sollen
dieser diese dieses diesem diesen jener jene welche welcher welches warum wer
"""
_FRENCH = """
le la les l un une des du de d et ou mais donc ni car a au aux avec ce cet cette ces dans en entre par pas plus pour qu que
qui quoi quel quelle quels quelles se sa ses leur leurs mon ma mes ton ta tes notre nos votre vos je tu il elle nous vous ils
elles y est sont etait etaient ete etre avoir ont avait sans sous comment quand pourquoi j n
"""
_SPANISH = """
el la los las lo un una unos unas y e o u de del al a en con por para que se su sus es son fue fueron ser esta estan
como cuando donde quien cual cuales no ni si mas pero porque sobre entre hasta desde este estos estas ese esa eso esos esas
yo tu ella nosotros ellos ellas le les nos mi mis muy ya tambien ha han habia hay
"""
_ITALIAN = """
il lo la i gli le un uno una e ed o di da del dello della dei degli delle al allo alla ai agli alle dal dalla dai dalle nel
nella nei nelle sul sulla sui sulle in con per tra fra che chi cui non si se ma anche piu ci ne io tu lui lei noi voi
loro
questo questa questi queste quello quella quelli quelle sono erano essere ha hanno aveva perche quando dove suo sua suoi sue
"""
_PORTUGUESE = """
o a os as um uma uns umas e ou de do da dos das em no na nos nas ao aos por pelo pela pelos pelas para com que se nao mais
mas como quando onde quem qual seu sua seus suas este esta estes estas esse essa isso isto ele ela eles elas eu nos foi sao
ser tem tinha ha muito ja tambem
"""
_DUTCH = """
de het een en of maar van in op te aan met voor door uit over bij naar om dat dit deze die is was waren zijn wordt worden
werd niet geen ook als dan nog wel er ik je jij hij zij ze wij we hun zich mijn jouw hebben heeft kan kunnen zal hoe waar
wie wat waarom
"""
_NORDIC = """
och eller att det som en ett av for med till pa ar var inte har den de han hon jag vi ni sig om fran og ikke til er et ikkje
jeg hun ham seg sig fra ved hvor hva hvad hvem hur vad
"""
_RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о
из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя ничего ей
может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже под это этот эта эти того кто
"""
_MEANINGFUL = """
ai bin car ci com dan den die door dos ed em era fur ham hat hay hun io las man mes mit na os par plus pour sin son sur
ton van var war
"""
"""Words that have another meaning in another language or as names (AI, COM, MIT)."""


def _folded(words: str) -> frozenset[str]:
    return frozenset(words.replace("й", "и").split())


STOP_WORDS = frozenset().union(
    *map(
        _folded,
        (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH, _NORDIC, _RUSSIAN),
    )
) - _folded(_MEANINGFUL)
"""Stop words, casefolded and without accents."""


SATURATION = 1.2
"""k1 of BM25 (Robertson and Zaragoza, 2009): how much further occurrences of a word add to its weight."""

LENGTH_EFFECT = 0.4
"""b of BM25: how strongly the length of a text reduces the weight of its words."""

AVERAGE_LENGTH = 450
"""Number of index terms of a chunk of about 250 words. A constant makes weights independent of other chunks."""

WINDOW = 5
"""Number of words that count as repeated text if they occur again in the same order."""

STEM = 5
PAIR_WEIGHT = 0.6
EXACT_WEIGHT = 0.5
"""Query weights of pairs and of whole words, relative to the first letters of a word."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"  # kana, ideographs, Hangul
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_INNER = "".join(chr(code) for code in range(0x900, 0xE00) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
"""Vowel signs of Indic scripts, which `\\w` does not match."""

_WORD = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}](?:[^\\W{_UNSPACED}]|[{_INNER}])*")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_KEPT = re.compile(f"[\\w{_UNSPACED}]")
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]")
_HYPHENATED = re.compile(r"[-\u00ad](?:(?<=[^\W\d_]-)[ \t]*\r?\n[ \t]*|(?<=[^\W\d_]\u00ad)\s*)(?=[^\W\d_])")
"""A hyphen between letters at the end of a line, or a soft hyphen. For speed, it begins with the hyphen."""


def document_words(text: str) -> SparseVector:
    """Return a sparse vector of the words of a chunk, weighted by BM25's saturated term frequency.

    The weight of a word is f (k1 + 1) / (f + k1 (1 - b + b length / average)), where f is how often the word occurs.
    Repeated text counts once in f, but every time in the length.
    """
    words = tokens(text)
    once = without_repetition(words)
    counts, every = Counter(_terms(once)), Counter(_terms(words))
    spread = SATURATION * (1 - LENGTH_EFFECT + LENGTH_EFFECT * every.total() / AVERAGE_LENGTH)
    counts.update(_little_terms(once))
    for term in (*every, *_little_terms(words)):
        counts.setdefault(term, 1)  # such as a pair of words that is adjacent only because of the repetition
    return _vector((term, count * (SATURATION + 1) / (count + spread)) for term, count in counts.items())


def query_words(text: str) -> SparseVector:
    """Return a sparse vector of the words of a query. It is empty if the text has no letters or digits.

    A query of stop words is searched by pairs of adjacent stop words, or if there are none, by the single stop word.
    """
    words = tokens(text)
    terms = dict.fromkeys(_terms(words)) or dict.fromkeys(_little_terms(words))
    pairs = {term: 1.0 for term in terms if term.startswith("~") and " " in term}
    return _vector(pairs.items() if pairs else ((term, _query_weight(term)) for term in terms))


def overlap(question: SparseVector, text: str) -> float:
    """Return the share of a query's words, from 0 to 1, that occur in `text`, counted by their weights.

    It is 0 for a query without words.
    """
    words = tokens(text)
    there = set(map(term_number, {*_terms(words), *_little_terms(words)}))
    whole = sum(question.values)
    found = sum(weight for index, weight in zip(question.indices, question.values, strict=True) if index in there)
    return found / whole if whole else 0.0


def tokens(text: str) -> list[str]:
    """Return the words of a text, casefolded and without accents.

    A hyphen at the end of a line and a soft hyphen are removed. Consecutive characters of a script without spaces form
    one word.
    """
    joined = _HYPHENATED.sub("", text).casefold()
    plain = with_few_translated(joined, _FOLDED)
    if not plain.isascii():
        decomposed = _ACCENTS.sub("", unicodedata.normalize("NFKD", joined))
        return _WORD.findall(unicodedata.normalize("NFC", decomposed))
    words = plain.encode("ascii").translate(_SPACED).decode("ascii").split()
    return list(filter(None, (word.lstrip("_") for word in words))) if "_" in plain else words


class _Folded(dict[int, str]):
    """A translation table from casefolded characters to characters without accents, and to spaces between words.

    Combining marks that are not accents are kept, because they can form one character with the letter before them.
    """

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", chr(code))))
        kept = (each if _KEPT.match(each) or unicodedata.category(each).startswith("M") else " " for each in plain)
        self[code] = folded = "".join(kept)
        return folded


_FOLDED = _Folded()
_SPACED = bytes(code if _KEPT.match(chr(code)) else 32 for code in range(128)).ljust(256)
"""Translation table for ASCII: letters, digits, and underscores map to themselves, all other characters to a space."""


def without_repetition(words: Sequence[str]) -> list[str]:
    """Return the words without repetitions: sequences that directly follow the same sequence, and sequences of `WINDOW`
    or more words that occurred anywhere before.
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
    """Yield the index terms of words that are not stop words: their first letters, longer words as a whole, and pairs
    of adjacent words. A word in a script without spaces results in pairs of characters.
    """
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


def stems(words: Iterable[str]) -> list[str]:
    """Return the first letters of each of `words`, which `tokens` returned, without stop words.

    Numbers stay whole. Words in a script without spaces become pairs of characters.
    """
    return list(chain.from_iterable(map(_KNOWN.__getitem__, words)))


KNOWN_WORDS = 1 << 16
"""Maximum number of words whose stems stay in memory."""


class _StemsOf(dict[str, tuple[str, ...]]):
    """A cache of stems. A lookup is faster than a call of a cached function."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= KNOWN_WORDS:
            self.clear()
        found = self[word] = _stems_of(word)
        return found


_KNOWN = _StemsOf()


def _stems_of(word: str) -> tuple[str, ...]:
    if _UNSPACED_START.match(word):
        return tuple(map("".join, pairwise(word))) if len(word) > 1 else (word,)
    if word in STOP_WORDS:
        return ()
    return (word if word.isdigit() else word[:STEM],)


def is_unspaced(word: str) -> bool:
    """Return whether a word is in a script without spaces between words."""
    return _UNSPACED_START.match(word) is not None


def term_number(term: str) -> int:
    """Return the 32-bit number of a term. Among a million terms, about one in 4300 shares its number with another."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def _little_terms(words: list[str]) -> Iterator[str]:
    """Yield the terms for queries without other words: stop words, pairs of them, and single characters of unspaced
    scripts.
    """
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


def _vector(weights: Iterable[tuple[str, float]]) -> SparseVector:
    """Return a sparse vector of terms and their weights. The weights of terms with the same `term_number` are added."""
    summed: dict[int, float] = {}
    for term, weight in weights:
        number = term_number(term)
        summed[number] = summed.get(number, 0.0) + weight
    rising = sorted(summed)
    return SparseVector(rising, [summed[number] for number in rising])
