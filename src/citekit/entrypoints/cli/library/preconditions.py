"""Checks an ingest beforehand, so that many books do not fail with the same error."""

from __future__ import annotations

from collections.abc import Mapping

from citekit.container.library import Alexandria
from citekit.entrypoints.library.ingest_report import collection_of, params_of


def to_ingest(library: Alexandria, wanted: Mapping[str, object]) -> None:
    """Raise the error that would stop the ingest of each book.

    Examples are an unavailable index and a collection with another embedder.
    """
    params_of(wanted)
    collection = collection_of(library, wanted)
    there = library.index.facts(collection)
    _ = library.splitter.starts("One. Two.")
    _ = library.similarity.identity
    model = library.embedder.identity
    if there is not None:
        library.index.create(collection, model)  # only raises an error if the embedder is another one
