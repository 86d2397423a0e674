"""The reranker that keeps the ranking by features."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from citekit.domain.ports.reranker import PageCandidate
from citekit.domain.progress import Progress, silent


@frozen
class FeatureReranker:
    """A `Reranker` that returns the scores by features unchanged."""

    name: str = "features"

    def scores(  # a port's parameters have the same names everywhere
        self,
        question: str,  # noqa: ARG002
        pages: Sequence[PageCandidate],
        progress: Progress = silent,  # noqa: ARG002
    ) -> Sequence[float]:
        """See `Reranker.scores`."""
        return [page.score for page in pages]
