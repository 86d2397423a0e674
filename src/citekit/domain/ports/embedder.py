"""The port for embedding models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent


class Embedder(Protocol):
    """Turns texts into unit vectors, in order. The same text has the same vector, alone or in a batch."""

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the model. May load the model. Raises the same errors as `documents`."""

    @property
    def window(self) -> int:
        """The number of words that one vector represents well. Passages have this length."""

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """Return a vector for each passage, including passages without words.

        Raises `DriverMissing` (the extra is not installed), `EmbedderUnavailable` (model files are missing or damaged,
        or the service failed or refused), `RequestRefused`, and `Cancelled`.
        """

    def query(self, text: str) -> Vector:
        """Return the vector of a question, to compare with those of passages. Raises the same errors as `documents`."""
