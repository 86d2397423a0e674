"""Decides whether a text contains a title, literally or nearly so.

Models add `Chapter 3:`, drop an article, or change the case or the ending of a word. Therefore, word stems are
compared, in any order, within a few lines.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from attrs import frozen

TITLE_LINES = 3
"""The number of consecutive lines over which a title may extend: headings wrap."""

_STEM = 6
_ENDINGS = ("ing", "ed", "es", "s")
_MIN_LETTERS = 4
_DISTINCTIVE = 10
"""The minimum number of letters of a title that is unlikely to be in a text by chance, even across word boundaries."""

_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")

_STOP_WORDS = """
    a an the of and or in on at to for from by with as is are be its it this that these those into about how what why when
    der die das den dem des ein eine einer und oder in im am an zu zum zur von vom mit auf aus bei als für über ist
    le la les un une des du de et ou dans sur pour par avec au aux en est el los las y o con por para del al
    il lo gli i e di da che per os as um uma no na dos van het een
    chapter section part appendix figure fig table page lesson unit book volume example kapitel abschnitt teil abbildung
    tabelle anhang chapitre partie annexe capitulo parte def class function method
    overview introduction intro summary continued
    """
"""Words that do not describe the topic of a part: articles, prepositions, and labels that models add."""


@frozen
class TextLine:
    """A line of text prepared for comparison: its letters and digits in lowercase, and the stems of its words."""

    folded: str
    stems: frozenset[str]


def text_line(text: str) -> TextLine:
    """Return `text` as a line in which titles can be searched for."""
    return TextLine(folded(text), frozenset(_stems(text)))


@lru_cache(maxsize=100_000)
def folded(text: str) -> str:
    """Return the letters and digits of `text` in lowercase and in compatibility form (NFKC, which splits ligatures)."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in unicodedata.normalize("NFKC", plain) if character.isalnum())


def contains_title(title: str, lines: Sequence[TextLine], window: int = TITLE_LINES) -> bool:
    """Return whether `lines` contain `title` literally, or two thirds of its words within `window` lines in a row.

    For a title without words that describe a topic, such as `Chapter 4`, a line with only its number is enough.
    """
    wanted = folded(title)
    if not wanted:  # symbols only, which cannot be found
        return False
    if any(line.folded == wanted for line in lines):
        return True
    # A short title is in almost any text if word borders do not count: "sand" in "was and".
    borderless = len(wanted) >= _DISTINCTIVE or (len(wanted) >= _MIN_LETTERS and _CJK.search(wanted))
    if borderless and wanted in "".join(line.folded for line in lines):
        return True
    words = _content_stems(title)
    if not words:
        alone = {wanted, *_numerals(title)}
        return any(line.folded in alone for line in lines)
    needed = -(-len(words) * 2 // 3)  # both of two words, because one alone is not evidence
    return _best_match(words, lines, window) >= needed


def _best_match(words: frozenset[str], lines: Sequence[TextLine], window: int) -> int:
    held: Counter[str] = Counter()
    best = 0
    for number, line in enumerate(lines):
        held.update(line.stems & words)
        if number >= window:
            held -= Counter(lines[number - window].stems & words)
        best = max(best, len(held))
    return best


@lru_cache(maxsize=20_000)
def _content_stems(title: str) -> frozenset[str]:
    """Return the stems of the words in a title that describe its topic; empty for a title such as `Chapter 4`."""
    return frozenset(stem for stem in _stems(title) if not stem.isdigit() and stem not in _STOP_STEMS)


def _numerals(title: str) -> list[str]:
    """Return the numbers (1 to 99) in a title as digits and as Roman numerals, because `Chapter 4` may be headed only
    `IV`.
    """
    numbers = [word for word in _WORD.findall(title) if word.isdecimal() and 0 < int(word[:4]) < 100 and len(word) < 3]
    tens = ("", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx", "xc")
    ones = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    return [*numbers, *(tens[int(each) // 10] + ones[int(each) % 10] for each in numbers)]


def lone_number(line: str) -> int:
    """Return the number (1 to 99, decimal or Roman) that a folded line consists of; 0 if it is something else."""
    return _NUMBERS.get(line, 0)


def _stems(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", _CAMEL_CASE.sub(" ", text)).casefold()
    return [stem for word in _WORD.findall(_without_accents(plain)) for stem in _word_stems(word)]


def _without_accents(text: str) -> str:
    """Return `text` without accents, which capital letters often lack."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", text)
    return "".join(character for character in apart if unicodedata.category(character) != "Mn")


def _word_stems(word: str) -> list[str]:
    """Return the stem of a word; for a script without spaces, such as Chinese, each pair of adjacent characters."""
    if _CJK.search(word):
        return [word[n : n + 2] for n in range(max(1, len(word) - 1))]
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= _MIN_LETTERS), "")
    return [word.removesuffix(ending)[:_STEM]]


_STOP_STEMS = frozenset(stem for word in _STOP_WORDS.split() for stem in _word_stems(_without_accents(word)))

_NUMBERS = {form: number for number in range(1, 100) for form in _numerals(str(number))}
