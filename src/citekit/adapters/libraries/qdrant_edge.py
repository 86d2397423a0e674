"""Adapts the embedded vector engine `qdrant-edge-py`, which is imported on first use.

The engine raises plain `Exception` objects, or for bugs `pyo3_runtime.PanicException`, which is not a subclass of
`Exception`. For these reasons, exceptions are classified by their messages.
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
"""Maximum number of segments. With fewer, every optimization rewrites the whole collection."""

INDEXING_KB = 2_000
"""The size of the vectors in a segment, in kilobytes, at which the optimizer indexes it."""


class Kind(StrEnum):
    """The kinds of failures that engine exceptions represent."""

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
"""Kinds of failures by a phrase in the message; otherwise, the kind is `DAMAGED`."""


@define
class Trouble(Exception):  # noqa: N818  (wraps exceptions of the engine)
    """An exception of the engine with its kind of failure."""

    kind: Kind
    words: str


@frozen
class EdgeSettings:
    """The settings of a shard (the index files of one collection), fixed when the collection is created.

    `quantized` searches int8 copies of the vectors and computes exact scores for the best matches. `on_disk` leaves
    vectors and words on disk.
    """

    quantized: bool = True
    on_disk: bool = False


def engine() -> ModuleType:
    """Import the engine and return its module. Raise `DriverMissing` if it is not installed."""
    try:
        return importlib.import_module("qdrant_edge")
    except ImportError as error:
        raise DriverMissing("Using the embedded vector index", "library") from error


@contextmanager
def troubles() -> Iterator[None]:
    """Convert the engine's exceptions inside the block, including panics, to `Trouble`."""
    try:
        yield
    except BaseException as error:
        kind = kind_of(error)
        if kind is None:
            raise
        raise Trouble(kind, " ".join(str(error).split())[:300]) from error


def kind_of(error: BaseException) -> Kind | None:
    """Return the kind of failure of an exception from the engine; None for other exceptions."""
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
    """Return the engine's configuration: one dense vector and one sparse vector of words per point.

    There is no HNSW graph, because scanning int8 vectors is fast enough. There is no write-ahead log, which would store
    up to 64 MB of entries twice: changes are durable once the shard is flushed. Vectors have two bytes per number, so
    cosines are accurate to 0.001.
    """
    q = engine()
    memory = q.Memory.Cold if settings.on_disk else q.Memory.Cached
    quantization = q.ScalarQuantizationConfig(q.ScalarType.Int8, memory=memory) if settings.quantized else None
    return q.EdgeConfig(
        vectors={
            DENSE: q.EdgeVectorParams(
                dimensions, q.Distance.Dot, datatype=q.VectorStorageDatatype.Float16, memory=memory
            )
        },
        sparse_vectors={WORDS: q.EdgeSparseVectorParams(modifier=q.Modifier.Idf, memory=memory)},
        hnsw_config=q.HnswIndexConfig(0, 100, 10, payload_m=0),
        quantization_config=quantization,
        optimizers=q.EdgeOptimizersConfig(default_segment_number=SEGMENTS, indexing_threshold=INDEXING_KB),
        wal_enabled=False,
    )


def create(
    path: str, dimensions: int, settings: EdgeSettings, keywords: Sequence[str], integers: Sequence[str]
) -> None:
    """Create an empty shard at `path` with a payload index for each field in `keywords` and `integers`.

    Raise `Trouble` if the engine fails.
    """
    q = engine()
    with troubles():
        shard = q.EdgeShard.create(path, config(dimensions, settings))
        for schema, names in ((q.PayloadSchemaType.Keyword, keywords), (q.PayloadSchemaType.Integer, integers)):
            for name in names:
                shard.update(q.UpdateOperation.create_field_index(name, schema))
        shard.flush()
        shard.close()
