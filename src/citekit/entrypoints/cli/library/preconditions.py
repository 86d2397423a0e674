"""What must hold before the first of many books is read: otherwise each would fail alike, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.container.library import Alexandria
from citekit.entrypoints.library.ingest_report import collection_of, params_of


def to_ingest(library: Alexandria, wanted: Mapping[str, Any]) -> None:
    """Raises what any ingest with `wanted` would: the parameters, the collection's name, the index, the embedder."""
    params_of(wanted)
    collection = collection_of(library, wanted)
    there = library.index.facts(collection)
    _ = library.splitter.starts("One. Two.")
    _ = library.similarity.identity
    model = library.embedder.identity
    if there is not None:
        library.index.create(collection, model)  # raises where it is another model's, else it does nothing
