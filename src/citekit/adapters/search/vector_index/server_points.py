"""Converts entries, conditions, queries, and collections to the types of the Qdrant client, and the results back."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from citekit.adapters.libraries.qdrant_client import QdrantSettings
from citekit.adapters.search.vector_index.entry_rules import GROUP, INTEGERS, KEYWORDS, json_path, point_id
from citekit.domain.library.vectors import EmbedderIdentity, Entry, Scored, SparseVector, Vector, Where

DENSE, WORDS = "dense", "words"
OVERSAMPLING = 2.0
EF = 256
"""Minimum number of neighbors that the server's graph search visits. A higher number is slower but improves recall."""


def models() -> Any:
    """Return the module with the types of the Qdrant client."""
    return importlib.import_module("qdrant_client.models")


def layout(model: EmbedderIdentity, settings: QdrantSettings) -> dict[str, object]:
    """Return the arguments of `create_collection` for a collection with vectors of `model`."""
    m = models()
    int8 = m.ScalarQuantizationConfig(type=m.ScalarType.INT8, always_ram=True)
    index = m.SparseIndexParams(on_disk=settings.on_disk)
    return {
        "vectors_config": {
            DENSE: m.VectorParams(size=model.dimensions, distance=m.Distance.DOT, on_disk=settings.on_disk)
        },
        "sparse_vectors_config": {WORDS: m.SparseVectorParams(modifier=m.Modifier.IDF, index=index)},
        "quantization_config": m.ScalarQuantization(scalar=int8) if settings.quantized else None,
        "shard_number": settings.shards,
        "replication_factor": settings.replicas,
        "on_disk_payload": True,
    }


def field_indexes() -> list[tuple[str, Any]]:
    """Return (name, type) of each payload field that filters use."""
    schema = models().PayloadSchemaType
    return [*((name, schema.KEYWORD) for name in KEYWORDS), *((name, schema.INTEGER) for name in INTEGERS)]


def point(entry: Entry) -> Any:
    """Return the client's point for an entry, which must have been accepted by `entry_rules.sound`."""
    vectors: dict[str, object] = {}
    if entry.vector is not None:
        vectors[DENSE] = [float(value) for value in entry.vector]
    if entry.words:
        vectors[WORDS] = sparse(entry.words)
    return models().PointStruct(id=point_id(entry.id), vector=vectors, payload={**entry.payload, GROUP: entry.group})


def sparse(words: SparseVector) -> Any:
    """Return the weighted words of an entry or a query as a sparse vector of the client."""
    return models().SparseVector(indices=list(words.indices), values=list(words.values))


def entry(record: Any) -> Entry:
    """Return the entry for a point of the server, without vectors and words."""
    payload = dict(record.payload or {})
    group = payload.pop(GROUP, "")
    return Entry(str(record.id), str(group), payload=payload)


def condition(where: Where | None) -> Any:
    """Return the client's filter for a condition; None if there is no condition."""
    if not where:
        return None
    return models().Filter(must=[_field(name, values) for name, values in where.fields.items()])


def _field(name: str, values: Sequence[str | int]) -> Any:
    """Return the client's filter for fields called `name` that have any of `values`.

    The server distinguishes strings from integers, so each type has its own condition.
    """
    m = models()
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    kinds = [kind for kind in (texts, numbers) if kind]
    return m.Filter(should=[m.FieldCondition(key=json_path(name), match=m.MatchAny(any=kind)) for kind in kinds])


def dense(vector: Vector, where: Where, limit: int) -> Any:
    """Return the client's request for the `limit` entries whose vectors are nearest to `vector`."""
    m = models()
    rescored = m.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING)
    params = m.SearchParams(hnsw_ef=max(EF, limit), quantization=rescored)
    nearest = m.NearestQuery(nearest=[float(value) for value in vector])
    return m.QueryRequest(
        query=nearest, using=DENSE, filter=condition(where), limit=limit, params=params, with_payload=[GROUP]
    )


def lexical(words: SparseVector, where: Where, limit: int) -> Any:
    """Return the client's request for the best `limit` entries by their words."""
    m = models()
    nearest = m.NearestQuery(nearest=sparse(words))
    return m.QueryRequest(query=nearest, using=WORDS, filter=condition(where), limit=limit, with_payload=[GROUP])


def single(word: int, weight: float) -> Any:
    """Return the client's request for the best score that any entry has for a single word."""
    m = models()
    nearest = m.NearestQuery(nearest=m.SparseVector(indices=[word], values=[weight]))
    return m.QueryRequest(query=nearest, using=WORDS, limit=1, with_payload=False)


def scored(points: Sequence[Any]) -> list[Scored]:
    """Return the server's results, best first. Results with equal scores are sorted by ID."""
    found = [Scored(str(hit.id), str((hit.payload or {}).get(GROUP, "")), float(hit.score)) for hit in points]
    return sorted(found, key=lambda hit: (-hit.score, hit.id))
