"""Measures how similar neighboring sentences are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import field, frozen

from citekit.domain.library.sentences import Sentence, sentences
from citekit.domain.library.similarity import adjacent, on_one_scale
from citekit.domain.ports.embedder import Embedder
from citekit.domain.ports.sentence_splitter import SentenceSplitter
from citekit.domain.progress import Progress, silent

BATCH = 1000
"""The number of sentences whose vectors are in memory at once."""


@frozen
class Cohesion:
    """The sentences of a text, and the similarity between each sentence and the next.

    The scale from 0 to 1 is comparable between languages and embedders (see `on_one_scale`).
    """

    sentences: tuple[Sentence, ...] = field(repr=False, converter=tuple[Sentence, ...])
    similarities: tuple[float, ...] = field(repr=False, converter=tuple[float, ...])


@frozen
class MeasureCohesion:
    """Measures the similarity of neighboring sentences by their vectors."""

    splitter: SentenceSplitter
    similarity: Embedder

    def __call__(
        self,
        text: str,
        language: str | None,
        max_words: int,
        progress: Progress = silent,
        borders: Sequence[int] = (),
    ) -> Cohesion:
        """Return the sentences of `text` and the similarity of each sentence to the next.

        Sentences of more than `max_words` words are split. A sentence also begins at each of `borders` (character
        offsets in increasing order). Raise the errors of `SentenceSplitter.starts` and `Embedder.documents`.
        """
        starts = self.splitter.starts(text, language)
        found = sentences(text, sorted({*starts, *borders}) if borders else starts, max_words)
        return Cohesion(found, on_one_scale(list(self._similarities(text, found, progress))))

    def _similarities(self, text: str, found: Sequence[Sentence], progress: Progress) -> Iterator[float]:
        for first in range(0, max(0, len(found) - 1), BATCH):
            progress(first, len(found), "comparing sentences")
            batch = found[first : first + BATCH + 1]
            vectors = self.similarity.documents([text[each.start : each.end].strip() for each in batch])
            yield from adjacent(vectors)
