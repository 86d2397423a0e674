"""Chooses the sentence of a text that best represents what the text is about.

A sentence is weighted by its words that are frequent in its text and rare in the other texts (tf-idf; H. P. Edmundson
and R. E. Wyllys, Communications of the ACM 4, 1961).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

ENOUGH = 4
"""The minimum number of sentences from which one is chosen. Fewer are returned together."""

_WORD = re.compile(r"\w{4,}")
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026\u3002\uff01\uff1f])[\"\u201d\u2019]?\s+")
_TYPICAL = 12
"""The number of words of a typical sentence. A shorter sentence is scored as if it had this many."""


def central_sentences(texts: Sequence[Sequence[str]]) -> list[str]:
    """Return the central sentence of each text, or the whole text if it has fewer than `ENOUGH` sentences.

    A text is a sequence of pieces, such as subtitles. If no punctuation separates sentences in it, its pieces count as
    sentences.
    """
    sentences = [list(_sentences(pieces)) for pieces in texts]
    words = [Counter(_words(" ".join(each))) for each in sentences]
    spread = Counter(word for each in words for word in each)
    return [_best(each, counts, spread, len(texts)) for each, counts in zip(sentences, words, strict=True)]


def _best(sentences: Sequence[str], counts: Counter[str], spread: Counter[str], texts: int) -> str:
    if len(sentences) < ENOUGH:
        return " ".join(sentences)
    return max(sentences, key=partial(_score, counts=counts, spread=spread, texts=texts))


def _score(sentence: str, counts: Counter[str], spread: Counter[str], texts: int) -> float:
    weights = (math.log1p(counts[word]) * math.log(1 + texts / spread[word]) for word in set(_words(sentence)))
    return sum(weights) / max(_TYPICAL, len(sentence.split()))


def _sentences(pieces: Sequence[str]) -> Iterator[str]:
    whole = [each for each in _SENTENCE_END.split(" ".join(pieces)) if each.strip()]
    yield from whole if len(whole) > 1 else [each for each in pieces if each.strip()]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
