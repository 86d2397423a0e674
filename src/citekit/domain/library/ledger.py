"""Defines the entries of the ledger, which records what happened to each ingested book."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from citekit.domain.digest import Digest


class Deed(StrEnum):
    """What happened to a book in a collection: its ingest started, finished, or failed, or the book was removed."""

    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    REMOVED = "removed"


@frozen(kw_only=True)
class LedgerEntry:
    """A ledger record of one event in the life of a book.

    `at` is a timezone-aware time. `digest` is the digest of the book's file and identifies the book. `model` is the
    embedder's identity as text, and `parameters` are the chunking parameters. `counts` has the numbers of `chapters`,
    `chunks`, `passages`, `words`, and `characters`. `seconds` has the duration of each stage.
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
