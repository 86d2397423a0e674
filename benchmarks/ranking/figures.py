"""What a list of ranked pages is worth, with bootstrap intervals."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from attrs import frozen

TOP = 5
_SAMPLES = 1000


@frozen
class Outcome:
    """For one question: whether a page that answers it is first, and among the first five; the share of such pages there;
    whether the right document is first; and the time in seconds."""

    first: float
    top: float
    recall: float
    document: float
    seconds: float


def row(name: str, outcomes: Sequence[Outcome]) -> str:
    """A row of a Markdown table, with the 95% interval of hit@5."""
    low, high = _interval([each.top for each in outcomes])
    means = [
        statistics.fmean(getattr(each, field) for each in outcomes) for field in ("first", "top", "recall", "document")
    ]
    median = 1000 * statistics.median(each.seconds for each in outcomes)
    first, top, recall, document = means
    return (
        f"| {name} | {len(outcomes)} | {first:.2f} | {top:.2f} ({low:.2f} to {high:.2f}) | {recall:.2f} | {document:.2f} |"
        f" {median:.0f} |"
    )


HEAD = (
    "| ranking | questions | page first | hit@5 (95%) | recall@5 | document first | ms p50 |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    chance = random.Random(7)  # a fixed seed, for the same interval each time
    means = sorted(statistics.fmean(chance.choices(values, k=len(values))) for _ in range(_SAMPLES))
    return means[int(0.025 * _SAMPLES)], means[int(0.975 * _SAMPLES)]
