"""Entries of the ledger of ingested books."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from citekit.domain.digest import Digest


class Deed(StrEnum):
    """What happened to a book in a collection."""

    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    REMOVED = "removed"


@frozen(kw_only=True)
class LedgerEntry:
    """An entry of the ledger. `at` is timezone-aware.

    A book is identified by the `digest` of its file. `model` is the text of the embedder's identity. `parameters` are
    those of chunking. `counts` has the numbers of `chapters`, `chunks`, `passages`, `words`, and `characters`.
    `seconds` are by stage.
    """

    deed: Deed
    at: datetime
    collection: str
    digest: Digest
    resource_id: str
    path: str
    size: int
    format: str
    title: str
    author: str
    language: str
    book_id: int | None = None
    model: str = ""
    parameters: Mapping[str, Any] = field(factory=dict)
    counts: Mapping[str, int] = field(factory=dict)
    seconds: Mapping[str, float] = field(factory=dict)
    error: str | None = None
