"""What the index remembers about one piece of evidence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from attrs import astuple, evolve, frozen

from citekit.adapters.drivers.file_state import FileState
from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence
from citekit.wire import receipts

WINDOW = 0.05
"""Seconds within which the file systems that objects lie on may give two changes the same time."""


@frozen(kw_only=True)
class EvidenceRecord:
    """An object's digest, and what its file looked like when its bytes were last known to have that digest.

    That was at `seen`; `since` is when it was first known to look so. Both are seconds since the epoch.
    """

    digest: Digest
    state: FileState
    since: float
    seen: float
    extraction: Extraction
    created: datetime

    @property
    def size(self) -> int:
        """Bytes."""
        return self.state.size

    @classmethod
    def of(cls, digest: Digest, status: os.stat_result, extraction: Extraction, created: datetime, seen: float) -> Self:
        """The record of an object that was made at `created`, and looked like `status` at `seen`."""
        state = FileState.of(status)
        return cls(digest=digest, state=state, since=seen, seen=seen, extraction=extraction, created=created)

    def matches(self, status: os.stat_result) -> bool:
        """Whether the file looks as it did, and looked so long enough for another change to show."""
        return FileState.of(status) == self.state and self.state.is_settled(self.seen, WINDOW, self.since)

    def again(self, status: os.stat_result, seen: float) -> Self:
        """The record after the bytes were read again, found to be right, and the file looked so before, at `seen`."""
        state = FileState.of(status)
        return evolve(self, state=state, since=self.since if state == self.state else seen, seen=seen)

    def stored(self, key: EvidenceKey, path: Path, *, made_now: bool) -> StoredEvidence:
        """The evidence it describes."""
        return StoredEvidence(
            key=key,
            path=path,
            digest=self.digest,
            size=self.size,
            extraction=self.extraction,
            created=self.created,
            made_now=made_now,
        )

    def to_plain(self) -> dict[str, Any]:
        """Plain data for the index."""
        return {
            "digest": self.digest.hex,
            "state": astuple(self.state),
            "since": self.since,
            "seen": self.seen,
            "extraction": receipts.extraction_to_plain(self.extraction),
            "created": self.created.isoformat(),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any] | None) -> Self | None:
        """The record that `to_plain` wrote, or None where the data is anything else."""
        match plain:
            case {
                "digest": str(digest),
                "state": [int(), int(), int(), int(), int()] as state,
                "since": float(since),
                "seen": float(seen),
                "created": str(created),
                "extraction": extraction,
            }:
                try:
                    return cls(
                        digest=Digest(digest),
                        state=FileState(*state),
                        since=since,
                        seen=seen,
                        extraction=receipts.extraction_from_plain(extraction),
                        created=datetime.fromisoformat(created),
                    )
                except (ValueError, FaultyAnswer):
                    return None
        return None
