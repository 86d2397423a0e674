"""An embedder without a model, which assigns words to dimensions by hashing."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from attrs import field, frozen
from attrs.validators import ge

from citekit.adapters.search.embedders.texts import plain
from citekit.adapters.search.embedders.vectors import unit
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent

_WORD = re.compile(r"\w+")
_STEM = 6
"""Number of leading characters of a word that are used, which removes endings in most inflected languages."""


@frozen
class HashingEmbedder:
    """An embedder without a model, using feature hashing (Weinberger et al., 2009) of word stems.

    Each word stem adds to or subtracts from one dimension of the vector. Texts with common words are similar; meaning
    is not considered.
    """

    dimensions: int = field(default=512, validator=ge(2))

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the algorithm."""
        return EmbedderIdentity("hashing", "1", self.dimensions)

    @property
    def window(self) -> int:
        """The number of words per passage: 200. In longer passages, too many words would share a dimension."""
        return 200

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """See `Embedder.documents`."""
        found = []
        for number, text in enumerate(texts):
            if number % 256 == 0:
                progress(number, len(texts), "embedding")
            found.append(self.query(text))
        return found

    def query(self, text: str) -> Vector:
        """See `Embedder.query`. A document with the same text has the same vector."""
        sums = array("d", bytes(8 * self.dimensions))
        counts = Counter(match[0][:_STEM].casefold() for match in _WORD.finditer(plain(text)))
        for stem, count in counts.items():
            number = _hashed(stem)
            weight = 1 + math.log(count)
            sums[(number >> 1) % self.dimensions] += weight if number & 1 else -weight
        return unit(sums, "The hashing")


@lru_cache(maxsize=1 << 16)
def _hashed(stem: str) -> int:
    return int.from_bytes(blake2b(stem.encode(), digest_size=8).digest())
