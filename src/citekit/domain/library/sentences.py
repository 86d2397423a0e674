"""Splits a text into sentences of limited length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import frozen

LONG_WORD = 100
"""Maximum length of a word in characters. A longer run without spaces counts as several words."""

_CHARACTERS = (
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003347f"
)
_SYLLABLES = "\u0e01-\u0e4f\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u109f\u1780-\u17d3"
_MARKS = "\u3001-\u3004\u3008-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"

_CHARACTER = re.compile(f"[{_CHARACTERS}]")
_SYLLABLE = re.compile(f"[{_SYLLABLES}]")
_MARK = re.compile(f"[{_MARKS}]")
_UNSPACED = re.compile(f"[{_CHARACTERS}{_SYLLABLES}]")

_LEADERS = re.compile(r"(?:\.[ \t]+){3,}\.?")
"""The leader dots of a table of contents."""

_ATOM = re.compile(
    rf"\s*([{_CHARACTERS}]{{1,2}}|[{_SYLLABLES}]{{1,5}}|[{_MARKS}]{{1,{LONG_WORD}}}"
    rf"|[^\s{_CHARACTERS}{_SYLLABLES}{_MARKS}]{{1,{LONG_WORD}}})(\s*)"
)
"""Matches at most one word by the rules of `count_words`."""

_CLAUSE_ENDS = frozenset(",;:.!?…—–،؛؟।॥、，；：。！？」』)")


@frozen
class Sentence:
    """A sentence of a text with the white space after it: the characters from `start` up to, but not including, `end`."""

    start: int
    end: int
    words: int


def count_words(text: str) -> int:
    """Return the number of words in a text: 0 if it contains only white space, otherwise at least 1.

    White space separates words. For scripts without spaces between words, the count is based on the usual word length:
    two characters in Chinese or Japanese, and five (including vowel signs) in Thai, Lao, Burmese, or Khmer. Long runs
    without a space, and leader dots of a table of contents, count as one word per `LONG_WORD` characters.

    Example:
        >>> count_words("Call me Ishmael."), count_words("我是学生。"), count_words("  ")
        (3, 2, 0)
    """
    if text.isascii() or not _UNSPACED.search(text):
        return _spaced_words(text)
    rest, characters = _CHARACTER.subn(" ", text)
    rest, syllables = _SYLLABLE.subn(" ", rest)
    return -(-characters // 2) - (-syllables // 5) + _spaced_words(_MARK.sub(" ", rest))


def _spaced_words(text: str) -> int:
    if ". . ." in text:
        rows = sum(-(-len(row) // LONG_WORD) for row in _LEADERS.findall(text))
        return rows + _runs(_LEADERS.sub(" ", text))
    return _runs(text)


def _runs(text: str) -> int:
    words = text.split()
    if len(text) <= LONG_WORD or not words or max(map(len, words)) <= LONG_WORD:
        return len(words)
    return sum(-(-len(word) // LONG_WORD) for word in words)


def sentences(text: str, starts: Sequence[int], max_words: int) -> tuple[Sentence, ...]:
    """Return the sentences of `text`, given the offsets where they begin. Together the sentences cover the whole text.

    A sentence of more than `max_words` words is split into parts of similar length, preferably after a comma or similar
    punctuation, or else at a line end, at a space, or anywhere. A sentence of only white space is added to the previous
    one, or at the start, to the next one.
    """
    if not text:
        return ()
    counted = _counted(text, starts)
    bounds = [0, *(start for start, _ in counted[1:]), len(text)]
    found: list[Sentence] = []
    for (start, end), (_, words) in zip(pairwise(bounds), counted, strict=True):
        if words <= max_words:
            found.append(Sentence(start, end, words))
        else:
            found.extend(_pieces(text, start, end, max(1, max_words)))
    return tuple(found)


def _counted(text: str, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Return (start, number of words) for each sentence that is not only white space.

    If the whole text is white space, return (0, 0) only.
    """
    begins = sorted({0, *starts})
    spans = pairwise([*(start for start in begins if 0 <= start < len(text)), len(text)])
    counted = ((start, count_words(text[start:end])) for start, end in spans)
    return [(start, words) for start, words in counted if words] or [(0, 0)]


def _pieces(text: str, start: int, end: int, most: int) -> Iterator[Sentence]:
    """Yield the parts of a long sentence, each with at most `most` words."""
    cuts = _Cuts(text, start, end)
    done, begin = 0, start
    while done < len(cuts.ends):
        done = cuts.best(done, most)
        cut = cuts.ends[done - 1]
        yield Sentence(begin, cut, count_words(text[begin:cut]))
        begin = cut


class _Cuts:
    """The positions at which a sentence can be split: the `ends` of its words, ranked by suitability."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.ends: list[int] = []
        self._ranks = bytearray()
        for atom in _ATOM.finditer(text, start, end):
            self.ends.append(atom.end())
            self._ranks.append(_rank(atom[1], atom[2]))
        self.ends[-1] = end

    def best(self, done: int, most: int) -> int:
        """Return the number of words before the next split.

        `done` is the number of words before the previous split, and `most` the maximum number between the two.
        """
        left = len(self.ends) - done
        if left <= most:
            return len(self.ends)
        aim = -(-left // -(-left // most))
        first, last = done + max(1, aim - aim // 4), done + min(most, aim + aim // 4)
        return max(range(first, last + 1), key=lambda place: (self._ranks[place - 1], -abs(place - done - aim)))


def _rank(word: str, space: str) -> int:
    if word[-1] in _CLAUSE_ENDS and (space or not word[-1].isascii()):
        return 3
    return 2 if "\n" in space else 1 if space else 0
