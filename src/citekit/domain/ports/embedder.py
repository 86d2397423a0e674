"""Defines the port for embedding models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent


class Embedder(Protocol):
    """An embedding model that turns texts into unit vectors.

    Vectors are in the order of the texts. The vector of a text does not depend on the other texts.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the model, which is loaded if necessary. Raises the same errors as `documents`."""

    @property
    def window(self) -> int:
        """The number of words that one vector represents well: the maximum length of a passage."""

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """Return one vector for each of `texts`, including texts without words.

        Raise `DriverMissing` if the required extra is not installed, `EmbedderUnavailable` if model files are missing
        or damaged or if the service failed or refused the request, or `Cancelled`.
        """

    def query(self, text: str) -> Vector:
        """Return the vector of a question. Raise the same errors as `documents`."""
