"""An embedder that combines several embedders."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import partial

from attrs import field, frozen

from citekit.domain.errors import RequestRefused
from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.ports.embedder import Embedder
from citekit.domain.progress import Progress, silent


@frozen
class JoinedEmbedder:
    """An embedder that concatenates the vectors of several embedders. `parts` are (embedder, weight) pairs.

    Each vector is scaled by the square root of its relative weight, so that the cosine of two combined vectors is the
    weighted mean of the cosines of the parts. The constructor raises `RequestRefused` if there are no parts, or if a
    weight is not finite or not greater than 0.
    """

    parts: tuple[tuple[Embedder, float], ...] = field(converter=tuple[tuple[Embedder, float], ...])

    def __attrs_post_init__(self) -> None:
        if not self.parts or not all(0 < weight < math.inf for _, weight in self.parts):
            raise RequestRefused(
                "A combination needs at least one embedder, and all weights must be above 0 and finite."
            )

    @property
    def identity(self) -> EmbedderIdentity:
        """The names, versions, and relative weights of the combined embedders."""
        known = [(part.identity, share) for part, share in self._shares()]
        return EmbedderIdentity(
            "+".join(f"{who.name}*{share:.3g}" for who, share in known),
            "+".join(who.version for who, _ in known),
            sum(who.dimensions for who, _ in known),
        )

    @property
    def window(self) -> int:
        """The number of words per passage: the smallest of the embedders' windows."""
        return min(part.window for part, _ in self.parts)

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """See `Embedder.documents`."""
        columns = [
            part.documents(texts, partial(_within, progress, number, len(self.parts)))
            for number, (part, _) in enumerate(self.parts)
        ]
        return [self._joined(row) for row in zip(*columns, strict=True)]

    def query(self, text: str) -> Vector:
        """See `Embedder.query`."""
        return self._joined([part.query(text) for part, _ in self.parts])

    def _shares(self) -> list[tuple[Embedder, float]]:
        total = math.fsum(weight for _, weight in self.parts)
        return [(part, weight / total) for part, weight in self.parts]

    def _joined(self, vectors: Sequence[Vector]) -> Vector:
        joined = array("f")
        for (_, share), vector in zip(self._shares(), vectors, strict=True):
            scale = math.sqrt(share)
            joined.extend([scale * value for value in vector])
        return joined


def _within(
    progress: Progress, number: int, parts: int, done: float, total: float | None = None, message: str = ""
) -> None:
    """Report the progress of embedder `number` (from 0) of `parts` embedders as progress of the whole."""
    whole = None if total is None else total * parts
    progress(done if total is None else number * total + done, whole, message)
