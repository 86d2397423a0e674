"""Compares the chunks that several similarity thresholds would produce for a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean, median

from attrs import field, frozen

from citekit.application.library.cohesion import Cohesion, MeasureCohesion
from citekit.application.library.document_text import read_text
from citekit.domain.errors import RequestRefused
from citekit.domain.library.books import BookFacts
from citekit.domain.library.chunking import Chunk, ChunkingParams, Reason, chunked, sentences_of
from citekit.domain.phrases import counted
from citekit.domain.ports.embedder import Embedder
from citekit.domain.ports.library_reader import LibraryReader
from citekit.domain.ports.sentence_splitter import SentenceSplitter
from citekit.domain.ports.sources import Sources
from citekit.domain.progress import Progress, silent

THRESHOLDS = (0.40, 0.45, 0.50, 0.55, 0.60)
LEAST_SENTENCES = 10
FORCED_COST = 20
"""The score penalty for a chunk that ended because it was full. A coherence of 1 is worth 100."""

SAMPLES = 3
SHOWN = 80
"""The number of characters that are shown on each side of a sample break."""


@frozen
class Distribution:
    """The minimum, maximum, mean, and median of the similarities of neighboring sentences in a text."""

    least: float
    most: float
    mean: float
    median: float


@frozen
class SampleBreak:
    """An example of a boundary between two chunks.

    `index` is the index, from 0, of the sentence that begins the second chunk, and `similarity` is the similarity of
    this sentence to the previous one. `before` and `after` are excerpts of the text.
    """

    index: int
    similarity: float
    reason: Reason
    before: str
    after: str


@frozen(kw_only=True)
class Comparison:
    """The chunking that results from one threshold.

    `coherence` is the mean similarity of neighboring sentences within the same chunk (1 if no chunk has several).
    `semantic_breaks` counts the chunks that begin because of a low similarity, and `forced_breaks` those after a full
    chunk.
    """

    threshold: float
    chunks: int
    average_words: float
    least_words: int
    most_words: int
    coherence: float
    semantic_breaks: int
    forced_breaks: int
    sample_breaks: Sequence[SampleBreak] = field(converter=tuple[SampleBreak, ...])

    @property
    def score(self) -> float:
        """The coherence times 100, minus `FORCED_COST` for each forced break. Higher is better."""
        return self.coherence * 100 - self.forced_breaks * FORCED_COST


@frozen(kw_only=True)
class ComparedChunking:
    """The comparison of several thresholds, in increasing order, for the file at `path`.

    The best one has the highest score, and the lowest threshold among equal scores.
    """

    path: Path
    facts: BookFacts
    total_sentences: int
    total_words: int
    similarities: Distribution
    comparisons: Sequence[Comparison] = field(converter=tuple[Comparison, ...])

    @property
    def best(self) -> Comparison:
        """The best comparison."""
        return max(self.comparisons, key=lambda comparison: comparison.score)

    @property
    def recommendation(self) -> float:
        """The recommended threshold."""
        return self.best.threshold

    @property
    def reason(self) -> str:
        """Why the threshold is recommended.

        The contract fixes the words. The highest score decides, not the coherence alone.
        """
        best = self.best
        if not best.forced_breaks:
            return f"Highest coherence ({best.coherence:.3f}) with pure semantic breaks"
        breaks = counted(best.forced_breaks, "forced break")
        return f"Best coherence ({best.coherence:.3f}) but {breaks} - consider increasing max_chunk_size"


@frozen
class CompareChunking:
    """Reads a file once and splits its text into chunks with each threshold in `THRESHOLDS`."""

    sources: Sources
    reader: LibraryReader
    splitter: SentenceSplitter
    embedder: Embedder

    def __call__(
        self,
        path: Path,
        *,
        min_words: int = 200,
        max_words: int = 1200,
        language: str | None = None,
        progress: Progress = silent,
    ) -> ComparedChunking:
        """Return the comparison of the thresholds for the file at `path`.

        `min_words` and `max_words` limit the size of a chunk. `language` is an ISO 639 code; the default is that in the
        file's metadata. Raise `RequestRefused` if the text has fewer than `LEAST_SENTENCES` sentences or the chunk
        sizes are invalid, `SourceUnsupported` if text cannot be read from the format, and the errors of the ports.
        """
        every = [ChunkingParams(threshold, min_words, max_words) for threshold in THRESHOLDS]
        found = read_text(self.sources, self.reader, path)
        facts, text = found.facts, found.text
        cohesion = MeasureCohesion(self.splitter, self.embedder)(text, language or facts.language, max_words, progress)
        count = len(cohesion.sentences)
        if count < LEAST_SENTENCES:
            raise RequestRefused(f"Not enough sentences ({count}) for comparison")
        return ComparedChunking(
            path=found.path,
            facts=facts,
            total_sentences=count,
            total_words=sum(sentence.words for sentence in cohesion.sentences),
            similarities=_distribution(cohesion.similarities),
            comparisons=[_comparison(text, cohesion, params) for params in every],
        )


def _distribution(values: Sequence[float]) -> Distribution:
    return Distribution(min(values), max(values), fmean(values), median(values))


def _comparison(text: str, cohesion: Cohesion, params: ChunkingParams) -> Comparison:
    chunks = chunked(cohesion.sentences, cohesion.similarities, params)
    words = [chunk.words for chunk in chunks]
    inside = list(_inside(cohesion, chunks))
    reasons = [chunk.reason for chunk in chunks]
    return Comparison(
        threshold=params.threshold,
        chunks=len(chunks),
        average_words=fmean(words),
        least_words=min(words),
        most_words=max(words),
        coherence=fmean(inside) if inside else 1.0,
        semantic_breaks=reasons.count(Reason.SEMANTIC),
        forced_breaks=reasons.count(Reason.MAX_SIZE),
        sample_breaks=islice(_breaks(text, cohesion, chunks), SAMPLES),
    )


def _inside(cohesion: Cohesion, chunks: Sequence[Chunk]) -> Iterator[float]:
    """Yield the similarity of each pair of neighboring sentences that are in the same chunk."""
    begins = {chunk.start for chunk in chunks}
    following = cohesion.sentences[1:]
    pairs = zip(following, cohesion.similarities, strict=True)
    return (similarity for sentence, similarity in pairs if sentence.start not in begins)


def _breaks(text: str, cohesion: Cohesion, chunks: Sequence[Chunk]) -> Iterator[SampleBreak]:
    index = 0
    for chunk in chunks:
        if chunk.similarity is not None:
            before, after = text[max(0, chunk.start - 4 * SHOWN) : chunk.start], text[chunk.start : chunk.end]
            shown = (_flat(before)[-SHOWN:].lstrip(), _flat(after[: 4 * SHOWN])[:SHOWN].rstrip())
            yield SampleBreak(index, chunk.similarity, chunk.reason, *shown)
        index += len(sentences_of(chunk, cohesion.sentences))


def _flat(text: str) -> str:
    return " ".join(text.split())
