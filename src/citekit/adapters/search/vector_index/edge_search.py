"""Runs a query on an open collection. All its requests are sent to the engine in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from citekit.adapters.libraries.qdrant_edge import engine
from citekit.adapters.search.vector_index import edge_points as points
from citekit.adapters.search.vector_index import ranking
from citekit.adapters.search.vector_index.entry_rules import is_never
from citekit.adapters.search.vector_index.ranking import best_alone, found_of
from citekit.domain.library.vectors import Found, Question, Scored, SparseVector

Ask = Callable[[int], Any]


def answer(shard: Any, question: Question) -> Found:
    """Return the best entries by vector and by words, and the best score of any entry for each single word."""
    words = question.words or SparseVector((), ())
    asks = _asks(question, words)
    singles = [points.single(*pair) for pair in zip(words.indices, words.values, strict=True)]
    asked = ranking.step(question.limit)
    replies = _batch(shard, [*(ask(asked) for ask in asks.values()), *singles])
    found = {
        name: _best(shard, asks[name], question.limit, asked, reply) for name, reply in zip(asks, replies, strict=False)
    }
    return found_of(found, words, best_alone([points.scored(reply) for reply in replies[len(asks) :]]))


def _asks(question: Question, words: SparseVector) -> dict[str, Ask]:
    """Return functions that create the engine's requests for `question`, by name: `dense` and `lexical`.

    Each function takes the number of results as its argument.
    """
    asks: dict[str, Ask] = {}
    if question.limit <= 0 or is_never(question.where):
        return asks
    vector = question.vector
    if vector is not None:
        asks["dense"] = lambda limit: points.dense(vector, question.where, limit)
    if words:
        asks["lexical"] = lambda limit: points.lexical(words, question.where, limit)
    return asks


def _best(shard: Any, ask: Ask, limit: int, asked: int, reply: Sequence[Any]) -> Sequence[Scored]:
    return ranking.best(limit, points.scored(reply), asked, lambda more: points.scored(_batch(shard, [ask(more)])[0]))


def _batch(shard: Any, requests: Sequence[Any]) -> Sequence[Sequence[Any]]:
    if not requests:
        return []
    replies: Sequence[Sequence[Any]] = shard.query_batch(engine().QueryBatchRequest(list(requests)))
    return replies
