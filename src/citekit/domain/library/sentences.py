"""A text in sentences, none of them longer than can be dealt with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import frozen

LONG_WORD = 100
"""Characters without a space that count as one word at most: a longer run counts one for every hundred begun."""

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
"""The dots of a table of contents between a title and its page."""

_ATOM = re.compile(
    rf"\s*([{_CHARACTERS}]{{1,2}}|[{_SYLLABLES}]{{1,5}}|[{_MARKS}]{{1,{LONG_WORD}}}"
    rf"|[^\s{_CHARACTERS}{_SYLLABLES}{_MARKS}]{{1,{LONG_WORD}}})(\s*)"
)
"""What counts as one word, or less; so `count_words` of several together is never above their number."""

_CLAUSE_ENDS = frozenset(",;:.!?…—–،؛؟।॥、，；：。！？」』)")


@frozen
class Sentence:
    """The characters `start` to `end` (excluded) of a text, the white space after the sentence with them."""

    start: int
    end: int
    words: int


def count_words(text: str) -> int:
    """How many words a text has; 0 for white space alone, at least 1 for any other.

    Words are what white space parts. Scripts that put no space between words are reckoned by the length of their usual
    word: two characters of Chinese or Japanese, five (with vowel signs) of Thai, Lao, Burmese or Khmer. A run of more than
    `LONG_WORD` characters without a space is no word of any language, and counts as several; a row of dots with spaces, as in
    a table of contents, counts as one word for as many characters.

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
    """The sentences of `text` that begin at `starts`, as a `SentenceSplitter` gives them; together they are the text.

    One of more than `max_words` words (at least 1) is cut in pieces of about the same length: after a comma or the like,
    else at the end of a line, else at a space, else anywhere. White space alone belongs to the sentence before it, or to the
    first one. So `words` is 0 only where all of the text is white space. Linear time.
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
    """(start, words) of all that is more than white space; one of no words where nothing is."""
    begins = sorted({0, *starts})
    spans = pairwise([*(start for start in begins if 0 <= start < len(text)), len(text)])
    counted = ((start, count_words(text[start:end])) for start, end in spans)
    return [(start, words) for start, words in counted if words] or [(0, 0)]


def _pieces(text: str, start: int, end: int, most: int) -> Iterator[Sentence]:
    """An over-long sentence in parts of at most `most` words, cut at the best place near an equal share."""
    cuts = _Cuts(text, start, end)
    done, begin = 0, start
    while done < len(cuts.ends):
        done = cuts.best(done, most)
        cut = cuts.ends[done - 1]
        yield Sentence(begin, cut, count_words(text[begin:cut]))
        begin = cut


class _Cuts:
    """Where a sentence can be cut: `ends` of its words, and how good a place each is."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.ends: list[int] = []
        self._ranks = bytearray()
        for atom in _ATOM.finditer(text, start, end):
            self.ends.append(atom.end())
            self._ranks.append(_rank(atom[1], atom[2]))
        self.ends[-1] = end

    def best(self, done: int, most: int) -> int:
        """How many words stand before the next cut, where `done` stand before the one before it."""
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
