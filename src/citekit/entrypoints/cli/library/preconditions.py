"""Checks the preconditions for an ingest before the first book.

Without this check, each of many books would fail with the same error.
"""

from __future__ import annotations

from collections.abc import Mapping

from citekit.container.library import Alexandria
from citekit.entrypoints.library.ingest_report import collection_of, params_of


def to_ingest(library: Alexandria, wanted: Mapping[str, object]) -> None:
    """Raise the error that the ingest of every book would raise.

    Causes are invalid chunking parameters, an invalid collection, an unavailable index, and an unavailable embedder.
    """
    params_of(wanted)
    collection = collection_of(library, wanted)
    there = library.index.facts(collection)
    _ = library.splitter.starts("One. Two.")
    _ = library.similarity.identity
    model = library.embedder.identity
    if there is not None:
        library.index.create(collection, model)  # raises if the collection belongs to another model, else does nothing
