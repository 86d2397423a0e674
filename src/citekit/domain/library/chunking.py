"""Groups sentences into chunks that each stay on one subject."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise

from attrs import evolve, field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.library.passages import passages
from citekit.domain.library.sentences import Sentence

WORDS_LIMIT = 1_000_000
"""Upper limit for the maximum chunk size in words."""


@frozen
class ChunkingParams:
    """The rules that decide where a chunk ends.

    `threshold` is the similarity (0 to 1) of adjacent sentences below which a chunk can end. `min_words` and
    `max_words` limit the size of a chunk; see `chunked` for the exceptions. Raise `RequestRefused` for invalid values.
    """

    threshold: float = 0.55
    min_words: int = 200
    max_words: int = 1200

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise RequestRefused(f"The threshold must be a number from 0 to 1, not {self.threshold}.")
        if self.min_words < 1:
            raise RequestRefused(f"The minimum chunk size must be at least 1 word, not {self.min_words}.")
        if self.max_words < self.min_words:
            raise RequestRefused(
                f"The maximum chunk size ({self.max_words}) must not be below the minimum chunk size ({self.min_words})."
            )
        if self.max_words > WORDS_LIMIT:
            raise RequestRefused(
                f"The maximum chunk size must be at most {WORDS_LIMIT:,} words, not {self.max_words:,}."
            )


class Reason(StrEnum):
    """Why a chunk begins: the text begins, the subject changes, or the previous chunk would be too long."""

    START = "start"
    SEMANTIC = "semantic"
    MAX_SIZE = "max_size"


@frozen
class Chunk:
    """A chunk of a text: whole sentences, from character `start` up to, but not including, character `end`.

    `reason` says why the chunk begins. `similarity` is the similarity of the chunk's first sentence to the sentence
    before it, or None if it is not known.
    """

    start: int
    end: int
    words: int
    reason: Reason
    similarity: float | None


def chunked(sentences: Sequence[Sentence], similarities: Sequence[float], params: ChunkingParams) -> tuple[Chunk, ...]:
    """Group the consecutive sentences of a text into chunks that together cover the whole text.

    `similarities[i]` is the similarity of sentences i and i + 1. A chunk with at least `min_words` words ends before a
    sentence whose similarity to the previous sentence is below the threshold. Any chunk ends before a sentence that
    would make it longer than `max_words`; a single sentence can be longer. A last chunk of fewer than `min_words` words
    is merged with the previous chunk, or else gets sentences from it, if this keeps the limits. Raise `ValueError` if
    the number of similarities is not one less than the number of sentences.

    A higher threshold does not result in fewer chunks: it only adds possible ends, so the n-th chunk does not end
    later.
    """
    if len(similarities) != max(0, len(sentences) - 1):
        raise ValueError(
            f"The number of similarities ({len(similarities)}) must be one less than the number of sentences "
            f"({len(sentences)})."
        )
    return _Chunker(sentences, similarities, params).chunks()


def timed_chunks(sentences: Sequence[Sentence], since: Sequence[float], seconds: float) -> tuple[Chunk, ...]:
    """Group the consecutive sentences of a recording into chunks of similar duration, of at most `seconds` each.

    `since` has the time at which each sentence starts, in seconds, and the time at which the last one ends. A sentence
    lasts until the next one starts. A sentence longer than `seconds` is a chunk of its own.
    """
    lasting = [
        evolve(each, words=round(max(0.0, after - before) * 1000))
        for each, (before, after) in zip(sentences, pairwise(since), strict=True)
    ]
    chunks: list[Chunk] = []
    for start, end in passages(lasting, round(seconds * 1000)):
        words = sum(each.words for each in sentences if start <= each.start < end)
        chunks.append(Chunk(start, end, words, Reason.MAX_SIZE if chunks else Reason.START, None))
    return tuple(chunks)


def sentences_of(chunk: Chunk, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """Return the sentences of the chunk. `sentences` are all the sentences of the text, in order."""
    first = bisect_left(sentences, chunk.start, key=lambda sentence: sentence.start)
    last = bisect_left(sentences, chunk.end, lo=first, key=lambda sentence: sentence.start)
    return sentences[first:last]


@frozen
class _Chunker:
    """Computes the chunks of a text. A border is the index of the first sentence of a chunk, or the number of
    sentences.
    """

    sentences: Sequence[Sentence]
    similarities: Sequence[float]
    params: ChunkingParams
    _before: list[int] = field(init=False)
    """The number of words before each sentence, followed by the total."""

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
        """Return the borders, changed if possible so that the last chunk has at least `min_words` words."""
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
