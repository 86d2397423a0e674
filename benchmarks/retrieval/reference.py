"""BM25 over words cut to six letters: what others' searches do, and what ours is held against."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest


class ReferenceBm25:
    """With k1 = 1.2, b = 0.75, the true average length, no stop words and no pairs."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        counts = {each: Counter(_terms(text)) for each, text in texts.items()}
        average = math.fsum(count.total() for count in counts.values()) / len(counts)
        self._weights: dict[str, dict[str, float]] = defaultdict(dict)
        for each, count in counts.items():
            spread = 1.2 * (0.25 + 0.75 * count.total() / average)
            for term, times in count.items():
                self._weights[term][each] = times * 2.2 / (times + spread)
        self._texts = len(counts)

    def rank(self, text: str) -> Sequence[str]:
        """The ids of the texts that hold any of the words, best first."""
        scores: dict[str, float] = defaultdict(float)
        for term in sorted(set(_terms(text))):
            having = self._weights.get(term, {})
            rarity = math.log(1 + (self._texts - len(having) + 0.5) / (len(having) + 0.5))
            for each, weight in having.items():
                scores[each] += rarity * weight
        return nlargest(10, scores, key=scores.__getitem__)


def _terms(text: str) -> list[str]:
    return [word[:6] for word in re.findall(r"\w+", text.lower()) if len(word) > 1]
