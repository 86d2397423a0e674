"""Brings what was found by meaning and by words into one ranking, with a score that means the same for every question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import frozen

from citekit.domain.library.vectors import Found, Scored


@frozen
class Calibration:
    """How the cosines of an embedder are read.

    The evidence for a chunk is the square of the share of the question's words that it answers, plus `weight` times the
    cosine of its best passage. Nine of ten questions that the library cannot answer have a best hit below `middle`;
    `slope` says how fast the score changes there. Measured in docs/explanation/retrieval.md.
    """

    weight: float
    middle: float
    slope: float

    def score(self, evidence: float) -> float:
        """A number from 0 to 1; 0.5 at the middle."""
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, self.slope * (evidence - self.middle)))))


WORDS_ALONE = Calibration(0.0, 0.20, 5.0)
"""Where the question had no vector."""

DEFAULT = Calibration(0.8, 0.42, 5.0)
"""For embedders that were not measured; fits those whose cosines of unlike texts are near 0.1."""

_STATIC, _MINILM = "wordllama-l2-supercat", "all-minilm-l6-v2-int8"
_CALIBRATIONS: Mapping[frozenset[str], Calibration] = {
    frozenset({_STATIC}): Calibration(0.5, 0.33, 5.0),
    frozenset({_MINILM}): Calibration(0.6, 0.35, 5.0),
    frozenset({_STATIC, _MINILM}): Calibration(1.0, 0.45, 5.0),
}


def calibration_of(embedder: str) -> Calibration:
    """That of the embedder of this name (`EmbedderIdentity.name`); of a joined one (`a*0.4+b*0.6`) by its parts."""
    parts = frozenset(part.partition("*")[0] for part in embedder.split("+"))
    return _CALIBRATIONS.get(parts, DEFAULT)


@frozen
class Ranked:
    """A chunk that was found: `score` from 0 to 1, higher is better, and comparable between questions.

    `passage` is the id of its best passage and `dense` that one's cosine, both None where no passage was among the nearest;
    `lexical` is the share of the question's words that the chunk answers, 0 to 1, None where it was not among the best.
    """

    group: str
    score: float
    passage: str | None
    dense: float | None
    lexical: float | None


def fuse(found: Found, limit: int, calibration: Calibration = DEFAULT) -> tuple[Ranked, ...]:
    """The best `limit` chunks, best first, equal scores by group.

    A chunk whose passages are not among the found ones is taken to be as near as the farthest of these, which it is at most.
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
    """Of each group the entry of the highest score, of equal ones the first by id."""
    best: dict[str, Scored] = {}
    for each in scored:
        held = best.get(each.group)
        if held is None or (-each.score, each.id) < (-held.score, held.id):
            best[each.group] = each
    return best


def _share(chunk: Scored | None, found: Found) -> float | None:
    """Of what the question's words could score, counting those that stand nowhere in the library as not answered."""
    if chunk is None:
        return None
    return min(1.0, chunk.score / found.ceiling) * found.known if found.ceiling > 0 else 0.0
