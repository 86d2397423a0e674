"""Turns texts into vectors that are near where the texts mean alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.library.vectors import EmbedderIdentity, Vector
from citekit.domain.progress import Progress, silent


class Embedder(Protocol):
    """One unit vector for each text, in order; the same text gives the same vector, alone or in a batch."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Whose vectors these are. May load the model. Raises as `documents` does."""

    @property
    def window(self) -> int:
        """How many words of a text are surely taken notice of, and fit one vector well: passages are made this long."""

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        """A vector for each passage. A text without any word has one too.

        Raises `DriverMissing` (the extra is not installed), `EmbedderUnavailable` (model files are missing or are not what
        they should be, the service failed or refused), `RequestRefused`, `Cancelled`.
        """

    def query(self, text: str) -> Vector:
        """The vector of a question, to be compared with those of passages. Raises as `documents` does."""
