"""Defines the port for rerankers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attrs import field, frozen

from citekit.domain.progress import Progress, silent


@frozen
class PageCandidate:
    """A page that may answer a question. `score`, from 0 to 1, is its score before reranking."""

    text: str = field(repr=False)
    score: float


class Reranker(Protocol):
    """Compares a question with the texts of the best pages. Thread-safe."""

    @property
    def name(self) -> str:
        """The model and its service or folder, for the user."""

    def scores(self, question: str, pages: Sequence[PageCandidate], progress: Progress = silent) -> Sequence[float]:
        """Return how likely each page is to answer the question, from 0 to 1, in the order of `pages`.

        The score of a page may depend on the other pages. Raise `DriverMissing` if the required extra is not installed,
        `RerankerUnavailable` if model files are missing or damaged, or if the service failed or refused the request, or
        `Cancelled`.
        """
