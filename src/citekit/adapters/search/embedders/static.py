"""An embedder with static vectors: the vector of a text is the mean of the vectors of its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from citekit.adapters.libraries import wordllama
from citekit.adapters.libraries.model_files import imported
from citekit.adapters.search.embedders.texts import plain
from citekit.adapters.search.embedders.vectors import units
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 256
_BATCH_CHARACTERS = 1 << 20
_ROWS = 4096
"""Maximum number of tokens whose vectors are looked up at a time: 4 MB."""


@frozen
class StaticEmbedder:
    """An embedder that uses WordLlama's `l2_supercat` vectors of 256 dimensions, from its wheel (MIT).

    They are for English and, to some extent, for other languages in Latin script. The longer a text is, the more its
    mean resembles that of other texts, so passages have only 80 words.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the weights and the pooling. Getting it does not load the vectors."""
        return EmbedderIdentity("wordllama-l2-supercat", f"{wordllama.WEIGHTS[:12]}.1", wordllama.DIMENSIONS)

    @property
    def window(self) -> int:
        """The number of words per passage: 80."""
        return 80

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """See `Embedder.documents`."""
        found: list[Vector] = []
        for batch in _batches(texts):
            found += _embed(wordllama.load().rows(), batch)
            progress(len(found), len(texts), "embedding")
        return found

    def query(self, text: str) -> Vector:
        """See `Embedder.query`. A document with the same text has the same vector."""
        return _embed(wordllama.load().stored, [text])[0]


def _embed(rows: NDArray[np.floating[Any]], texts: Sequence[str]) -> list[Vector]:
    numpy: Any = imported("numpy", wordllama.WHAT, wordllama.EXTRA)
    encoded = wordllama.load().tokenizer.encode_batch_fast([plain(text) for text in texts], add_special_tokens=False)
    sums = numpy.stack([_sum(numpy, rows, each.ids) for each in encoded])
    return units(sums, "The static model")


def _sum(numpy: Any, rows: NDArray[np.floating[Any]], ids: list[int]) -> NDArray[np.float32]:
    """Return the sum of the vectors of the tokens `ids`, which has the same direction as the mean."""
    total: NDArray[np.float32] = numpy.zeros(rows.shape[1], numpy.float32)
    for start in range(0, len(ids), _ROWS):
        total += rows[ids[start : start + _ROWS]].astype(numpy.float32, copy=False).sum(axis=0)
    return total


def _batches(texts: Sequence[str]) -> Iterable[Sequence[str]]:
    start = size = 0
    for number, text in enumerate(texts):
        if number > start and (number - start >= _BATCH or size + len(text) > _BATCH_CHARACTERS):
            yield texts[start:number]
            start, size = number, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]
