"""Which names a collection may have, and what is said of one that is not there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citekit.domain.errors import CollectionMissing, ModelMismatch, RequestRefused
from citekit.domain.library.vectors import EmbedderIdentity

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z", re.ASCII)


def checked(name: str) -> str:
    """The name as it is. Raises `RequestRefused` for one that could escape its folder or its address."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise RequestRefused(
            f"{str(name)[:100]!r} cannot name a collection: use 1 to 64 letters, digits, '_', '-' or '.', "
            "beginning with a letter or digit."
        )
    return name


def missing(name: str, existing: Sequence[str], place: str) -> CollectionMissing:
    """The error for a collection that is not there; it says which there are."""
    there = f"there are: {', '.join(existing)}" if existing else "there is none yet"
    return CollectionMissing(f"No collection '{name}' in {place}; {there}. Ingesting a book into '{name}' makes it.")


def mismatch(name: str, stored: EmbedderIdentity, wanted: EmbedderIdentity) -> ModelMismatch:
    """The error for a collection that another model's vectors fill."""
    return ModelMismatch(
        f"Collection '{name}' holds vectors of {stored}, but the embedder in use is {wanted}. "
        "Use that embedder, choose another collection, or rebuild this one (citekit library rebuild)."
    )
