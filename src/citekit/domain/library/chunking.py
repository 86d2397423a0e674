"""Sentences gathered into chunks that each keep to one subject."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise

from attrs import field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.library.sentences import Sentence

WORDS_LIMIT = 1_000_000
"""Words that a chunk may be asked to have at most; every book is shorter."""


@frozen
class ChunkingParams:
    """When a chunk ends: where neighbouring sentences are less alike than `threshold` (0 to 1), or at `max_words`.

    No chunk ends before it has `min_words`, as long as that can be. Raises `RequestRefused`.
    """

    threshold: float = 0.55
    min_words: int = 200
    max_words: int = 1200

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise RequestRefused(f"The threshold is a number from 0 to 1, not {self.threshold}.")
        if self.min_words < 1:
            raise RequestRefused(f"The smallest chunk has at least 1 word, not {self.min_words}.")
        if self.max_words < self.min_words:
            raise RequestRefused(
                f"The largest chunk ({self.max_words} words) cannot be smaller than the smallest ({self.min_words} words)."
            )
        if self.max_words > WORDS_LIMIT:
            raise RequestRefused(f"The largest chunk has at most {WORDS_LIMIT} words, not {self.max_words}.")


class Reason(StrEnum):
    """Why a chunk begins where it does: the text begins, the subject changes, or the chunk before it was full."""

    START = "start"
    SEMANTIC = "semantic"
    MAX_SIZE = "max_size"


@frozen
class Chunk:
    """The characters `start` to `end` (excluded) of a text: whole sentences.

    `similarity` is that of its first sentence to the one before it, None at the start of the text.
    """

    start: int
    end: int
    words: int
    reason: Reason
    similarity: float | None


def chunked(sentences: Sequence[Sentence], similarities: Sequence[float], params: ChunkingParams) -> tuple[Chunk, ...]:
    """The sentences of a text in chunks; together they are the text.

    `similarities[i]` is that of the sentences i and i + 1 (there is one less of them than of sentences, else `ValueError`).
    A chunk ends before a sentence that is less like the one before it than the threshold, once it has `min_words`; and
    before one that would make it longer than `max_words`. No chunk is longer, where no sentence is. What is left at the end
    with less than `min_words` joins the chunk before it; if both together are too long, they are split again where they
    are least alike, among the positions that leave neither too short, if there is one.

    A higher threshold never gives fewer chunks: let f(b) be where the chunk ends that begins at b. With more places where
    a chunk may end f(b) is never later, and a later b never gives an earlier f(b); so by induction the n-th border is never
    later, and where the last two chunks join with the higher threshold, they begin no later and so join with the lower.
    Linear time.
    """
    if len(similarities) != max(0, len(sentences) - 1):
        raise ValueError(f"{len(sentences)} sentences have one less similarities, not {len(similarities)}")
    return _Chunker(sentences, similarities, params).chunks()


def sentences_of(chunk: Chunk, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Those of the text's `sentences` that the chunk is made of; found by halving, not by looking at all."""
    first = bisect_left(sentences, chunk.start, key=lambda sentence: sentence.start)
    last = bisect_left(sentences, chunk.end, lo=first, key=lambda sentence: sentence.start)
    return sentences[first:last]


@frozen
class _Chunker:
    """Borders are the numbers of the sentences before which a chunk begins or the text ends."""

    sentences: Sequence[Sentence]
    similarities: Sequence[float]
    params: ChunkingParams
    _before: list[int] = field(init=False)
    """How many words stand before each sentence, and in all of them."""

    @_before.default
    def _count(self) -> list[int]:
        return list(accumulate((sentence.words for sentence in self.sentences), initial=0))

    def chunks(self) -> tuple[Chunk, ...]:
        if not self.sentences:
            return ()
        borders = self._tidied([0, *self._breaks(), len(self.sentences)])
        return tuple(self._chunk(first, last) for first, last in pairwise(borders))

    def _words(self, first: int, last: int) -> int:
        return self._before[last] - self._before[first]

    def _is_semantic(self, border: int) -> bool:
        return self.similarities[border - 1] < self.params.threshold

    def _breaks(self) -> Iterator[int]:
        begin = 0
        for border in range(1, len(self.sentences)):
            changes = self._is_semantic(border) and self._words(begin, border) >= self.params.min_words
            if changes or self._words(begin, border + 1) > self.params.max_words:
                yield border
                begin = border

    def _tidied(self, borders: list[int]) -> list[int]:
        """The borders with the last chunk joined to the one before it, or made longer at its cost, where it is too short."""
        if len(borders) < 3 or self._words(borders[-2], borders[-1]) >= self.params.min_words:
            return borders
        begin, middle, end = borders[-3:]
        if self._words(begin, end) <= self.params.max_words:
            return [*borders[:-2], end]
        places = [place for place in range(begin + 1, middle) if self._fits(begin, place) and self._fits(place, end)]
        if not places:
            return borders
        return [*borders[:-2], min(places, key=lambda place: (self.similarities[place - 1], -place)), end]

    def _fits(self, first: int, last: int) -> bool:
        return self.params.min_words <= self._words(first, last) <= self.params.max_words

    def _chunk(self, first: int, last: int) -> Chunk:
        start, end = self.sentences[first].start, self.sentences[last - 1].end
        if first == 0:
            return Chunk(start, end, self._words(first, last), Reason.START, None)
        reason = Reason.SEMANTIC if self._is_semantic(first) else Reason.MAX_SIZE
        return Chunk(start, end, self._words(first, last), reason, self.similarities[first - 1])
