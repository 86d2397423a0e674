"""An answer from what an engine gave: the best entries, and how well each word does alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from citekit.domain.library.vectors import Found, Scored, SparseVector


def found_of(answers: Mapping[str, Sequence[Scored]], words: SparseVector, alone: Sequence[float | None]) -> Found:
    """`answers` are `dense` and `lexical`; `alone` is for each word the best score it reaches, None where no entry has it.

    Engines sum 32-bit floats; where rounding lifts a sum above the ceiling, the ceiling is lifted, too.
    """
    lexical = answers.get("lexical", ())
    ceiling = math.fsum(score for score in alone if score is not None)
    whole = math.fsum(words.values)
    known = math.fsum(value for value, score in zip(words.values, alone, strict=True) if score is not None)
    return Found(
        answers.get("dense", ()),
        lexical,
        max([ceiling, *(hit.score for hit in lexical[:1])]),
        min(1.0, known / whole) if whole else 1.0,
    )


def best_alone(replies: Sequence[Sequence[Scored]]) -> list[float | None]:
    """The best score of each of the replies, None for one without any."""
    return [reply[0].score if reply else None for reply in replies]
