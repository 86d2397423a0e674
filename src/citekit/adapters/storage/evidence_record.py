"""What the index remembers about one piece of evidence."""

from __future__ import annotations

import os
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from attrs import evolve, frozen

from citekit.adapters.system.clock import boot_id
from citekit.adapters.system.file_state import FINE, FileState
from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence
from citekit.wire import receipts

WINDOW = FINE
"""Seconds within which the file systems that objects lie on may give two changes the same time."""


@frozen(kw_only=True)
class EvidenceRecord:
    """An object's digest, and what its file looked like when its bytes were last known to have that digest.

    That was at `seen`; `since` is when it was first known to look so. Both are seconds since the epoch. `boot` is the run
    of the machine in which the bytes were written, where nobody waited until they were on the disk; empty once they are
    known to be there.
    """

    digest: Digest
    state: FileState
    since: float
    seen: float
    boot: str
    extraction: Extraction
    created: datetime

    @property
    def size(self) -> int:
        """Bytes."""
        return self.state.size

    @classmethod
    def of(cls, digest: Digest, status: os.stat_result, extraction: Extraction, created: datetime, seen: float) -> Self:
        """The record of an object that was made at `created` in this run, and looked like `status` at `seen`."""
        state, boot = FileState.of(status), boot_id() or ""
        return cls(digest=digest, state=state, since=seen, seen=seen, boot=boot, extraction=extraction, created=created)

    def matches(self, status: os.stat_result) -> bool:
        """Whether the file looks as it did, and looked so long enough for another change to show.

        After another start of the machine that is not enough for bytes that may not have reached the disk.
        """
        return self._looks_like(status) and self._is_settled and self.boot in ("", boot_id())

    @cached_property
    def _is_settled(self) -> bool:
        return self.state.is_settled(self.seen, WINDOW, self.since)

    def _looks_like(self, status: os.stat_result) -> bool:
        """Whether `FileState.of(status)` is its state, at a fraction of the price."""
        state = self.state
        return (
            status.st_ctime_ns == state.ctime_ns
            and status.st_mtime_ns == state.mtime_ns
            and status.st_size == state.size
            and status.st_ino == state.inode
            and status.st_dev == state.device
        )

    def again(self, status: os.stat_result, seen: float) -> Self:
        """The record after the bytes were read again, found to be right, and the file looked so before, at `seen`.

        Bytes that are right in another run of the machine than they were written in have come from the disk.
        """
        state = FileState.of(status)
        boot = self.boot if self.boot == boot_id() else ""
        return evolve(self, state=state, since=self.since if state == self.state else seen, seen=seen, boot=boot)

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
        """Plain data for the index, all but the digest."""
        return {
            "state": [*self.state],
            "since": self.since,
            "seen": self.seen,
            "boot": self.boot,
            "extraction": receipts.extraction_to_plain(self.extraction),
            "created": self.created.isoformat(),
        }

    @classmethod
    def from_plain(cls, digest: Digest, plain: object) -> Self | None:
        """The record that `to_plain` wrote, or None where the data is anything else."""
        match plain:
            case {
                "state": [int(), int(), int(), int(), int()] as state,
                "since": float(since),
                "seen": float(seen),
                "boot": str(boot),
                "created": str(created),
                "extraction": extraction,
            }:
                try:
                    return cls(
                        digest=digest,
                        state=FileState(*state),
                        since=since,
                        seen=seen,
                        boot=boot,
                        extraction=receipts.extraction_from_plain(extraction),
                        created=datetime.fromisoformat(created),
                    )
                except (ValueError, FaultyAnswer):
                    return None
        return None
