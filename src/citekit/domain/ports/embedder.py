"""Defines the port for embedding models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent


class Embedder(Protocol):
    """An embedding model that turns texts into unit vectors.

    Vectors are in the order of the texts. A text has the same vector whether it is embedded alone or with others.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the model, which is loaded if necessary. Raises the same errors as `documents`."""

    @property
    def window(self) -> int:
        """The number of words that one vector represents well, which is the maximum length of a passage."""

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """Return one vector for each of `texts`, including texts without words.

        Raise `DriverMissing` if the required extra is not installed, `EmbedderUnavailable` if model files are missing
        or damaged or if the service failed or refused the request, or `Cancelled`.
        """

    def query(self, text: str) -> Vector:
        """Return the vector of a question, for comparison with the vectors of passages.

        Raise the same errors as `documents`.
        """
