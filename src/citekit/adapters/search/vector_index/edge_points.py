"""Converts entries, conditions, and queries to the types of the embedded engine, and the engine's results back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from citekit.adapters.libraries.qdrant_edge import DENSE, WORDS, engine
from citekit.adapters.search.vector_index.entry_rules import CODE, GROUP, json_path, point_id
from citekit.adapters.system.home_seal import HomeSeal, unhex
from citekit.domain.library.vectors import Entry, Scored, SparseVector, Vector, Where

OVERSAMPLING = 2.0
"""Number of candidates per result. They are found with the int8 copies and scored again with the full vectors."""


def point(entry: Entry, seal: HomeSeal) -> Any:
    """Return the engine's point for an entry, with an authentication code of this CiteKit home.

    The entry must have been accepted by `entry_rules.sound`.
    """
    q = engine()
    vectors: dict[str, object] = {}
    if entry.vector is not None:
        vectors[DENSE] = [float(value) for value in entry.vector]
    if entry.words:
        vectors[WORDS] = sparse(entry.words)
    code = seal.code(*_code_parts(point_id(entry.id), entry.group, entry.payload)).hex()
    return q.Point(point_id(entry.id), vectors, {**entry.payload, GROUP: entry.group, CODE: code})


def sparse(words: SparseVector) -> Any:
    """Return the weighted words of an entry or a query as a sparse vector of the engine."""
    return engine().SparseVector(list(words.indices), list(words.values))


def entry(record: Any, seal: HomeSeal) -> Entry:
    """Return the entry for a point of the engine, without vectors and words.

    It is `foreign` if the point has no valid authentication code of this CiteKit home.
    """
    payload = dict(record.payload or {})
    group, code = str(payload.pop(GROUP, "")), unhex(payload.pop(CODE, None))
    ours = seal.holds(code, *_code_parts(str(record.id), group, payload))
    return Entry(str(record.id), group, payload=payload, foreign=not ours)


def _code_parts(identifier: str, group: str, payload: Mapping[str, object]) -> tuple[bytes, ...]:
    plain = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    return b"entry", identifier.encode(), group.encode("utf-8", "surrogatepass"), plain.encode()


def condition(where: Where | None) -> Any:
    """Return the engine's filter for a condition; None if there is no condition."""
    if not where:
        return None
    q = engine()
    return q.Filter(must=[_field(name, values) for name, values in where.fields.items()])


def _field(name: str, values: Sequence[str | int]) -> Any:
    """Return the engine's filter for fields called `name` that have any of `values`.

    The engine distinguishes strings from integers, so each type has its own condition.
    """
    q = engine()
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    kinds = [kind for kind in (texts, numbers) if kind]
    return q.Filter(should=[q.FieldCondition(json_path(name), match=q.MatchAny(kind)) for kind in kinds])


def dense(vector: Vector, where: Where, limit: int) -> Any:
    """Return the engine's request for the `limit` entries whose vectors are nearest to `vector`."""
    q = engine()
    params = q.SearchParams(quantization=q.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING))
    query = q.Query.Nearest([float(value) for value in vector], using=DENSE)
    return q.QueryRequest(limit, query=query, filter=condition(where), with_payload=[GROUP], params=params)


def lexical(words: SparseVector, where: Where, limit: int) -> Any:
    """Return the engine's request for the best `limit` entries by their words."""
    q = engine()
    query = q.Query.Nearest(sparse(words), using=WORDS)
    return q.QueryRequest(limit, query=query, filter=condition(where), with_payload=[GROUP])


def single(word: int, weight: float) -> Any:
    """Return the engine's request for the best score that any entry has for a single word."""
    q = engine()
    query = q.Query.Nearest(q.SparseVector([word], [weight]), using=WORDS)
    return q.QueryRequest(1, query=query, with_payload=False)


def scored(points: Sequence[Any]) -> list[Scored]:
    """Return the engine's results, best first. Results with equal scores are sorted by ID."""
    found = [Scored(str(hit.id), _group(hit.payload), float(hit.score)) for hit in points]
    return sorted(found, key=lambda hit: (-hit.score, hit.id))


def _group(payload: Mapping[str, object] | None) -> str:
    return str((payload or {}).get(GROUP, ""))
