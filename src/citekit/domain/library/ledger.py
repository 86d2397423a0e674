"""Defines the entries of the ledger, which records what happened to each ingested book."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from citekit.domain.digest import Digest


class Deed(StrEnum):
    """What happened to a book: its ingest started, finished, or failed, or the book was removed."""

    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    REMOVED = "removed"


@frozen(kw_only=True)
class LedgerEntry:
    """A record of one event in the ledger.

    `at` is a timezone-aware time. `digest` is the digest of the book's file and identifies the book. `model` is the
    embedder's identity as text, and `parameters` are the chunking parameters. `counts` has the numbers of `chapters`,
    `chunks`, `passages`, `words`, and `characters`. `seconds` has the duration of each stage.

    A book that is ingested again is stored next to the earlier copy. `copy` is 0 or 1: the copy that is used.
    `replacing` is True from the time when storing the other copy starts until it is complete. `error` is the reason why
    an ingest failed or why a finished book could not be replaced.
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
    copy: int = 0
    replacing: bool = False

    @property
    def index_key(self) -> str:
        """The name of the used copy in the index."""
        return index_keys(self.digest)[self.copy]

    @property
    def hidden_keys(self) -> tuple[str, ...]:
        """The names in the index that searches ignore: the unused copy, or both copies unless the deed is FINISHED."""
        return tuple(key for key in index_keys(self.digest) if self.deed is not Deed.FINISHED or key != self.index_key)


def index_keys(digest: Digest) -> tuple[str, str]:
    """Return the names of the two copies of a book in the index."""
    return digest.hex, f"{digest.hex}.1"
