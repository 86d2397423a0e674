"""Whether a score means what it says: scores of relevant hits, and the best scores of questions that have no answer here."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.retrieval.searching import Searcher
from benchmarks.retrieval.truth import Query, Truth
from citekit.domain.library.fusion import Calibration, Ranked

SAMPLE = 40
SEED = 7
THRESHOLD = 0.5
DECILES = tuple(number / 10 for number in range(1, 10))


def measured(truths: Sequence[Truth], searchers: Mapping[str, Searcher], calibration: Calibration) -> dict[str, Any]:
    """Both distributions, and the `slope` and `middle` that logistic regression would choose."""
    tuned = [each for each in truths if each.tuned]
    asked = {each.name: _sample(each) for each in tuned}
    relevant: list[Ranked] = []
    best: list[Ranked] = []
    foreign: list[Ranked] = []
    for each in tuned:
        for query in asked[each.name]:
            hits = searchers[each.name].search(query.text).both
            best += hits[:1]
            relevant += [hit for hit in hits if hit.group in query.relevant]
        for query in _foreign(asked, each.name):
            foreign += searchers[each.name].search(query.text).both[:1]
    return {
        "relevant hits": _distribution(relevant),
        "best hits, answerable": _distribution(best),
        "best hits, foreign topics": _distribution(foreign),
        "fit": _fitted(_evidence(relevant, calibration), _evidence(foreign, calibration)),
    }


def _sample(each: Truth) -> list[Query]:
    """Some of the index entries or tags of several words, and all questions of our own."""
    pool = list(each.sets.get("multi", each.sets["all"]))
    return random.Random(SEED).sample(pool, min(SAMPLE, len(pool))) + list(each.sets.get("questions", ()))


def _foreign(asked: Mapping[str, list[Query]], here: str) -> list[Query]:
    """Questions of the other corpora; of books of one family the text could answer them, and those are left out."""
    family = here.split("-")[0]
    others = [query for name, queries in asked.items() if name.split("-")[0] != family for query in queries]
    return random.Random(SEED).sample(others, min(50, len(others)))


def _distribution(hits: Sequence[Ranked]) -> dict[str, Any]:
    scores = sorted(hit.score for hit in hits)
    return {
        "count": len(scores),
        "deciles": [round(scores[int(each * len(scores))], 3) for each in DECILES],
        "at least 0.5": round(sum(score >= THRESHOLD for score in scores) / len(scores), 3),
    }


def _evidence(hits: Sequence[Ranked], calibration: Calibration) -> list[float]:
    """What the scores were made of."""
    logits = (math.log(hit.score / (1 - hit.score)) for hit in hits if 0 < hit.score < 1)
    return [calibration.middle + logit / calibration.slope for logit in logits]


def _fitted(good: Sequence[float], bad: Sequence[float]) -> dict[str, float]:
    """Logistic regression by gradient descent; both classes weigh the same."""
    slope = offset = 0.0
    for _ in range(3000):
        errors = [(1 - _sigmoid(slope * each + offset), each, len(good)) for each in good]
        errors += [(-_sigmoid(slope * each + offset), each, len(bad)) for each in bad]
        slope += math.fsum(error * each / count for error, each, count in errors)
        offset += math.fsum(error / count for error, _, count in errors)
    return {"slope": round(slope, 2), "middle": round(-offset / slope, 3)}


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def show(scores: Mapping[str, Any]) -> None:
    """Deciles of the scores, and how many pass the threshold."""
    for name, of_kind in scores.items():
        print(f"\n  scores with {name:20} {'n':>5}  deciles 0.1 to 0.9 {'':36} {'>= 0.5':>7}")
        for kind, one in of_kind.items():
            if kind != "fit":
                deciles = " ".join(f"{value:.2f}" for value in one["deciles"])
                print(f"    {kind:27} {one['count']:5}  {deciles:56} {one['at least 0.5']:7.2f}")
        print(f"    fit {of_kind['fit']}")
