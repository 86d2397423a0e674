"""Combines vector results and word results into one ranking, with scores that are comparable between queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import frozen

from citekit.domain.library.vectors import Found, Scored


@frozen
class Calibration:
    """How the cosines of an embedder are converted to scores.

    The evidence for a chunk is the square of the share of the query's words that it contains, plus `weight` times the
    cosine of its best passage. For nine of ten queries that the library cannot answer, the best hit is below `middle`.
    `slope` is how fast the score changes there. Measured in docs/explanation/retrieval.md.
    """

    weight: float
    middle: float
    slope: float

    def score(self, evidence: float) -> float:
        """Return a score from 0 to 1; 0.5 at `middle`."""
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, self.slope * (evidence - self.middle)))))


WORDS_ALONE = Calibration(0.0, 0.20, 5.0)
"""For queries without a vector."""

DEFAULT = Calibration(0.8, 0.42, 5.0)
"""For embedders without measurements. It fits those whose cosines of unrelated texts are near 0.1."""

_STATIC, _MINILM = "wordllama-l2-supercat", "all-minilm-l6-v2-int8"
_CALIBRATIONS: Mapping[frozenset[str], Calibration] = {
    frozenset({_STATIC}): Calibration(0.5, 0.33, 5.0),
    frozenset({_MINILM}): Calibration(0.6, 0.35, 5.0),
    frozenset({_STATIC, _MINILM}): Calibration(1.0, 0.45, 5.0),
}


def calibration_of(embedder: str) -> Calibration:
    """Return the calibration of an embedder by its name (`EmbedderIdentity.name`), or by the parts of a joined one
    (`a*0.4+b*0.6`).
    """
    parts = frozenset(part.partition("*")[0] for part in embedder.split("+"))
    return _CALIBRATIONS.get(parts, DEFAULT)


@frozen
class Ranked:
    """A ranked chunk. `score` is from 0 to 1, and comparable between queries.

    `passage` is the ID of its best passage and `dense` the cosine of that passage; both are None if no passage is among
    the nearest. `lexical` is the share of the query's words that the chunk contains, from 0 to 1, or None if it is not
    among the best by words.
    """

    group: str
    score: float
    passage: str | None
    dense: float | None
    lexical: float | None


def fuse(found: Found, limit: int, calibration: Calibration = DEFAULT) -> tuple[Ranked, ...]:
    """Return the best `limit` chunks, best first. Equal scores are sorted by group.

    A chunk without passages among the results gets the lowest of their cosines, which is an upper limit for it.
    """
    if not found.dense:
        calibration = WORDS_ALONE
    passages = _best_by_group(found.dense)
    chunks = _best_by_group(found.lexical)
    farthest = min((passage.score for passage in found.dense), default=0.0)
    evidence: dict[str, float] = {}
    ranked = []
    for group in passages.keys() | chunks.keys():
        passage, share = passages.get(group), _share(chunks.get(group), found)
        cosine = passage.score if passage else farthest
        evidence[group] = (share or 0.0) ** 2 + calibration.weight * max(0.0, cosine)
        ranked.append(_ranked(group, calibration.score(evidence[group]), passage, share))
    return tuple(sorted(ranked, key=lambda each: (-evidence[each.group], each.group))[: max(0, limit)])


def _ranked(group: str, score: float, passage: Scored | None, share: float | None) -> Ranked:
    return Ranked(group, score, passage.id if passage else None, passage.score if passage else None, share)


def _best_by_group(scored: Sequence[Scored]) -> dict[str, Scored]:
    """Return the entry with the highest score in each group; of equal scores, the first by ID."""
    best: dict[str, Scored] = {}
    for each in scored:
        held = best.get(each.group)
        if held is None or (-each.score, each.id) < (-held.score, held.id):
            best[each.group] = each
    return best


def _share(chunk: Scored | None, found: Found) -> float | None:
    """Return the share of the query's possible score; words that occur nowhere in the library count as missing."""
    if chunk is None:
        return None
    return min(1.0, chunk.score / found.ceiling) * found.known if found.ceiling > 0 else 0.0
