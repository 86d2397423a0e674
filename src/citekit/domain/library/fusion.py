"""Combines the results of vector search and word search into one ranking with scores comparable between queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import frozen

from citekit.domain.library.vectors import Found, Scored


@frozen
class Calibration:
    """The constants that convert the search results of an embedder to scores from 0 to 1.

    The evidence for a chunk is `weight` times the cosine of its best passage, plus the square of the share of the
    query's words that the chunk contains. Evidence of `middle` is scored 0.5, and `slope` is how steeply the score
    rises there. `middle` was measured so that, for nine of ten queries that the library cannot answer, the best result
    is below it; see docs/explanation/retrieval.md.
    """

    weight: float
    middle: float
    slope: float

    def score(self, evidence: float) -> float:
        """Return the score, from 0 to 1, for a chunk's `evidence`."""
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, self.slope * (evidence - self.middle)))))


WORDS_ALONE = Calibration(0.0, 0.20, 5.0)
"""The calibration for a query without a vector, or without results of the vector search."""

DEFAULT = Calibration(0.8, 0.42, 5.0)
"""The calibration for embedders that were not measured. It fits cosines near 0.1 for unrelated texts."""

_STATIC, _MINILM = "wordllama-l2-supercat", "all-minilm-l6-v2-int8"
_CALIBRATIONS: Mapping[frozenset[str], Calibration] = {
    frozenset({_STATIC}): Calibration(0.5, 0.33, 5.0),
    frozenset({_MINILM}): Calibration(0.6, 0.35, 5.0),
    frozenset({_STATIC, _MINILM}): Calibration(1.0, 0.45, 5.0),
}


def calibration_of(embedder: str) -> Calibration:
    """Return the calibration for an embedder name (`EmbedderIdentity.name`), or the default for an unknown name.

    The weights in the name of a combination, such as `a*0.4+b*0.6`, are ignored.
    """
    return _CALIBRATIONS.get(_parts(embedder), DEFAULT)


def _parts(embedder: str) -> frozenset[str]:
    return frozenset(part.partition("*")[0] for part in embedder.split("+"))


_SHARE = 0.65
"""The result of `share_of` for an embedder that is neither in `_CALIBRATIONS` nor the hashing embedder.

It was chosen on questions in English, German, and Spanish about English books; see docs/explanation/retrieval.md.
"""

_NEAREST = 1e-4
"""The minimum distance of the scores in `mixed` from 0 and 1, so that one score does not outweigh the other."""


def share_of(embedder: str) -> float:
    """Return how much the score of the vector index counts for chunks on ranked pages, from 0 to 1.

    The embedders in `_CALIBRATIONS` and the hashing embedder add nothing to the ranking of pages, which uses words and
    static vectors of English. Other embedders may match a question with a book in another language.
    """
    return 0.0 if _parts(embedder) in _CALIBRATIONS or embedder.startswith("hashing") else _SHARE


def mixed(page: float, chunk: float, share: float) -> float:
    """Return the weighted mean of the log odds of both scores, as a score."""
    odds = (1 - share) * _log_odds(page) + share * _log_odds(chunk)
    return 1 / (1 + math.exp(-odds))


def _log_odds(score: float) -> float:
    score = min(max(score, _NEAREST), 1 - _NEAREST)
    return math.log(score / (1 - score))


@frozen
class Ranked:
    """A chunk in a ranking of search results.

    `group` is the ID of the chunk. `passage` is the ID of the chunk's best passage, and `dense` is the cosine of that
    passage; both are None if the vector search found no passage of the chunk. `lexical` is the share, from 0 to 1, of
    the query's words that the chunk contains, or None if the word search did not find the chunk.
    """

    group: str
    score: float
    passage: str | None
    dense: float | None
    lexical: float | None


def fuse(found: Found, limit: int, calibration: Calibration = DEFAULT) -> tuple[Ranked, ...]:
    """Return the `limit` best chunks from the vector and word results in `found`, best first.

    Equal evidence is sorted by ID. A chunk that only the word search found is given the lowest cosine among the vector
    results.
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
    """Return the result with the highest score for each group. Of equal scores, the one with the lowest ID counts."""
    best: dict[str, Scored] = {}
    for each in scored:
        held = best.get(each.group)
        if held is None or (-each.score, each.id) < (-held.score, held.id):
            best[each.group] = each
    return best


def _share(chunk: Scored | None, found: Found) -> float | None:
    """Return the chunk's word score as a share of the highest that the query allows. Unknown query words count as
    missing.
    """
    if chunk is None:
        return None
    return min(1.0, chunk.score / found.ceiling) * found.known if found.ceiling > 0 else 0.0
