"""Fits the weights of the ranking to questions whose pages are known, with a listwise softmax.

The loss of a question is the negative logarithm of the share of the softmax over the pages of the document that falls on the
pages that answer it. Each set of questions counts the same, however large it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import astuple, fields
from numpy.typing import NDArray

from benchmarks.ranking.questions import Question
from benchmarks.ranking.rankings import pages_of
from citekit.application.index_ranking import IndexRanking
from citekit.container import Container
from citekit.domain.ranking.features import Features, first_stage, second_stage
from citekit.domain.ranking.question import parse_question

Matrix = NDArray[np.float64]

NAMES = [each.name for each in fields(Features)]
SECOND_STAGE = ("pairs", "whole_words", "passage")
BY_MEANING = ("similarity", "sentence_similarity")
RULED = ("reference", "contents")
"""Weights that are set by hand, because too few questions of the sets depend on them."""

STEPS, RATE, SHRINKING = 200, 0.5, 0.01


def examples(app: Container, questions: Sequence[Question], names: Mapping[str, str]) -> list[tuple[Matrix, Matrix]]:
    """For each question with an answer: the features of each page, and 1 for each page that answers it."""
    index: IndexRanking = app.rank_pages.index
    found = []
    for question in questions:
        ready = index.unless_known(app.maps.get(names[question.document]))
        asked, document = parse_question(question.text), ready.document
        vector = index.embedder.query(asked.meaning or asked.text) if index.embedder is not None else None
        stage = first_stage(asked, document.index, document.similarities(vector) if vector is not None else None)
        pages = pages_of(ready, app)
        rows = [second_stage(stage, at, page[2]) for at, page in enumerate(pages)]
        right = [float(question.is_answered_by(number, text)) for _, number, text in pages]
        if 0 < sum(right) < len(right):
            found.append((np.array([astuple(row) for row in rows]), np.array(right)))
    return found


def fitted(sets: Mapping[str, Sequence[tuple[Matrix, Matrix]]], without: Sequence[str] = ()) -> dict[str, float]:
    """The weights that fit the sets of examples best, without some features."""
    free = np.array([float(name not in (*without, *RULED)) for name in NAMES])
    weights, mean, square = (np.zeros(len(NAMES)) for _ in range(3))
    for step in range(1, STEPS + 1):
        slopes = [
            np.mean([_slope(rows, right, weights) for rows, right in each], axis=0) for each in sets.values() if each
        ]
        slope = (np.mean(slopes, axis=0) - SHRINKING * weights) * free
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights += RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return {name: round(float(weight), 1) for name, weight in zip(NAMES, weights, strict=True) if weight}


def _slope(rows: Matrix, right: Matrix, weights: Matrix) -> Matrix:
    scores = rows @ weights
    shares = np.exp(scores - scores.max())
    wanted = shares * right
    slope: Matrix = rows.T @ (wanted / wanted.sum() - shares / shares.sum())
    return slope
