"""The embedded vector engine `qdrant-edge-py`: imported on first use, its exceptions sorted by one table.

The engine raises bare `Exception` with a sentence, and `pyo3_runtime.PanicException`, which is no `Exception`, where its
own code breaks. So the table goes by words.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from attrs import define, frozen

from citekit.domain.errors import CiteKitError, DriverMissing

if TYPE_CHECKING:
    from types import ModuleType

DENSE = "dense"
WORDS = "words"


SEGMENTS = 8
"""The maximum number of segments: with fewer, every optimization rewrites the whole collection."""

INDEXING_KB = 2_000
"""Kilobytes of vectors from which an optimisation orders a segment."""


class Kind(StrEnum):
    """What sort of trouble an exception of the engine means."""

    HELD = "held"
    FULL = "full"
    FORBIDDEN = "forbidden"
    REQUEST = "request"
    DAMAGED = "damaged"


WORDINGS: dict[str, Kind] = {
    "WouldBlock": Kind.HELD,
    "No space left": Kind.FULL,
    "StorageFull": Kind.FULL,
    "OutOfDiskSpace": Kind.FULL,
    "out of disk": Kind.FULL,
    "not enough space": Kind.FULL,
    "File too large": Kind.FULL,
    "FileTooLarge": Kind.FULL,
    "quota": Kind.FULL,
    "Cannot allocate memory": Kind.FULL,
    "Permission denied": Kind.FORBIDDEN,
    "PermissionDenied": Kind.FORBIDDEN,
    "Read-only file system": Kind.FORBIDDEN,
    "ReadOnlyFilesystem": Kind.FORBIDDEN,
    "Too many open files": Kind.FORBIDDEN,
    "Vector dimension error": Kind.REQUEST,
    "Not existing vector name": Kind.REQUEST,
}
"""The first of these that stands in an exception's text says what it means; without any, something is damaged."""


@define
class Trouble(Exception):  # noqa: N818  (an exception of the engine, put in words)
    """An exception of the engine, sorted."""

    kind: Kind
    words: str


@frozen
class EdgeSettings:
    """How a shard is made: fixed when a collection is created, and written beside it.

    `quantized` searches int8 copies of the vectors and rescores the best of them; `on_disk` leaves vectors and words on the
    disk instead of in memory.
    """

    quantized: bool = True
    on_disk: bool = False


def engine() -> ModuleType:
    """The package. Raises `DriverMissing`."""
    try:
        return importlib.import_module("qdrant_edge")
    except ImportError as error:
        raise DriverMissing("The embedded vector index", "library") from error


@contextmanager
def troubles() -> Iterator[None]:
    """Work on a shard whose exceptions, panics too, become `Trouble`."""
    try:
        yield
    except BaseException as error:
        kind = kind_of(error)
        if kind is None:
            raise
        raise Trouble(kind, " ".join(str(error).split())[:300]) from error


def kind_of(error: BaseException) -> Kind | None:
    """The meaning of an exception from the engine; None for other exceptions."""
    if isinstance(error, CiteKitError):
        return None
    if type(error) is Exception or type(error).__name__ == "PanicException":
        return next((kind for words, kind in WORDINGS.items() if words.lower() in str(error).lower()), Kind.DAMAGED)
    if isinstance(error, ValueError | TypeError | OverflowError):
        return Kind.REQUEST
    if isinstance(error, OSError):
        return Kind.FORBIDDEN
    return None


def config(dimensions: int, settings: EdgeSettings) -> Any:
    """One named dense vector and one of words, whose rarity the engine counts; no graph: scanning int8 is fast enough."""
    q = engine()
    memory = q.Memory.Cold if settings.on_disk else q.Memory.Cached
    quantization = q.ScalarQuantizationConfig(q.ScalarType.Int8, memory=memory) if settings.quantized else None
    return q.EdgeConfig(
        vectors={DENSE: q.EdgeVectorParams(dimensions, q.Distance.Dot, memory=memory)},
        sparse_vectors={WORDS: q.EdgeSparseVectorParams(modifier=q.Modifier.Idf, memory=memory)},
        hnsw_config=q.HnswIndexConfig(0, 100, 10, payload_m=0),
        quantization_config=quantization,
        optimizers=q.EdgeOptimizersConfig(default_segment_number=SEGMENTS, indexing_threshold=INDEXING_KB),
    )


def create(
    path: str, dimensions: int, settings: EdgeSettings, keywords: Sequence[str], integers: Sequence[str]
) -> None:
    """Make an empty shard at `path`, with an index for each of the fields. Raises `Trouble`."""
    q = engine()
    with troubles():
        shard = q.EdgeShard.create(path, config(dimensions, settings))
        for schema, names in ((q.PayloadSchemaType.Keyword, keywords), (q.PayloadSchemaType.Integer, integers)):
            for name in names:
                shard.update(q.UpdateOperation.create_field_index(name, schema))
        shard.flush()
        shard.close()
