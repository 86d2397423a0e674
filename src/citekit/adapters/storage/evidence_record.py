"""The index record of one piece of evidence."""

from __future__ import annotations

import os
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Self

from attrs import evolve, frozen

from citekit.adapters.system.clock import boot_id
from citekit.adapters.system.file_state import FINE, FileState
from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence
from citekit.wire import receipts

WINDOW = FINE
"""Seconds within which the file system of the objects may give two changes the same timestamp."""


@frozen(kw_only=True)
class EvidenceRecord:
    """An object's digest, and the state of its file when its bytes were last verified.

    `seen` is the time of that check; `since` is when the file was first seen in this state (both in seconds since the
    epoch). `boot` is the boot ID under which the bytes were written without a flush, or "" once they are known to be on
    the disk.
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
        """Size of the object in bytes."""
        return self.state.size

    @classmethod
    def of(cls, digest: Digest, status: os.stat_result, extraction: Extraction, created: datetime, seen: float) -> Self:
        """Return the record of an object created at `created` during this boot, with the state `status` at `seen`."""
        state, boot = FileState.of(status), boot_id() or ""
        return cls(digest=digest, state=state, since=seen, seen=seen, boot=boot, extraction=extraction, created=created)

    def matches(self, status: os.stat_result) -> bool:
        """Return whether the file is unchanged, and a further change would be visible in its timestamps.

        Return False after a reboot if the bytes were not flushed to the disk.
        """
        return self._looks_like(status) and self._is_settled and self.boot in ("", boot_id())

    @cached_property
    def _is_settled(self) -> bool:
        return self.state.is_settled(self.seen, WINDOW, self.since)

    def _looks_like(self, status: os.stat_result) -> bool:
        """Return whether the state equals `FileState.of(status)`, computed at a fraction of the cost."""
        state = self.state
        return (
            status.st_ctime_ns == state.ctime_ns
            and status.st_mtime_ns == state.mtime_ns
            and status.st_size == state.size
            and status.st_ino == state.inode
            and status.st_dev == state.device
        )

    def again(self, status: os.stat_result, seen: float) -> Self:
        """Return the record after the bytes were verified again; `seen` is when the file had the state `status`.

        Bytes that are correct after a reboot are on the disk.
        """
        state = FileState.of(status)
        boot = self.boot if self.boot == boot_id() else ""
        return evolve(self, state=state, since=self.since if state == self.state else seen, seen=seen, boot=boot)

    def stored(self, key: EvidenceKey, path: Path, *, made_now: bool) -> StoredEvidence:
        """Return the evidence that the record describes."""
        return StoredEvidence(
            key=key,
            path=path,
            digest=self.digest,
            size=self.size,
            extraction=self.extraction,
            created=self.created,
            made_now=made_now,
        )

    def to_plain(self) -> dict[str, object]:
        """Return plain data for the index, without the digest."""
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
        """Return the record that `to_plain` wrote, or None if the data has another form."""
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
