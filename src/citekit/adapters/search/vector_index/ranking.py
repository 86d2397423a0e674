"""Selects the best k entries from an engine's results, and records the best score for each single word.

Engines order entries with equal scores arbitrarily. Therefore, more than k entries are requested, in steps, until the
last score differs from the k-th. Equal scores are then sorted by ID.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from citekit.adapters.search.vector_index.entry_rules import is_never
from citekit.domain.library.vectors import Found, Question, Scored, SparseVector, Vector, Where

Request = object
"""A search request in the type that an engine expects."""

Reply = Sequence[object]
"""The points that an engine returns for one request."""


class Requests(Protocol):
    """Creates the requests for an engine, and reads its replies."""

    def dense(self, vector: Vector, where: Where, limit: int) -> Request:
        """Return the search by vector for the best `limit` entries that match `where`."""

    def lexical(self, words: SparseVector, where: Where, limit: int) -> Request:
        """Return the search by words for the best `limit` entries that match `where`."""

    def single(self, word: int, weight: float) -> Request:
        """Return the search for the best entry by one word."""

    def scored(self, points: Reply) -> Sequence[Scored]:
        """Return the IDs and scores of points, best first."""


def answer(requests: Requests, batch: Callable[[Sequence[Request]], Sequence[Reply]], question: Question) -> Found:
    """Return the best entries by vector and by words, and the best score of any entry for each single word.

    `batch` runs requests in the engine and returns a reply for each.
    """
    words = question.words or SparseVector((), ())
    asks = _asks(requests, question, words)
    singles = [requests.single(*pair) for pair in zip(words.indices, words.values, strict=True)]
    asked = step(question.limit)
    requested = [*(ask(asked) for ask in asks.values()), *singles]
    replies = [requests.scored(reply) for reply in (batch(requested) if requested else ())]

    def again(ask: Callable[[int], Request]) -> Callable[[int], Sequence[Scored]]:
        return lambda more: requests.scored(batch([ask(more)])[0])

    found = {
        name: best(question.limit, reply, asked, again(asks[name])) for name, reply in zip(asks, replies, strict=False)
    }
    return found_of(found, words, best_alone(replies[len(asks) :]))


def _asks(requests: Requests, question: Question, words: SparseVector) -> Mapping[str, Callable[[int], Request]]:
    """Return, under the names `dense` and `lexical`, functions that make the requests for `question`.

    The argument of each function is the number of results. A request that is not needed has no function.
    """
    asks: dict[str, Callable[[int], Request]] = {}
    vector, where = question.vector, question.where
    if question.limit <= 0 or is_never(where):
        return asks
    if vector is not None:
        asks["dense"] = lambda limit: requests.dense(vector, where, limit)
    if words:
        asks["lexical"] = lambda limit: requests.lexical(words, where, limit)
    return asks


def found_of(answers: Mapping[str, Sequence[Scored]], words: SparseVector, alone: Sequence[float | None]) -> Found:
    """Combine the results by vector (`dense`) and by words (`lexical`) in `answers` into one result.

    `alone` has the best score of any entry for each single word, or None. Their sum is the upper bound for scores by
    words, unless rounding in the engine makes a score greater.
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
    """Return the best score in each reply; None for an empty reply."""
    return [reply[0].score if reply else None for reply in replies]


STEP = 128
"""The smallest limit of an engine request, so that smaller limits share one request and one result."""

MOST = 8192
"""A request for at least this many entries (or twice the limit of the question, if that is more) is not repeated.

If even more entries have equal scores, the engine chooses among them.
"""


def step(limit: int) -> int:
    """Return the number of results to request first to get the best `limit` entries: a power of two, and at least
    `STEP`.
    """
    return max(STEP, 1 << limit.bit_length())


def best(limit: int, first: Sequence[Scored], asked: int, ask: Callable[[int], Sequence[Scored]]) -> Sequence[Scored]:
    """Return the best `limit` entries.

    `first` is the sorted result of a request for `asked` entries. While the last of them has the same score as entry
    `limit`, `ask` repeats the request with a larger number.
    """
    found = first
    while limit and len(found) >= asked and asked < max(MOST, limit * 2) and found[limit - 1].score == found[-1].score:
        asked *= 4
        found = ask(asked)
    return found[:limit]
